"""Sorted postings of band hashes: which texts share a band, for many bands at once.

A posting is one 64-bit number: the band's place (6 bits), its hash (32) and the text's place in its segment (26). Texts
stand in the order of their numbers, so a bucket's postings are in that order too. A segment never changes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pipelines.dedup.signature import WIDTH

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]

NOBODY = 2**63 - 1
"""Stands behind the last member of a bucket: higher than any number of a text."""
_HASH = 32
_PLACE = 26
_PLACES = 2**_PLACE - 1


@dataclass(frozen=True)
class Segment:
    """n texts: `numbers` (n, int64, ascending), `rows` (n x WIDTH hashes, uint32), `postings` (uint64, ascending)."""

    numbers: "Array"
    rows: "Array"
    postings: "Array"
    dead: "Array | None" = None
    """Which texts have left the corpus since (n, bool)."""

    def without(self, gone: "Array") -> "Segment":
        """The same with more texts marked as dead; itself where it has none of them."""
        import numpy as np

        found = np.isin(self.numbers, gone)
        if not found.any():
            return self
        return Segment(self.numbers, self.rows, self.postings, found if self.dead is None else self.dead | found)


def segment(numbers: "Array", rows: "Array") -> Segment:
    """From numbers (n) in any order, each once, and their rows."""
    import numpy as np

    order = np.argsort(numbers)
    numbers, rows = numbers[order], np.ascontiguousarray(rows[order])
    places = np.arange(len(numbers), dtype=np.uint64)[:, None]
    made = (_keys(rows) << np.uint64(_PLACE) | places)[rows != 0]
    made.sort()
    return Segment(numbers, rows, made)


def merged(parts: Sequence[Segment]) -> tuple["Array", "Array", Iterator["Array"]]:
    """Numbers, the order of rows (places in the parts one after another), and the postings in ascending pieces, one for
    each band: so a segment is written without a second one in memory. Dead texts are left out."""
    import numpy as np

    alive = [np.ones(len(one.numbers), dtype=bool) if one.dead is None else ~one.dead for one in parts]
    numbers = np.concatenate([one.numbers for one in parts])
    order = np.argsort(numbers, kind="stable")
    order = order[np.concatenate(alive)[order]]
    places = np.zeros(len(numbers), dtype=np.uint64)
    places[order] = np.arange(len(order), dtype=np.uint64)
    starts = np.cumsum([0, *(len(one.numbers) for one in parts)])
    homes = [places[a:b] for a, b in pairwise(starts)]

    def pieces() -> Iterator["Array"]:
        edges = np.arange(WIDTH + 1, dtype=np.uint64) << np.uint64(_HASH + _PLACE)
        cuts = [np.searchsorted(one.postings, edges) for one in parts]
        for band in range(WIDTH):
            found = []
            for one, cut, home, living in zip(parts, cuts, homes, alive, strict=True):
                own = np.asarray(one.postings[cut[band] : cut[band + 1]])
                at = own & np.uint64(_PLACES)
                found.append(((own ^ at) | home[at])[living[at]])
            piece = np.concatenate(found)
            piece.sort()
            yield piece

    return numbers[order], order, pieces()


def heads(parts: Sequence[Segment], rows: "Array", first: int) -> "Array":
    """The first members of each row's buckets: rows x WIDTH to rows x WIDTH x first numbers, then NOBODY."""
    import numpy as np

    there = rows != 0
    wanted = _keys(rows)[there]
    found = np.full((len(wanted), first * max(1, len(parts))), NOBODY, dtype=np.int64)
    for number, one in enumerate(parts):
        found[:, number * first : (number + 1) * first] = _first(one, wanted, first)
    if len(parts) > 1:
        found.sort(axis=1)
    shaped = np.full((*rows.shape, first), NOBODY, dtype=np.int64)
    shaped[there] = found[:, :first]
    return shaped


def _first(one: Segment, wanted: "Array", first: int) -> "Array":
    import numpy as np

    if not len(one.postings):
        return np.full((len(wanted), first), NOBODY, dtype=np.int64)
    window = np.searchsorted(one.postings, wanted << np.uint64(_PLACE))[:, None] + np.arange(first)
    inside = window < len(one.postings)
    postings = one.postings[np.where(inside, window, 0)]
    hit = inside & (postings >> np.uint64(_PLACE) == wanted[:, None])
    at = postings & np.uint64(_PLACES)
    found = np.where(hit, one.numbers[at], NOBODY)
    if one.dead is not None:
        # Behind the dead there may be more: those few buckets are read whole.
        short = np.flatnonzero((hit & one.dead[at]).any(axis=1))
        homes, living = _buckets(one, wanted[short])
        for row, home in enumerate(short.tolist()):
            left = living[homes == row][:first]
            found[home] = NOBODY
            found[home, : len(left)] = left
    return np.asarray(found)


def members(parts: Sequence[Segment], bands: "Array", values: "Array") -> tuple["Array", "Array"]:
    """All that are in some buckets (n bands with their hashes): the place of the bucket, ascending, and the number,
    ascending in each."""
    import numpy as np

    keys = bands.astype(np.uint64) << np.uint64(_HASH) | values.astype(np.uint64)
    found = [_buckets(one, keys) for one in parts]
    homes = np.concatenate([np.zeros(0, dtype=np.int64), *(home for home, _ in found)])
    numbers = np.concatenate([np.zeros(0, dtype=np.int64), *(inside for _, inside in found)])
    order = np.lexsort((numbers, homes))
    return homes[order], numbers[order]


def _buckets(one: Segment, keys: "Array") -> tuple["Array", "Array"]:
    """Which bucket, and which number, for all living members."""
    import numpy as np

    starts = np.searchsorted(one.postings, keys << np.uint64(_PLACE))
    sizes = np.searchsorted(one.postings, keys + np.uint64(1) << np.uint64(_PLACE)) - starts
    homes = np.repeat(np.arange(len(keys)), sizes)
    inside = np.arange(len(homes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    at = one.postings[np.repeat(starts, sizes) + inside] & np.uint64(_PLACES)
    if one.dead is not None:
        homes, at = homes[~one.dead[at]], at[~one.dead[at]]
    return homes, one.numbers[at]


def rows_of(parts: Sequence[Segment], numbers: "Array") -> "Array":
    """Rows of hashes by number; zeros for those that are not there."""
    import numpy as np

    found = np.zeros((len(numbers), WIDTH), dtype=np.uint32)
    for one in parts:
        if len(one.numbers):
            at = np.minimum(np.searchsorted(one.numbers, numbers), len(one.numbers) - 1)
            hit = one.numbers[at] == numbers
            if one.dead is not None:
                hit &= ~one.dead[at]
            found[hit] = one.rows[at[hit]]
    return found


def _keys(rows: "Array") -> "Array":
    import numpy as np

    return np.arange(rows.shape[1], dtype=np.uint64) << np.uint64(_HASH) | rows.astype(np.uint64)
