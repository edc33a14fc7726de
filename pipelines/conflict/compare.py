"""Do two texts on one subject contradict each other?

Unlike words are lined up; a place where both texts say something, but not the same, is a slot with two values. What
stands in the slot (a number, an actor, a must or must not) and how much else was rewritten give the score: a text that
only says more is an update, one whose values differ is a conflict. A cut at bigram similarity keeps other sections out.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from pipelines.conflict.tokens import Kind, Word, words
from pipelines.dedup.normalise import grams, normalise
from schemas.base import Record

Outcome = Literal["conflict", "update", "same", "unrelated"]
SIMILAR = 0.4
"""Share of common character bigrams under which two texts are about different things (notes in the benchmark)."""
_LONG = 12
"""A slot holds a value; where more words than this differ, a passage was rewritten."""
_GRAVE: tuple[Kind, ...] = ("date", "number", "unit", "code", "actor", "polarity")


class Difference(Record):
    """One place where the texts differ. Offsets are of the raw texts; an empty span is the place of an insertion."""

    kind: Kind
    a_start: int
    a_end: int
    b_start: int
    b_end: int
    clean: bool = False

    @property
    def both(self) -> bool:
        """Whether both texts say something here."""
        return self.a_start < self.a_end and self.b_start < self.b_end


class Comparison(Record):
    """What two texts are to each other, with the reasons."""

    outcome: Outcome
    score: float
    """Of a conflict, 0..1."""
    similarity: float
    differences: tuple[Difference, ...] = ()


def compare(a: str, b: str) -> Comparison:
    """Symmetric in outcome and score."""
    similarity = alike(a, b)
    if similarity <= SIMILAR:
        return Comparison(outcome="unrelated", score=0.0, similarity=similarity)
    left, right = words(a), words(b)
    found = differences(left, right)
    if not found:
        return Comparison(outcome="same", score=0.0, similarity=similarity)
    if sum(one.kind == "name" and one.both for one in found) > 1:
        return Comparison(outcome="unrelated", score=0.0, similarity=similarity, differences=tuple(found))
    score = 1 / (1 + math.exp(-sum(weight * value for weight, value in zip(WEIGHTS, features(found, left, right), strict=True))))
    return Comparison(outcome="conflict" if score >= 0.5 else "update", score=score, similarity=similarity, differences=tuple(found))


WEIGHTS = (-3.0, 2.5, 2.0, 2.0, 1.0, 0.5, 2.0)


def alike(a: str, b: str) -> float:
    """Jaccard of character n-grams: two Chinese letters say about as much as six Latin ones."""
    one, other = normalise(a), normalise(b)
    size = 2 if sum(c > "\u2fff" for c in one + other) * 4 > len(one + other) else 6
    left, right = grams(one, size), grams(other, size)
    return len(left & right) / max(1, len(left | right))


def features(found: Sequence[Difference], left: Sequence[Word], right: Sequence[Word]) -> tuple[float, ...]:
    counts = Counter(one.kind for one in found if one.clean)
    value = sum(counts[kind] for kind in ("date", "number", "unit", "code"))
    grave = sum(one.kind != "text" for one in found if one.both and not one.clean)
    sizes = [_inside(one, left, right) for one in found if one.both or one.clean]
    alone = sum(_inside(one, left, right) for one in found if not (one.both or one.clean))
    return (
        1.0,
        min(value, 2.0),
        min(counts["actor"] + counts["name"], 2.0),
        min(counts["polarity"], 2.0),
        min(grave, 2.0),
        math.log1p(max(sizes, default=0)),
        sum(sizes) / max(1, sum(sizes) + alone),
    )


def _inside(one: Difference, left: Sequence[Word], right: Sequence[Word]) -> int:
    """Words of both texts in a difference."""
    return sum(one.a_start <= word.start < one.a_end for word in left) + sum(
        one.b_start <= word.start < one.b_end for word in right
    )


def differences(left: Sequence[Word], right: Sequence[Word]) -> list[Difference]:
    """Places that differ, in order; differing segmentation alone is none."""
    from rapidfuzz.distance import Levenshtein

    regions: list[list[int]] = []
    for op in Levenshtein.opcodes([word.key for word in left], [word.key for word in right]):
        if op.tag == "equal":
            continue
        if regions and regions[-1][1] == op.src_start and regions[-1][3] == op.dest_start:
            regions[-1][1], regions[-1][3] = op.src_end, op.dest_end
        else:
            regions.append([op.src_start, op.src_end, op.dest_start, op.dest_end])
    _label(regions, left, right)
    made = []
    for n, region in enumerate(regions):
        before = region[0] - (regions[n - 1][1] if n else -_FLANK)
        after = (regions[n + 1][0] if n + 1 < len(regions) else len(left) + _FLANK) - region[1]
        made.append(_difference(left, right, region, min(before, after) >= _FLANK))
    return [one for one in made if one is not None]


def _label(regions: list[list[int]], left: Sequence[Word], right: Sequence[Word]) -> None:
    """`Default: 5` against `Default: 7; before release 2: 5`: what follows a label is its value, so nothing was added
    there, the value is another one. The slot takes in the value that the other text has after the same label."""
    for n, (i, j, k, l) in enumerate(regions):
        if (i == j) == (k == l) or j >= len(left) or l >= len(right) or (n + 1 < len(regions) and regions[n + 1][0] <= j):
            continue
        longer = right[k - 1 : k] + right[k:l] if i == j else left[i - 1 : i] + left[i:j]
        if len(longer) > 1 and longer[0].labels and left[j].kind in _VALUES:
            regions[n][1] += 1
            regions[n][3] += 1


_VALUES = ("date", "number", "unit", "code", "polarity")
_FLANK = 2
_SLOT = 4


def _difference(left: Sequence[Word], right: Sequence[Word], region: list[int], flanked: bool) -> Difference | None:
    ours, theirs = left[region[0] : region[1]], right[region[2] : region[3]]
    kind = _kind(ours, theirs)
    if kind is None:
        return None
    a = ours[0].start if ours else (left[region[0] - 1].end if region[0] else 0)
    b = theirs[0].start if theirs else (right[region[2] - 1].end if region[2] else 0)
    # A "not" that only one text has fills a slot too: its absence says the opposite.
    clean = flanked and max(len(ours), len(theirs)) <= _SLOT and (bool(ours and theirs) or kind == "polarity")
    return Difference(
        kind=kind, a_start=a, a_end=ours[-1].end if ours else a, b_start=b, b_end=theirs[-1].end if theirs else b, clean=clean
    )


def _kind(ours: Sequence[Word], theirs: Sequence[Word]) -> Kind | None:
    """The gravest kind that both sides fill differently; None where only the cutting into words differs."""
    one, other = "".join(word.key for word in ours), "".join(word.key for word in theirs)
    one, other = _trimmed(one, other)
    plain = all(word.kind in ("text", "actor") and not word.key.isascii() for word in (*ours, *theirs))
    if plain and len(one) + len(other) <= 1:
        return None
    mine, yours = Counter((w.kind, w.key) for w in ours), Counter((w.kind, w.key) for w in theirs)
    only_mine = {kind for kind, _ in mine - yours}
    only_yours = {kind for kind, _ in yours - mine}
    if max(len(ours), len(theirs)) > _LONG:
        return "text"
    for kind in ("date", "number", "unit", "code", "name", "actor"):
        if kind in only_mine and kind in only_yours:
            return kind
    if mine and yours and "code" in only_mine | only_yours:
        return "code"
    if not (ours and theirs):
        small = len(ours) + len(theirs) <= _FLANK
        return "polarity" if small and any(w.key in ("not", "forbid") for w in (*ours, *theirs)) else "text"
    if "polarity" in only_mine | only_yours:
        return "polarity"
    return "text"


def _trimmed(one: str, other: str) -> tuple[str, str]:
    """Without common head and tail."""
    start = next((i for i, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))
    one, other = one[start:], other[start:]
    end = next((i for i, (x, y) in enumerate(zip(one[::-1], other[::-1], strict=False)) if x != y), min(len(one), len(other)))
    return one[: len(one) - end], other[: len(other) - end]
