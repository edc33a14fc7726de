"""What a change means chunk by chunk: kept, new, replaced (an edited chunk), retired."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import select

from pipelines.app import App
from pipelines.layers import load
from schemas.chunk import Masked, MaskedChunk
from sql import tables

REPLACED_SIMILARITY = 50.0
"""Percent of common characters (indel) from which a vanished and a new chunk count as one edited chunk."""


@dataclass(frozen=True)
class ChunkDelta:
    kept: int = 0
    new: int = 0
    replaced: int = 0
    retired: int = 0

    def counts(self) -> dict[str, int]:
        return {"kept": self.kept, "new": self.new, "replaced": self.replaced, "retired": self.retired}


def chunk_delta(app: App, changes: Iterable[tuple[str | None, str | None]]) -> ChunkDelta:
    """Over (version, previous version) pairs; None stands for nothing."""
    total: Counter[str] = Counter()
    for version, previous in changes:
        total.update(align(_chunks(app, previous), _chunks(app, version)))
    return ChunkDelta(kept=total["kept"], new=total["new"], replaced=total["replaced"], retired=total["retired"])


def _chunks(app: App, version: str | None) -> tuple[MaskedChunk, ...]:
    if version is None:
        return ()
    with app.database.read() as tx:
        key = tx.execute(select(tables.version.c.artifacts).where(tables.version.c.id == version)).scalar_one()["mask"]
    return load(app, key, Masked).chunks


def align(before: Sequence[MaskedChunk], after: Sequence[MaskedChunk]) -> dict[str, int]:
    """First by id, then each new chunk takes the most similar vanished one that is similar enough."""
    from rapidfuzz import fuzz, process

    old = {one.id: one for one in before}
    kept = [one for one in after if one.id in old and old[one.id].content_hash == one.content_hash]
    remasked = [one for one in after if one.id in old and old[one.id].content_hash != one.content_hash]
    fresh = [one for one in after if one.id not in old]
    ids = {one.id for one in after}
    vanished = {one.id: one.text for one in before if one.id not in ids}
    replaced = len(remasked)
    for one in fresh:
        best = process.extractOne(one.text, vanished, scorer=fuzz.ratio, score_cutoff=REPLACED_SIMILARITY)
        if best is not None:
            del vanished[best[2]]
            replaced += 1
    return {
        "kept": len(kept),
        "replaced": replaced,
        "new": len(after) - len(kept) - replaced,
        "retired": len(vanished),
    }
