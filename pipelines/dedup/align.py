"""Aligns two texts sentence by sentence, and looks for changes only where their sentences differ."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pipelines.dedup.changes import Found, changes
from pipelines.dedup.marks import marks
from pipelines.dedup.normalise import fold
from pipelines.dedup.tokens import tokenise

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
    """The changes, and the stretches that they lie in: what each text has there, and whole added sentences in it."""

    changes: tuple[Found, ...]
    stretches: tuple[tuple[str, str, tuple[Found, ...]], ...]

    @property
    def agree(self) -> bool:
        """Whether numbers, negations and modal words agree, in order, whole added sentences left aside."""
        return all(_marks_agree(*one) for one in self.stretches)


def difference(a: str, b: str, ours: Sequence[Sentence], theirs: Sequence[Sentence]) -> Difference:
    """What differs between the raw texts `a` and `b`."""
    found: list[Found] = []
    stretches: list[tuple[str, str, tuple[Found, ...]]] = []
    for i, j, k, m in _blocks(ours, theirs):
        at_a, at_b = _span(ours, i, j), _span(theirs, k, m)
        left, right = a[slice(*at_a)], b[slice(*at_b)]
        if (i == j or k == m) and _is_text(left + right, i in (0, len(ours)) or j == len(ours)):
            found.append(Found("text", *at_a, *at_b))
            continue
        inside, added = changes(tokenise(left), tokenise(right))
        stretches.append((left, right, added))
        found += [one.moved(at_a[0], at_b[0]) for one in inside]
    return Difference(tuple(found), tuple(stretches))


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


def _marks_agree(a: str, b: str, added: Sequence[Found]) -> bool:
    for change in reversed(added):
        a = f"{a[: change.a_start]}\n{a[change.a_end :]}"
        b = f"{b[: change.b_start]}\n{b[change.b_end :]}"
    return marks(a) == marks(b)
