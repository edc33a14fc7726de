"""What a site may set for the chunk layer, each with its reason."""

from schemas.base import Record


class ChunkSettings(Record):
    """Settings of chunk."""
