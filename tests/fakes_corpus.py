"""A corpus in memory: what the dedup layer asks of it, without SQL."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from pipelines.dedup import link, signatures
from pipelines.dedup.settings import DedupSettings
from schemas.chunk import Chunk
from schemas.facts import DuplicateLink


class FakeCorpus:
    """Buckets as sets; links as the dedup layer would keep them in SQL."""

    def __init__(self, settings: DedupSettings) -> None:
        self.settings = settings
        self.held: dict[str, str] = {}
        self.signed: dict[str, tuple[int, ...]] = {}
        self.buckets: dict[int, set[str]] = defaultdict(set)
        self.links: dict[tuple[str, str], DuplicateLink] = {}

    def add(self, chunks: Sequence[Chunk]) -> None:
        """What the dedup layer does with the chunks of one version."""
        made = signatures([one.text for one in chunks], self.settings, b"salt")
        for chunk, bands in zip(chunks, made, strict=True):
            self.held[chunk.id], self.signed[chunk.id] = chunk.text, bands
            for band in bands:
                self.buckets[band].add(chunk.id)
        made_links = link(chunks, self, self.settings)
        self.links |= {(one.a, one.b): one for one in made_links.found}
        for chunk_id, partners in made_links.kept.items():
            self.links = {
                pair: one
                for pair, one in self.links.items()
                if chunk_id not in pair or set(pair) - {chunk_id} <= partners
            }

    def bands(self, chunks: Iterable[str]) -> Mapping[str, Sequence[int]]:
        return {one: self.signed[one] for one in chunks if one in self.signed}

    def members(self, bands: Sequence[int], first: int | None) -> Mapping[int, Sequence[str]]:
        return {band: sorted(self.buckets[band])[:first] for band in bands}

    def texts(self, chunks: Iterable[str]) -> Mapping[str, str]:
        return {one: self.held[one] for one in chunks if one in self.held}
