"""Safe drops on texts that no threshold was chosen on: passages of the retrieval sets with one edit of known kind.

Edits that keep what a text says (`harmless`) may be dropped; those that change it (`critical`) must never be.
"""

import gzip
import json
import os
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pipelines.dedup import compare
from pipelines.dedup.settings import DedupSettings

DATA = Path(os.environ.get("SLUICE_TEST_DATA", "../shared/data")) / "retrieval"
SETS = {"zh": ("cmrc_zh.corpus", "tidb_zh.docs", "xquad_zh.corpus"), "en": ("nq_en.corpus",)}
EACH = 40
"""Pairs of one kind and language."""
SEED = int(os.environ.get("SLUICE_BENCH_SEED", "20"))
_NEGATED = {
    "zh": "是 不是;可以 不可以;能够 不能够;会 不会;需要 不需要;应 不应;有 没有",
    "en": "is is not;was was not;are are not;can cannot;has has no",
}
_TURNED = {
    "zh": "以上 以下;增加 减少;最大 最小;之前 之后;必须 可以;早 晚;东 西;父 母;男 女;万 亿;上升 下降",
    "en": "before after;more less;first last;must may;north south;east west;his her;million billion",
}
_WORD = {
    "早": "早(?=于)",
    "晚": "晚(?=于)",
    "东": "东(?=部)",
    "西": "西(?=部)",
    "父": "父(?=亲)",
    "母": "母(?=亲)",
    "男": "男(?=性)",
    "女": "女(?=性)",
    "万": r"(?<=\d)万",
    "亿": r"(?<=\d)亿",
    "有": "(?<![没只所])有",
    "是": "(?<![不可但于])是",
    "会": "(?<![不大协工])会(?=[在使被有把将])",
    "应": "(?<!不)应(?=[当由在])",
}
"""A single Chinese character counts only where it is surely a word of its own or of that meaning."""
_NUMERALS = "二三四五六七八九"
Edit = Callable[[str, random.Random, Sequence[str]], str | None]


def passages(language: str) -> Iterator[str]:
    """80 to 600 characters, as a chunk would be."""
    for name in SETS[language]:
        with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
            for row in map(json.loads, file):
                for part in re.split(r"\n\s*\n", row["text"]) if name == "tidb_zh.docs" else [row["text"]]:
                    if 80 <= len(part.strip()) <= 600:
                        yield part.strip()


def _sentences(text: str) -> list[str]:
    return re.findall(r"[^。！？；.!?;]*[。！？；.!?;]+\s*|[^。！？；.!?;]+$", text)


def _one(pattern: str, change: Callable[[re.Match[str]], str]) -> Edit:
    def edit(text: str, chance: random.Random, others: Sequence[str]) -> str | None:
        found = list(re.finditer(pattern, text))
        if not found:
            return None
        at = chance.choice(found)
        return text[: at.start()] + change(at) + text[at.end() :]

    return edit


def _number(match: re.Match[str]) -> str:
    return str(int(match.group()) + 1)


def _reflowed(text: str, chance: random.Random, others: Sequence[str]) -> str | None:
    width = chance.randrange(24, 50)
    if text.isascii() or " " in text[:60]:
        return re.sub(r"\s+", " ", text).replace(". ", ".\n")
    return "\n".join(text[at : at + width] for at in range(0, len(text), width))


def _full_width(text: str, chance: random.Random, others: Sequence[str]) -> str | None:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def _punctuation(text: str, chance: random.Random, others: Sequence[str]) -> str | None:
    return text.replace(",", "") if text.isascii() else text.translate(str.maketrans("，。：；（）“”", ',.:;()""'))


def _typo(text: str, chance: random.Random, others: Sequence[str]) -> str | None:
    """One letter of a long lower-case word lost, or one Chinese character of no number, name or negation doubled."""
    return _one(r"(?<=[a-z]{4})[a-z](?=[a-z]{2})", lambda m: "")(text, chance, ()) or _one(
        "[的了在和与为这于而对]", lambda m: m.group() * 2
    )(text, chance, ())


def _traditional(text: str, chance: random.Random, others: Sequence[str]) -> str | None:
    from opencc import OpenCC

    return str(OpenCC("s2t").convert(text))


def _inserted(text: str, chance: random.Random, others: Sequence[str]) -> str | None:
    parts, more = _sentences(text), _sentences(chance.choice(others))
    at = chance.randrange(1, len(parts)) if len(parts) > 2 else 0
    return "".join((*parts[:at], more[0], *parts[at:])) if at and len(more[0]) > 15 else None


def _cut(text: str, chance: random.Random, others: Sequence[str]) -> str | None:
    parts = _sentences(text)
    return "".join(parts[:-1]).strip() if len(parts) > 3 else None


def _exchanged(language: str, table: dict[str, str], both_ways: bool) -> Edit:
    """A word of the table gives way to its partner, in one place."""
    known = [one.split(" ", 1) for one in table[language].split(";")]
    known += [[new, old] for old, new in known] if both_ways else []

    def edit(text: str, chance: random.Random, others: Sequence[str]) -> str | None:
        there = [(old, new) for old, new in known if _word(old, language).search(text)]
        if not there:
            return None
        old, new = chance.choice(there)
        return _one(_word(old, language).pattern, lambda m: new)(text, chance, others)

    return edit


def _word(word: str, language: str) -> re.Pattern[str]:
    return re.compile(_WORD.get(word, word) if language == "zh" else rf"\b{word}\b")


def _subject(text: str, language: str) -> str | None:
    """What a passage says that it is about: the title line, or the word before the first 是."""
    chinese = r"《?([\w·]{2,10})》?(?:（[^）]*）)?是(?!否)"
    found = re.match(chinese if language == "zh" else r"([^\n]{4,40})\n", text)
    return found.group(1) if found else None


def _renamed(language: str) -> Edit:
    def edit(text: str, chance: random.Random, others: Sequence[str]) -> str | None:
        name, other = _subject(text, language), _subject(chance.choice(others), language)
        return text.replace(name, other) if name and other and name != other else None

    return edit


def kinds(language: str) -> dict[str, Edit]:
    """Edits by `harmless/…` and `critical/…`."""
    found: dict[str, Edit] = {
        "harmless/punctuation": _punctuation,
        "harmless/reflow": _reflowed,
        "harmless/full_width": _full_width,
        "harmless/typo": _typo,
        "harmless/sentence_added": _inserted,
        "harmless/cut_short": _cut,
        "critical/number": _one(r"(?<![\d.,])\d{1,3}(?![\d.,年月日])", _number),
        "critical/year": _one(r"(?:19|20)\d\d", _number),
        "critical/negated": _exchanged(language, _NEGATED, both_ways=False),
        "critical/turned": _exchanged(language, _TURNED, both_ways=True),
        "critical/renamed": _renamed(language),
    }
    if language == "zh":
        found["critical/day"] = _one(r"\d{1,2}(?=[月日])", _number)
        found["critical/numeral"] = _one(
            "[二三四五六七八](?=[个十百年月日名人次条座])", lambda m: _NUMERALS[_NUMERALS.index(m.group()) + 1]
        )
        found["harmless/traditional"] = _traditional
    return found


def pairs(language: str) -> Iterator[tuple[str, str, str]]:
    """(kind, text, edited text)."""
    chance = random.Random(SEED)
    texts = list(passages(language))
    chance.shuffle(texts)
    for kind, edit in kinds(language).items():
        made = 0
        for text in texts[chance.randrange(100) :]:
            edited = edit(text, chance, texts)
            if edited and edited != text:
                yield kind, text, edited
                made += 1
            if made == EACH:
                break


def main() -> None:
    """One JSON object: per language precision and recall of drops; per kind [pairs, linked, dropped]."""
    figures: dict[str, object] = {}
    for language in SETS:
        found: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
        for kind, a, b in pairs(language):
            verdict = compare(a, b, DedupSettings())
            found[kind].append((verdict.outcome != "distinct", verdict.drop))
        drops = {kind: sum(drop for _, drop in seen) for kind, seen in found.items()}
        right = sum(count for kind, count in drops.items() if kind.startswith("harmless"))
        harmless = sum(len(seen) for kind, seen in found.items() if kind.startswith("harmless"))
        figures[language] = {
            "pairs": sum(map(len, found.values())),
            "precision": round(right / max(1, sum(drops.values())), 4),
            "recall": round(right / max(1, harmless), 4),
            "wrong_drops": sum(drops.values()) - right,
        }
        for kind, seen in found.items():
            figures[f"{language}/{kind}"] = [len(seen), sum(linked for linked, _ in seen), drops[kind]]
    print(json.dumps(figures, ensure_ascii=False))


if __name__ == "__main__":
    main()
