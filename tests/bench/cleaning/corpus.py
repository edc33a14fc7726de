"""A corpus of any size with known duplicates: words drawn by frequency, families of forms, copies and edits."""

import importlib.util
import random
from collections import deque
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple


class Made(NamedTuple):
    """`copy_of`: the position of the text that this one is a copy or an edit of; `family`: of a form."""

    text: str
    copy_of: int | None
    family: int | None


def corpus(size: int, seed: int = 7) -> Iterator[Made]:
    """55 % texts of their own, 30 % filled forms in families of 500, 5 % equal but for layout, 10 % edited."""
    chance = random.Random(seed)
    words, weights = _words()
    # Copies follow within the next thousands, as they do in a folder, and memory stays small.
    own: deque[tuple[int, str]] = deque(maxlen=2000)
    for at in range(size):
        draw = chance.random()
        if draw < 0.30:
            yield Made(_filled(chance, _form(at // 500, words, weights), words), None, at // 500)
        elif draw < 0.45 and own:
            source, text = chance.choice(own)
            yield Made(_laid_out(text) if draw < 0.35 else _edited(chance, text, words), source, None)
        else:
            text = "".join(_sentence(chance, words, weights) for _ in range(chance.randint(5, 14)))
            own.append((at, text))
            yield Made(text, None, None)


def _words() -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The most frequent words of jieba's dictionary (MIT), with cumulative counts."""
    spec = importlib.util.find_spec("jieba")
    assert spec is not None and spec.origin is not None
    lines = (Path(spec.origin).parent / "dict.txt").read_text("utf-8").splitlines()
    rows = sorted((line.split() for line in lines), key=lambda row: (-int(row[1]), row[0]))
    rows = [row for row in rows if row[2][0] in "nvadlj" and len(row[0]) > 1][:20000]
    total, sums = 0, []
    for row in rows:
        total += int(row[1])
        sums.append(total)
    return tuple(row[0] for row in rows), tuple(sums)


def _sentence(chance: random.Random, words: Sequence[str], weights: Sequence[int]) -> str:
    return "".join(chance.choices(words, cum_weights=weights, k=chance.randint(5, 16))) + "。"


@lru_cache(maxsize=8)
def _form(family: int, words: tuple[str, ...], weights: tuple[int, ...]) -> str:
    """A contract whose clauses the family shares; the slots are filled anew in each."""
    chance = random.Random(family)
    clauses = [_sentence(chance, words, weights)[:-1] for _ in range(6)]
    return (
        "合同编号：{code}\n甲方：{party}有限公司\n乙方：{other}有限公司\n一、"
        + "，合同总价人民币{amount}元。\n二、乙方应于{year}年{month}月{day}日前".join(clauses[:2])
        + "，验收合格后{days}个工作日内付清余款。\n三、".join(clauses[2:4])
        + "，质保期{months}个月。\n四、".join(clauses[4:])
        + "。"
    )


def _filled(chance: random.Random, form: str, words: Sequence[str]) -> str:
    return form.format(
        code=f"HT-{chance.randint(1000, 999999)}",
        party="".join(chance.choices(words, k=2)),
        other="".join(chance.choices(words, k=2)),
        amount=chance.randint(1000, 9_000_000),
        year=chance.randint(2015, 2026),
        month=chance.randint(1, 12),
        day=chance.randint(1, 28),
        days=chance.randint(3, 60),
        months=chance.randint(6, 60),
    )


def _laid_out(text: str) -> str:
    return text.replace("。", ".\n")


def _edited(chance: random.Random, text: str, words: Sequence[str]) -> str:
    """A sentence added, one taken out, or a few words replaced."""
    sentences = text.split("。")[:-1]
    at = chance.randrange(len(sentences))
    draw = chance.random()
    if draw < 0.3:
        sentences.insert(at, "".join(chance.choices(words, k=8)))
    elif draw < 0.6:
        del sentences[at]
    else:
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(sentences))
            cut = chance.randrange(max(1, len(sentences[at]) - 2))
            sentences[at] = sentences[at][:cut] + chance.choice(words) + sentences[at][cut + 2 :]
    return "。".join(sentences) + "。"
