"""Links new chunks with the living corpus and with one another.

The members of a small bucket are all compared; those of a large one only with its first (the lowest id, and ids are
hashes of content), so a family of ten thousand filled forms costs a hundred thousand comparisons and not fifty million.
Which pairs are compared follows from what the corpus holds and from nothing else: a chunk that is no longer first, or
whose bucket has grown large, loses the links that it had only for that.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pipelines.dedup.settings import DedupSettings
from pipelines.dedup.signature import hamming
from pipelines.dedup.verify import Text, compare_texts
from pipelines.ports import DuplicateCorpus
from schemas.chunk import Chunk
from schemas.facts import DuplicateLink

_LEADING = 2
"""Bands whose large buckets count: members of a family share nearly all bands, and a few of them lead to the same."""


@dataclass(frozen=True)
class Links:
    """What a batch adds; and for each chunk that lost a place, the only partners that it keeps."""

    found: tuple[DuplicateLink, ...]
    distinct: tuple[tuple[str, str], ...] = ()
    """Pairs that were looked at and do not belong together."""
    kept: Mapping[str, frozenset[str]] = field(default_factory=dict)


def link(chunks: Sequence[Chunk], corpus: DuplicateCorpus, settings: DedupSettings) -> Links:
    """Links that are not distinct, each pair once, by ids. The corpus holds the chunks already."""
    texts = {chunk.id: Text(chunk.text) for chunk in chunks}
    near, displaced = _partners(texts, corpus, settings)
    kept, _ = _partners(displaced, corpus, settings)
    pairs = sorted({(min(id, other), max(id, other)) for id, others in near.items() for other in others})
    known = corpus.texts(sorted({id for pair in pairs for id in pair} - texts.keys()))
    texts |= {id: Text(text) for id, text in known.items()}
    looked = [_verdict(a, b, texts, settings) for a, b in pairs if a in texts and b in texts]
    return Links(
        found=tuple(one for one in looked if one.outcome != "distinct"),
        distinct=tuple((one.a, one.b) for one in looked if one.outcome == "distinct"),
        kept={id: frozenset(others) for id, others in kept.items()},
    )


def _partners(
    ids: Iterable[str], corpus: DuplicateCorpus, settings: DedupSettings
) -> tuple[dict[str, set[str]], set[str]]:
    """Whom each of `ids` is compared with; and who loses a place because `ids` are there."""
    signed = corpus.bands(sorted(ids))
    most = settings.max_candidates
    lead = corpus.members(sorted({band for row in signed.values() for band in row}), most + 1)
    leading = {band for row in signed.values() for band in (*row[:_LEADING], row[-1])}
    placed: dict[int, set[str]] = defaultdict(set)
    for id, bands in signed.items():
        for band in bands:
            if len(lead[band]) > most and id in lead[band]:
                placed[band].add(id)
    whole = corpus.members(sorted(placed), None)
    near: dict[str, set[str]] = {id: set() for id in signed}
    for id, bands in signed.items():
        for band in bands:
            leaders = _leaders(lead[band], most, band in leading)
            near[id].update(leaders if id not in leaders else whole.get(band, leaders))
        near[id].discard(id)
    displaced = {id for band, new in placed.items() for id in _displaced(whole[band], new, most, band in leading)}
    return _in_reach(near, signed, corpus, settings), displaced - signed.keys()


def _leaders(members: Sequence[str], most: int, leading: bool) -> Sequence[str]:
    """Whom all members are compared with; `members` may be cut after one more than `most`."""
    if len(members) <= most:
        return members
    return members[:1] if leading else ()


def _displaced(members: Sequence[str], new: set[str], most: int, leading: bool) -> set[str]:
    before = [id for id in members if id not in new]
    return set(_leaders(before, most, leading)) - set(_leaders(members, most, leading))


def _in_reach(
    near: dict[str, set[str]], signed: Mapping[str, Sequence[int]], corpus: DuplicateCorpus, settings: DedupSettings
) -> dict[str, set[str]]:
    """SimHash: only within its distance, as a shared part says little."""
    if settings.method != "simhash":
        return near
    known = {**corpus.bands(sorted({id for others in near.values() for id in others} - signed.keys())), **signed}

    def reach(a: str, b: str) -> bool:
        same = known[a][-1] == known[b][-1]
        return same or (len(known[a]) == len(known[b]) > 1 and hamming(known[a], known[b]) <= settings.simhash_distance)

    return {id: {other for other in others if other in known and reach(id, other)} for id, others in near.items()}


def _verdict(a: str, b: str, texts: Mapping[str, Text], settings: DedupSettings) -> DuplicateLink:
    verdict = compare_texts(texts[a], texts[b], settings)
    shorter: Literal["a", "b"] = "a" if len(texts[a].plain) < len(texts[b].plain) else "b"
    return DuplicateLink(
        a=a,
        b=b,
        outcome=verdict.outcome,
        drop=verdict.drop,
        spare=shorter if verdict.outcome == "contained" else "either",
        evidence=verdict.evidence,
    )
