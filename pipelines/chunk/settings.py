"""What a site may set for the chunk layer, each with its reason."""

from pydantic import Field

from schemas.base import Record


class ChunkSettings(Record):
    """Settings of chunk."""

    max_characters: int = Field(default=384, ge=50)
    """Best recall within a character budget on Chinese and English sets; a whole sentence may go a little beyond."""
    max_tokens: int = Field(default=490, ge=64)
    """Of text and context together: embedders cut at 512, and prefixes need some of that."""
    max_context: int = Field(default=100, ge=20)
    """Characters of title, section path and caption; longer ones lose their middle."""
    max_parent: int = Field(default=2000, ge=0)
    """Characters of the section kept beside a small chunk."""
