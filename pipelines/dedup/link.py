"""Links new chunks with the living corpus and with one another.

The members of a small bucket are all compared; of a large one (a family) each only with its first, the lowest number
(numbers come from content), and with one another only as likely copies. A chunk follows one such first, of its earliest
large bucket among the leading ones. So a family of ten thousand filled forms costs some ten thousand comparisons and
not fifty million. Which pairs are compared follows from what the corpus holds and from nothing else: a chunk that
follows another from now on, or whose bucket has grown large, loses the links it had only for that.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pipelines.dedup.postings import NOBODY
from pipelines.dedup.settings import DedupSettings
from pipelines.dedup.signature import DIGEST, WIDTH, in_reach
from pipelines.dedup.verify import Text, compare_texts, prepared
from pipelines.ids import number
from pipelines.ports import DuplicateCorpus
from schemas.chunk import Chunk
from schemas.facts import DuplicateLink

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]

_LEADING = (0, 1, 2, DIGEST)
"""Bands whose large buckets are families: members share many bands, and a few of them lead to the same."""
Partners = dict[int, set[int]]


@dataclass(frozen=True)
class Links:
    """What a batch adds; and for each chunk that lost a place, the only partners that it keeps."""

    found: tuple[DuplicateLink, ...]
    distinct: tuple[tuple[str, str], ...] = ()
    """Pairs that were looked at and do not belong together."""
    kept: Mapping[int, Set[int]] = field(default_factory=dict)
    """By number (`pipelines.ids.number`)."""


def link(chunks: Sequence[Chunk], corpus: DuplicateCorpus, settings: DedupSettings) -> Links:
    """Links that are not distinct, each pair once, by ids. The corpus holds the chunks already."""
    texts = {number(chunk.id): (chunk.id, prepared(chunk.text)) for chunk in chunks}
    near, displaced = _partners(texts.keys(), corpus, settings)
    kept, _ = _partners(displaced, corpus, settings)
    # Two of one bucket that has grown large may only now have to be compared, as first and follower.
    near |= {one: others & displaced for one, others in kept.items()}
    pairs = {(min(one, other), max(one, other)) for one, others in near.items() for other in others}
    known = corpus.texts(sorted({one for pair in pairs for one in pair} - texts.keys()))
    texts |= {one: (chunk, prepared(text)) for one, (chunk, text) in known.items()}
    looked = [_verdict(*texts[a], *texts[b], settings) for a, b in sorted(pairs) if a in texts and b in texts]
    return Links(
        found=tuple(one for one in looked if one.outcome != "distinct"),
        distinct=tuple((one.a, one.b) for one in looked if one.outcome == "distinct"),
        kept=kept,
    )


def _partners(wanted: Set[int], corpus: DuplicateCorpus, settings: DedupSettings) -> tuple[Partners, set[int]]:
    """Whom each of `wanted` is compared with; and those outside whose place changes because `wanted` are there."""
    import numpy as np

    numbers = np.array(sorted(wanted), dtype=np.int64)
    rows = corpus.rows(numbers)
    numbers, rows = numbers[rows.any(axis=1)], rows[rows.any(axis=1)]
    if not len(numbers):
        return {}, set()
    most = settings.max_candidates
    heads = corpus.heads(rows, most + 1)
    large = heads[:, :, most] != NOBODY
    partners: Partners = {one: set() for one in numbers.tolist()}
    for one, other in _small(numbers, rows, heads[:, :, :most], large, corpus, settings):
        partners[one].add(other)
    family = _family(large)
    followed = [(at, int(band)) for at, band in enumerate(family) if band >= 0]
    for at, band in followed:
        partners[int(numbers[at])].add(int(heads[at, band, 0]))
    places, bands, whole = _changed(numbers, rows, heads, large, corpus)
    before = ~_among(whole, numbers)
    grown = np.bincount(places[before], minlength=len(bands)) <= most
    displaced: set[int] = set(whole[before & grown[places]].tolist())
    starts = np.searchsorted(places, np.arange(len(bands)))
    leading = np.zeros(WIDTH, dtype=bool)
    leading[list(_LEADING)] = True
    for at in np.flatnonzero(leading[bands] & ~before[starts]).tolist():
        members = whole[places == at]
        followers = _followers(members, int(bands[at]), corpus, most)
        partners[int(members[0])].update(followers)
        displaced.update(followers)
    if settings.method == "simhash":
        partners = _in_reach(numbers, rows, partners, corpus, settings.simhash_distance)
    return {one: others - {one} for one, others in partners.items()}, displaced - partners.keys()


def _in_reach(numbers: "Array", rows: "Array", partners: Partners, corpus: DuplicateCorpus, distance: int) -> Partners:
    """The classic method asks for the distance alone."""
    import numpy as np

    found: Partners = {}
    for one, row in zip(numbers.tolist(), rows, strict=True):
        others = np.array(sorted(partners[one]), dtype=np.int64)
        found[one] = set(others[in_reach(row[None], corpus.rows(others), distance)].tolist())
    return found


def _family(large: "Array") -> "Array":
    """For each row the first of the leading bands whose bucket is large; -1 where none is."""
    import numpy as np

    leading = large[:, list(_LEADING)]
    return np.where(leading.any(axis=1), np.array(_LEADING)[leading.argmax(axis=1)], -1)


def _followers(members: "Array", band: int, corpus: DuplicateCorpus, most: int) -> list[int]:
    """Those of a bucket whose family it is, and not one of an earlier band."""
    import numpy as np

    rows = corpus.rows(members)
    earlier = np.zeros_like(rows)
    ahead = list(_LEADING[: _LEADING.index(band) + 1])
    earlier[:, ahead] = rows[:, ahead]
    large = corpus.heads(earlier, most + 1)[:, :, most] != NOBODY
    found: list[int] = members[_family(large) == band].tolist()
    return found


def _changed(
    numbers: "Array", rows: "Array", heads: "Array", large: "Array", corpus: DuplicateCorpus
) -> tuple["Array", "Array", "Array"]:
    """Large buckets with one of `numbers` among their first: only there can it have changed who is first, or that the
    bucket was small before. The place of each member's bucket, the band of each bucket, and all members."""
    import numpy as np

    at, bands = np.nonzero(large)
    ours = _among(heads[at, bands], numbers).any(axis=1)
    at, bands = at[ours], bands[ours]
    buckets = _unique(bands, rows[at, bands])
    places, whole = corpus.members(buckets[0], buckets[1])
    return places, buckets[0], whole


def _small(
    numbers: "Array", rows: "Array", heads: "Array", large: "Array", corpus: DuplicateCorpus, settings: DedupSettings
) -> list[tuple[int, int]]:
    """Pairs that share a small bucket; inside a family only likely copies, that is, with enough bands in common."""
    import numpy as np

    shown = (heads != NOBODY) & (heads != numbers[:, None, None]) & ~large[:, :, None]
    pairs = _unique(np.nonzero(shown)[0], heads[shown])
    if not pairs.size:
        return []
    if settings.method != "simhash":
        ours, theirs = rows[pairs[0]], corpus.rows(pairs[1])
        shared = (ours == theirs) & (ours != 0)
        alone = ~(shared & large[pairs[0]]).any(axis=1)
        pairs = pairs[:, alone | (shared.sum(axis=1) >= settings.family_bands)]
    return list(zip(numbers[pairs[0]].tolist(), pairs[1].tolist(), strict=True))


def _among(values: "Array", ascending: "Array") -> "Array":
    """Which values are in a sorted array: a tenth of what `np.isin` costs for few of them."""
    import numpy as np

    at = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    return np.asarray(ascending[at] == values)


def _unique(ours: "Array", theirs: "Array") -> "Array":
    """Pairs, each once, as two rows."""
    import numpy as np

    order = np.lexsort((theirs, ours))
    pairs = np.stack([ours, theirs])[:, order]
    return pairs[:, np.append(True, (pairs[:, 1:] != pairs[:, :-1]).any(axis=0))[: len(order)]]


def _verdict(a: str, ours: Text, b: str, theirs: Text, settings: DedupSettings) -> DuplicateLink:
    verdict = compare_texts(ours, theirs, settings)
    shorter: Literal["a", "b"] = "a" if len(ours.plain) < len(theirs.plain) else "b"
    return DuplicateLink(
        a=a,
        b=b,
        outcome=verdict.outcome,
        drop=verdict.drop,
        spare=shorter if verdict.outcome == "contained" else "either",
        evidence=verdict.evidence,
    )
