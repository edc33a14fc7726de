"""A corpus in memory: what the dedup layer asks of it, without SQL."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pipelines.dedup import link, signatures
from pipelines.dedup.postings import Segment, heads, members, rows_of, segment
from pipelines.dedup.settings import DedupSettings
from pipelines.ids import number
from schemas.chunk import Chunk
from schemas.facts import DuplicateLink

Array = np.ndarray[Any, Any]


class FakeCorpus:
    """Postings in memory; links as the dedup layer would keep them in SQL."""

    def __init__(self, settings: DedupSettings) -> None:
        self.settings = settings
        self.held: dict[int, tuple[str, str]] = {}
        self.parts: tuple[Segment, ...] = ()
        self.links: dict[tuple[str, str], DuplicateLink] = {}

    def add(self, chunks: Sequence[Chunk]) -> None:
        """What the dedup layer does with the chunks of one version."""
        new = {number(one.id): one for one in chunks if number(one.id) not in self.held}
        if new:
            made = signatures([one.text for one in new.values()], self.settings, b"salt")
            self.parts += (segment(np.array(list(new), dtype=np.int64), made),)
        self.held |= {at: (one.id, one.text) for at, one in new.items()}
        made_links = link(chunks, self, self.settings)
        self.links |= {(one.a, one.b): one for one in made_links.found}
        kept = made_links.kept
        for a, b in list(self.links):
            left, right = number(a), number(b)
            if right not in kept.get(left, (right,)) or left not in kept.get(right, (left,)):
                del self.links[a, b]

    def rows(self, numbers: Array) -> Array:
        return rows_of(self.parts, numbers)

    def heads(self, rows: Array, first: int) -> Array:
        return heads(self.parts, rows, first)

    def members(self, bands: Array, values: Array) -> tuple[Array, Array]:
        return members(self.parts, bands, values)

    def texts(self, numbers: Iterable[int]) -> Mapping[int, tuple[str, str]]:
        return {at: self.held[at] for at in numbers if at in self.held}
