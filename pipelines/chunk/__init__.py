"""From a document to the pieces that are embedded, shown and cited."""

from pipelines.chunk.chunk import chunk_document
from pipelines.chunk.settings import ChunkSettings

__all__ = ["ChunkSettings", "chunk_document"]
