"""Identifiers from content: the same input makes the same id on every run.

They are keyed with the knowledge base's salt, so that the id of a very short chunk (a lone telephone number)
cannot be turned back into its text by trying all numbers.
"""

import hashlib
from collections.abc import Iterable


def digest(salt: bytes, *parts: str, size: int = 16) -> str:
    """Hex of a keyed BLAKE2b over the parts, each prefixed by its length so that ("ab","c") differs from ("a","bc")."""
    state = hashlib.blake2b(key=salt[:64], digest_size=size)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "big"))
        state.update(data)
    return state.hexdigest()


def document_id(knowledge_base: str, source: str, uri: str, generation: int = 0) -> str:
    """Id of a document; `generation` tells apart a new document at the uri that a renamed one has left."""
    tail = (str(generation),) if generation else ()
    return digest(b"document", knowledge_base, source, uri, *tail)


def version_id(document: str, sha256: str) -> str:
    return digest(b"version", document, sha256)


def chunk_id(salt: bytes, document: str, section: Iterable[str], text: str, equal: int) -> str:
    """`equal` counts from 0 among chunks of one document with the same section and text."""
    return digest(salt, document, "\x1f".join(section), text, str(equal))
