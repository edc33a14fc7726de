"""Real passages in which one number, date or negation is changed by rule, or nothing but their form."""

import gzip
import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.bench.contradiction.rules import Pair, chinese

EACH = 16
"""Pairs of each kind and language."""
_NUMBER = re.compile(r"(?<![\d.,A-Za-z/_-])\d{1,5}(?![\d.,A-Za-z/_-]|,\d)")
_COUNTED = re.compile(r"(?<![\d.,第A-Za-z-])\d{1,2}(?=[个名次年天人种项条]|小时)")
_DAY = re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})日")
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DATE = re.compile(rf"({_MONTHS}) (\d{{1,2}}), (\d{{4}})")
_THOUSANDS = re.compile(r"(?<![\d,])(\d{1,3}),(\d{3})(?![\d,])")
_OPPOSITE = (
    *(("不支持", "支持"), ("(?<!不)支持", "不支持"), ("可以", "不可以"), ("(?<!不)需要", "不需要"), ("必须", "不得")),
    *(("无法", "能够"), ("不是", "是"), ("没有", "有"), (r"\bis not\b", "is"), (r"\bwas (?!not)", "was not ")),
    *((r"\bis (?!not)", "is not "), (r"\bcan (?!not)", "cannot "), (r"\bhas (?!not)", "has not ")),
)
_SENTENCE = re.compile(r"(?<=[。！？])|(?<=[.!?])\s+(?=[A-Z])")
_MARKS = str.maketrans("，。（）“”：；", ',.()"":;')


def _replaced(text: str, pattern: re.Pattern[str], new: Callable[[re.Match[str]], str], chance: random.Random) -> str:
    found = list(pattern.finditer(text))
    if not found:
        return text
    match = chance.choice(found)
    return text[: match.start()] + new(match) + text[match.end() :]


def number(text: str, chance: random.Random) -> str:
    def more(match: re.Match[str]) -> str:
        value = int(match.group())
        return str(value + chance.choice((2, 3, 9) if 1900 < value < 2030 or value < 50 else (value,)))

    return _replaced(text, _NUMBER, more, chance)


def negation(text: str, chance: random.Random) -> str:
    for old, new in chance.sample(_OPPOSITE, len(_OPPOSITE)):
        if (changed := _replaced(text, re.compile(old), lambda _, new=new: new, chance)) != text:  # type: ignore[misc]
            return changed
    return text


def written_otherwise(text: str, chance: random.Random) -> str:
    for pattern, new in (
        (_DAY, lambda m: f"{m[1]}-{int(m[2]):02d}-{int(m[3]):02d}"),
        (_COUNTED, lambda m: chinese(int(m[0]))),
        (_DATE, lambda m: f"{m[2]} {m[1][:3]} {m[3]}"),
        (_THOUSANDS, lambda m: m[1] + m[2]),
    ):
        if (changed := _replaced(text, pattern, new, chance)) != text:
            return changed
    return text


def layout(text: str, _chance: random.Random) -> str:
    return "\n".join(filter(None, _SENTENCE.split(text.translate(_MARKS).replace("'", "’"))))


def shorter(text: str, chance: random.Random) -> str:
    parts = [one for one in _SENTENCE.split(text) if one.strip()]
    if len(parts) < 3:
        return text
    parts.pop(chance.randrange(len(parts)))
    return ("" if text[0] >= "\u4e00" else " ").join(parts)


KINDS = {
    "number": (number, "conflict"),
    "negation": (negation, "conflict"),
    "written otherwise": (written_otherwise, "same"),
    "layout": (layout, "same"),
    "shorter": (shorter, "update"),
}


def pairs(data: Path, chance: random.Random) -> Iterator[Pair]:
    """`data`: the folder of the retrieval corpora."""
    for name in ("cmrc_zh.corpus", "tidb_zh.docs", "nq_en.corpus"):
        with gzip.open(data / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            texts = [json.loads(line)["text"].split("\n## ")[-1].strip()[:500] for line in lines]
        chance.shuffle(texts)
        yield from _of(list(filter(lambda one: len(one) > 80, texts)), chance)


def _of(texts: list[str], chance: random.Random) -> Iterator[Pair]:
    wanted = dict.fromkeys(KINDS, EACH)
    for before, text in zip(texts[1:], texts, strict=False):
        kinds = [kind for kind, left in wanted.items() if left]
        if not kinds:
            return
        kind = chance.choice(kinds)
        change, label = KINDS[kind]
        if (changed := change(text, chance)) != text:
            wanted[kind] -= 1
            yield Pair(text, changed, label, kind)
            if wanted[kind] % 4 == 0:
                yield Pair(text, before, "different", "another passage")
