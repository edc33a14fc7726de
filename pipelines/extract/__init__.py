"""Keywords, entities and relations."""

from pipelines.extract.extract import extract_chunk

__all__ = ["extract_chunk"]
