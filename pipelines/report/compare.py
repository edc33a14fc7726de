"""Two versions of a document, chunk by chunk."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pipelines.report.wording import Piece, marked
from pipelines.review.delta import REPLACED_SIMILARITY
from schemas.chunk import MaskedChunk

Kind = Literal["kept", "new", "replaced", "retired"]


@dataclass(frozen=True)
class ChunkChange:
    """`pieces` mark the words of a replaced chunk; for the others they are empty."""

    kind: Kind
    before: MaskedChunk | None
    after: MaskedChunk | None
    pieces: tuple[Piece, ...] = ()

    @property
    def chunk(self) -> MaskedChunk:
        """The one to show: the new, else the one that goes."""
        shown = self.after or self.before
        assert shown is not None
        return shown


def changes(before: Sequence[MaskedChunk], after: Sequence[MaskedChunk]) -> tuple[ChunkChange, ...]:
    """In the order of the new version; a chunk that goes stands where it stood. Counts as `review.delta.align`."""
    old = {one.id: one for one in before}
    pairs = _pairs(before, after)
    found: list[ChunkChange] = []
    taken = set(pairs.values())
    gone = [one for one in before if one.id not in taken]
    for one in after:
        partner = old.get(pairs.get(one.id, ""))
        while gone and partner is not None and gone[0].ordinal < partner.ordinal:
            found.append(ChunkChange("retired", gone.pop(0), None))
        found.append(_change(partner, one))
    return (*found, *(ChunkChange("retired", one, None) for one in gone))


def _change(before: MaskedChunk | None, after: MaskedChunk) -> ChunkChange:
    if before is None:
        return ChunkChange("new", None, after)
    if before.id == after.id and before.content_hash == after.content_hash:
        return ChunkChange("kept", before, after)
    return ChunkChange("replaced", before, after, marked(before.text, after.text))


def _pairs(before: Sequence[MaskedChunk], after: Sequence[MaskedChunk]) -> dict[str, str]:
    """Old chunk by new: the same id, else the most similar of those that are left."""
    from rapidfuzz import fuzz, process

    ids = {one.id for one in after}
    known = {one.id for one in before}
    vanished = {one.id: one.text for one in before if one.id not in ids}
    found = {one.id: one.id for one in after if one.id in known}
    for one in after:
        if one.id in known:
            continue
        best = process.extractOne(one.text, vanished, scorer=fuzz.ratio, score_cutoff=REPLACED_SIMILARITY)
        if best is not None:
            del vanished[best[2]]
            found[one.id] = best[2]
    return found
