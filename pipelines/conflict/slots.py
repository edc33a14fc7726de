"""Lines up two rows of words and says what kind of thing differs at each place."""

from collections import Counter
from collections.abc import Sequence

from pipelines.conflict.tokens import Kind, Word
from schemas.base import Record

FLANK = 2
"""Equal words on both sides of a place that make sure that it is one slot of both texts."""
SLOT = 4
"""Words of a value at most; where more differ, a passage was rewritten."""
PASSAGE = 12
"""From here on the kinds of single words say nothing."""
_VALUES: tuple[Kind, ...] = ("date", "number", "unit", "code", "polarity")
_GRAVEST_FIRST: tuple[Kind, ...] = ("date", "number", "unit", "code", "name", "actor")


class Difference(Record):
    """One place where the texts differ. Offsets are of the raw texts; an empty span is where nothing stands."""

    kind: Kind
    clear: bool
    """A short slot in unchanged surroundings."""
    a_start: int
    a_end: int
    b_start: int
    b_end: int
    names: bool = False
    """Whether each text names another place, product or thing here."""

    @property
    def both(self) -> bool:
        """Whether both texts say something here."""
        return self.a_start < self.a_end and self.b_start < self.b_end


class _Region:
    """Half-open ranges of words, left and right, that differ."""

    def __init__(self, left: slice, right: slice) -> None:
        self.left, self.right = left, right


def differences(left: Sequence[Word], right: Sequence[Word]) -> tuple[Difference, ...]:
    """Places that differ, in order; another cutting into words is none."""
    regions = _regions(left, right)
    found = []
    for n, region in enumerate(regions):
        before = region.left.start - (regions[n - 1].left.stop if n else -FLANK)
        after = (regions[n + 1].left.start if n + 1 < len(regions) else len(left) + FLANK) - region.left.stop
        found.append(_difference(left, right, region, flanked=min(before, after) >= FLANK))
    return tuple(one for one in found if one is not None)


def _regions(left: Sequence[Word], right: Sequence[Word]) -> list[_Region]:
    from rapidfuzz.distance import Levenshtein

    found: list[_Region] = []
    for op in Levenshtein.opcodes([word.key for word in left], [word.key for word in right]):
        if op.tag == "equal":
            continue
        if found and (found[-1].left.stop, found[-1].right.stop) == (op.src_start, op.dest_start):
            found[-1] = _Region(slice(found[-1].left.start, op.src_end), slice(found[-1].right.start, op.dest_end))
        else:
            found.append(_Region(slice(op.src_start, op.src_end), slice(op.dest_start, op.dest_end)))
    nexts = [region.left.start for region in found[1:]] + [len(left)]
    return [_labelled(region, left, right, limit) for region, limit in zip(found, nexts, strict=False)]


def _labelled(region: _Region, left: Sequence[Word], right: Sequence[Word], limit: int) -> _Region:
    """`Default: 7; before release 2: 5` against `Default: 5`: what follows a label is its value, so nothing was added
    there, the value is another one. The place takes in the value that the other text has after the same label."""
    i, j, k, m = region.left.start, region.left.stop, region.right.start, region.right.stop
    if (i == j) == (k == m):
        return region
    while j < limit and m < len(right):
        if i and left[i - 1].labels and left[j].kind in _VALUES:
            return _Region(slice(i, j + 1), slice(k, m + 1))
        # The same addition may be read one word later: `[Default 7] Default 5` as `Default [7 Default] 5`.
        added = right[k] if i == j else left[i]
        if added.key != (left[j] if i == j else right[m]).key:
            break
        i, j, k, m = i + 1, j + 1, k + 1, m + 1
    return region


def _difference(left: Sequence[Word], right: Sequence[Word], region: _Region, flanked: bool) -> Difference | None:
    ours, theirs = left[region.left], right[region.right]
    labelled = region.left.start > 0 and left[region.left.start - 1].labels
    named = _first_value(ours, theirs) if labelled else None
    kind = named or _kind(ours, theirs)
    if kind is None:
        return None
    a_start, a_end = _span(left, region.left)
    b_start, b_end = _span(right, region.right)
    short = max(len(ours), len(theirs)) <= SLOT
    # A "not" that only one text has fills a slot too: without it the text says the opposite.
    filled = bool(ours and theirs) or kind == "polarity"
    clear = named is not None or (flanked and short and filled)
    named_both = all(any(word.names for word in side) for side in (ours, theirs))
    names = clear and named_both and not _of_office(left, region.left)
    return Difference(kind=kind, clear=clear, a_start=a_start, a_end=a_end, b_start=b_start, b_end=b_end, names=names)


def _of_office(row: Sequence[Word], part: slice) -> bool:
    """What stands before an office is a part of its name (农业主管部门), but for the name of a place or firm."""
    followed = any(word.kind == "actor" and not word.names for word in row[part.stop : part.stop + 1])
    return followed and not any(word.key.isascii() for word in row[part])


def _first_value(ours: Sequence[Word], theirs: Sequence[Word]) -> Kind | None:
    """The kind of the values that directly follow one label, where they differ."""
    if not (ours and theirs) or ours[0].key == theirs[0].key:
        return None
    kinds = [one.kind for one in (ours[0], theirs[0]) if one.kind in _VALUES]
    return kinds[0] if kinds else None


def _span(row: Sequence[Word], part: slice) -> tuple[int, int]:
    if part.start < part.stop:
        return row[part.start].start, row[part.stop - 1].end
    place = row[part.start - 1].end if part.start else 0
    return place, place


def _kind(ours: Sequence[Word], theirs: Sequence[Word]) -> Kind | None:
    """The gravest kind that both sides fill, each in its way; None where only the cutting into words differs."""
    words = (*ours, *theirs)
    plain = all(word.kind in ("text", "actor") and not word.key.isascii() for word in words)
    one, other = _trimmed("".join(word.key for word in ours), "".join(word.key for word in theirs))
    if not (one or other) or (plain and len(one) + len(other) == 1):
        return None
    if max(len(ours), len(theirs)) > PASSAGE:
        return "text"
    if not (ours and theirs):
        denied = len(words) <= FLANK and any(word.key in ("not", "forbid") for word in words)
        return "polarity" if denied else "text"
    mine, yours = Counter((w.kind, w.key) for w in ours), Counter((w.kind, w.key) for w in theirs)
    only_mine, only_yours = {kind for kind, _ in mine - yours}, {kind for kind, _ in yours - mine}
    for kind in _GRAVEST_FIRST:
        if kind in only_mine and kind in only_yours:
            return kind
    either = only_mine | only_yours
    return "code" if "code" in either else "polarity" if "polarity" in either else "text"


def _trimmed(one: str, other: str) -> tuple[str, str]:
    """Without common head and tail."""
    head = _common(one, other)
    one, other = one[head:], other[head:]
    tail = _common(one[::-1], other[::-1])
    return one[: len(one) - tail], other[: len(other) - tail]


def _common(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (x, y) in pairs if x != y), min(len(one), len(other)))
