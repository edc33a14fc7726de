"""Chunks, raw and masked. Only `pipelines/mask` builds a MaskedChunk; nothing else may leave the house."""

from typing import Literal

from schemas.base import Record
from schemas.document import Document, PageBox

MASKED = r"<[A-Z][A-Z_]{1,24}(?:_[A-Z2-7]{8})?>"
"""A regular expression of what stands in the place of a masked value."""
ChunkKind = Literal["text", "list", "table", "code", "faq", "api", "figure"]


class _Piece(Record):
    """What a chunk is on both sides of the mask."""

    id: str
    """Hex, 32 digits: keyed hash of document, section path, text and ordinal among equals."""
    ordinal: int
    """Position in the document, from 0."""
    kind: ChunkKind
    text: str
    """What is shown."""
    context: str = ""
    """Title, section path, caption: put before the text for the embedder and the lexical index, not shown."""
    section: tuple[str, ...] = ()
    page_start: int | None = None
    page_end: int | None = None
    boxes: tuple[PageBox, ...] = ()
    html: str | None = None
    parent: str | None = None
    """Text of the enclosing section where the chunk is short; None where the chunk is the section."""
    language: str = "und"
    artifact: str | None = None


class Chunk(_Piece):
    """A piece of a document before masking: stays in the raw zone."""


class Parsed(Record):
    """Output of the parse layer."""

    document: Document
    chunks: tuple[Chunk, ...]


class MaskedChunk(_Piece):
    """A chunk without raw personal data: the only kind that embedder, index, LLM and review accept. It is no subtype
    of `Chunk`, so that a type checker keeps the two apart."""

    content_hash: str
    """SHA-256 of what is shown and embedded (text, context, html): same hash, same row, same vector."""

    def embedded_text(self) -> str:
        """What the embedder and the lexical index read."""
        return f"{self.context}\n{self.text}" if self.context else self.text


class PiiFinding(Record):
    """How often a type was masked in a chunk; never the value."""

    chunk: str
    type: str
    count: int
    operator: str


class Masked(Record):
    """Output of the mask layer: everything about a version that may be shown."""

    title: str
    uri: str
    metadata: dict[str, str]
    language: str
    chunks: tuple[MaskedChunk, ...]
    findings: tuple[PiiFinding, ...]
