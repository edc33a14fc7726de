"""Aligns two texts sentence by sentence, and looks for changes only where their sentences differ."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pipelines.dedup.changes import changes
from pipelines.dedup.marks import marks
from pipelines.dedup.tokens import fold, tokenise
from schemas.facts import Change

_SENTENCE = re.compile(r"[^。！？；!?;\n\r|]*[。！？；!?;\n\r|\s]+|[^。！？；!?;\n\r|]+$")
_LETTER = re.compile(r"[^\W\d_]")


class Sentence(NamedTuple):
    """A sentence, line or cell with its place in the raw text."""

    key: str
    start: int
    end: int


def sentences(text: str) -> tuple[Sentence, ...]:
    """Width, case and runs of white space are folded in the keys."""
    folded = fold(text)
    return tuple(Sentence(" ".join(m.group().lower().split()), *m.span()) for m in _SENTENCE.finditer(folded))


class Difference(NamedTuple):
    """The changes, and whether numbers, negations and modal words agree in what both texts say."""

    changes: tuple[Change, ...]
    agree: bool


def difference(a: str, b: str, ours: Sequence[Sentence], theirs: Sequence[Sentence]) -> Difference:
    """What differs between the raw texts `a` and `b`."""
    found: list[Change] = []
    agree = True
    for i, j, k, m in _blocks(ours, theirs):
        at_a, at_b = _span(ours, i, j), _span(theirs, k, m)
        if (i == j or k == m) and _is_text(a[slice(*at_a)] + b[slice(*at_b)], i in (0, len(ours)) or j == len(ours)):
            found.append(
                Change.model_construct(kind="text", a_start=at_a[0], a_end=at_a[1], b_start=at_b[0], b_end=at_b[1])
            )
            continue
        left, right = a[slice(*at_a)], b[slice(*at_b)]
        inside, added = changes(tokenise(left), tokenise(right))
        agree = agree and _marks_agree(left, right, added)
        found += [_shifted(one, at_a[0], at_b[0]) for one in inside]
    return Difference(tuple(found), agree)


def _blocks(ours: Sequence[Sentence], theirs: Sequence[Sentence]) -> list[tuple[int, int, int, int]]:
    """Runs of sentences `i:j` and `k:m` that differ; runs that touch are one."""
    from rapidfuzz.distance import Levenshtein

    blocks: list[tuple[int, int, int, int]] = []
    for op in Levenshtein.opcodes([one.key for one in ours], [one.key for one in theirs]):
        if op.tag == "equal":
            continue
        if blocks and blocks[-1][1] == op.src_start and blocks[-1][3] == op.dest_start:
            blocks[-1] = (blocks[-1][0], op.src_end, blocks[-1][2], op.dest_end)
        else:
            blocks.append((op.src_start, op.src_end, op.dest_start, op.dest_end))
    return blocks


def _span(parts: Sequence[Sentence], start: int, end: int) -> tuple[int, int]:
    if start < end:
        return parts[start].start, parts[end - 1].end
    at = parts[start].start if start < len(parts) else (parts[-1].end if parts else 0)
    return at, at


def _is_text(added: str, at_edge: bool) -> bool:
    """Whether added sentences say something of their own: a bare number counts only as a page number, at the edge."""
    return at_edge or bool(_LETTER.search(added))


def _shifted(change: Change, a: int, b: int) -> Change:
    return Change.model_construct(
        kind=change.kind,
        a_start=change.a_start + a,
        a_end=change.a_end + a,
        b_start=change.b_start + b,
        b_end=change.b_end + b,
    )


def _marks_agree(a: str, b: str, added: Sequence[Change]) -> bool:
    """In order, whole added sentences left aside."""
    for change in reversed(added):
        a = f"{a[: change.a_start]}\n{a[change.a_end :]}"
        b = f"{b[: change.b_start]}\n{b[change.b_end :]}"
    return marks(a) == marks(b)
