"""Links new chunks with the living corpus and with one another."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from pipelines.dedup.normalise import text_digest
from pipelines.dedup.settings import DedupSettings
from pipelines.dedup.signature import bands
from pipelines.dedup.verify import compare
from pipelines.ports import DuplicateCorpus
from schemas.chunk import Chunk
from schemas.facts import DuplicateLink

K = TypeVar("K")


def link(
    chunks: Sequence[Chunk], corpus: DuplicateCorpus, settings: DedupSettings, salt: bytes
) -> tuple[DuplicateLink, ...]:
    """Links that are not distinct, each pair once, by ids; batches do not matter while no candidate is cut."""
    texts = {chunk.id: chunk.text for chunk in chunks}
    digests = {id: text_digest(text, salt) for id, text in texts.items()}
    signed = {id: bands(text, settings) for id, text in texts.items()}
    same = _merge(corpus.same(sorted(set(digests.values()))), ((d, id) for id, d in digests.items()))
    shared = _merge(
        corpus.sharing_bands(sorted({band for row in signed.values() for band in row})),
        ((band, id) for id, row in signed.items() for band in row),
    )
    pairs: set[tuple[str, str]] = set()
    for id in texts:
        votes = Counter(other for band in signed[id] for other in shared.get(band, ()) if other != id)
        votes.update({other: len(signed[id]) + 1 for other in same.get(digests[id], ()) if other != id})
        best = sorted(votes, key=lambda other: (-votes[other], other))[: settings.max_candidates]
        pairs.update((min(id, other), max(id, other)) for other in best)
    known = {**corpus.texts(sorted({id for pair in pairs for id in pair} - texts.keys())), **texts}
    found = (_verdict(a, b, known, settings) for a, b in sorted(pairs) if a in known and b in known)
    return tuple(one for one in found if one.outcome != "distinct")


def _merge(old: Mapping[K, Sequence[str]], new: Iterable[tuple[K, str]]) -> dict[K, set[str]]:
    merged: dict[K, set[str]] = defaultdict(set)
    for key, ids in old.items():
        merged[key].update(ids)
    for key, id in new:
        merged[key].add(id)
    return merged


def _verdict(a: str, b: str, texts: Mapping[str, str], settings: DedupSettings) -> DuplicateLink:
    verdict = compare(texts[a], texts[b], settings)
    return DuplicateLink(a=a, b=b, outcome=verdict.outcome, drop=verdict.drop, evidence=verdict.evidence)
