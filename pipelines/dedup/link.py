"""Links new chunks with the living corpus and with one another.

The members of a small bucket are all compared; those of a large one (a family) only with its first, the lowest id (ids
are hashes of content), and with one another only as likely copies. So a family of ten thousand filled forms costs some
ten thousand comparisons and not fifty million. Which pairs are compared follows from what the corpus holds and from
nothing else: a chunk that is no longer first, or whose bucket has grown large, loses the links it had only for that.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Literal

from pipelines.dedup.settings import DedupSettings
from pipelines.dedup.signature import hamming
from pipelines.dedup.verify import Text, compare_texts, prepared
from pipelines.ports import DuplicateCorpus
from schemas.chunk import Chunk
from schemas.facts import DuplicateLink

_LEADING = 3
"""Bands whose large buckets count: members of a family share many bands, and a few of them lead to the same."""
Signed = Mapping[str, Sequence[int]]
Partners = dict[str, set[str]]


@dataclass(frozen=True)
class Links:
    """What a batch adds; and for each chunk that lost a place, the only partners that it keeps."""

    found: tuple[DuplicateLink, ...]
    distinct: tuple[tuple[str, str], ...] = ()
    """Pairs that were looked at and do not belong together."""
    kept: Mapping[str, frozenset[str]] = field(default_factory=dict)


def link(chunks: Sequence[Chunk], corpus: DuplicateCorpus, settings: DedupSettings) -> Links:
    """Links that are not distinct, each pair once, by ids. The corpus holds the chunks already."""
    texts = {chunk.id: prepared(chunk.text) for chunk in chunks}
    near, displaced = _partners(texts, corpus, settings)
    kept, _ = _partners(displaced, corpus, settings)
    # Two that share a bucket which has grown large may only now have to be compared, as first and member.
    near |= {id: others & displaced for id, others in kept.items()}
    pairs = sorted({(min(id, other), max(id, other)) for id, others in near.items() for other in others})
    known = corpus.texts(sorted({id for pair in pairs for id in pair} - texts.keys()))
    texts |= {id: prepared(text) for id, text in known.items()}
    looked = [_verdict(a, b, texts, settings) for a, b in pairs if a in texts and b in texts]
    return Links(
        found=tuple(one for one in looked if one.outcome != "distinct"),
        distinct=tuple((one.a, one.b) for one in looked if one.outcome == "distinct"),
        kept={id: frozenset(others) for id, others in kept.items()},
    )


def _partners(ids: Iterable[str], corpus: DuplicateCorpus, settings: DedupSettings) -> tuple[Partners, set[str]]:
    """Whom each of `ids` is compared with; and who loses a place because `ids` are there."""
    signed = corpus.bands(sorted(ids))
    if not signed:
        return {}, set()
    most = settings.max_candidates
    lead = corpus.members(sorted({band for row in signed.values() for band in row}), most + 1)
    large = {band for band, members in lead.items() if len(members) > most}
    families = {band for row in signed.values() for band in _leading(row)} & large
    # Who is first, or whether the bucket was small before, can only have changed where `ids` are among the first.
    whole = corpus.members(sorted(band for band in large if not signed.keys().isdisjoint(lead[band])), None)
    near = {id: {other for band in row if band not in large for other in lead[band]} for id, row in signed.items()}
    first: Partners = {id: set() for id in signed}
    for id, row in signed.items():
        for band in families.intersection(row):
            leader = lead[band][0]
            first[id].update(whole[band] if id == leader else (leader,))
    lost = {id for band, members in whole.items() for id in _displaced(members, signed.keys(), most, band in families)}
    return _chosen(near, first, signed, large, corpus, settings), lost - signed.keys()


def _leading(bands: Sequence[int]) -> Sequence[int]:
    return (*bands[:_LEADING], bands[-1])


def _displaced(members: Sequence[str], new: Set[str], most: int, family: bool) -> set[str]:
    """Those that were compared with all of a large bucket before `new` came, and no longer are."""
    before = [id for id in members if id not in new]
    if len(before) <= most:
        return set(before)
    return set(before[:1]) - set(members[:1]) if family else set()


def _chosen(
    near: Partners, first: Partners, signed: Signed, large: Set[int], corpus: DuplicateCorpus, settings: DedupSettings
) -> Partners:
    """Of members of small buckets (`near`) and first ones of families those that signatures do not rule out."""
    simhash = settings.method == "simhash"
    wanted = {id: near[id] | first[id] if simhash else near[id] - first[id] for id in signed}
    unknown = {other for id in signed for other in wanted[id] if simhash or not large.isdisjoint(signed[id])}
    known = {**corpus.bands(sorted(unknown - signed.keys())), **signed}

    def may_be_copies(a: Sequence[int], b: Sequence[int]) -> bool:
        shared = set(a).intersection(b)
        return large.isdisjoint(shared) or len(shared) >= settings.family_bands

    def in_reach(a: Sequence[int], b: Sequence[int]) -> bool:
        return a[-1] == b[-1] or (len(a) == len(b) > 1 and hamming(a, b) <= settings.simhash_distance)

    passes = in_reach if simhash else may_be_copies
    found = {
        id: {one for one in wanted[id] if (passes(row, known[one]) if one in known else not simhash)}
        for id, row in signed.items()
    }
    return {id: (found[id] if simhash else found[id] | first[id]) - {id} for id in signed}


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
