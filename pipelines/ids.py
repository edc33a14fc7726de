"""Identifiers from content: the same input makes the same id on every run.

They are keyed with the knowledge base's salt, so that the id of a very short chunk (a lone telephone number)
cannot be turned back into its text by trying all numbers.
"""

import hashlib
from collections.abc import Callable, Iterable


def digest(salt: bytes, *parts: str, size: int = 16) -> str:
    """Hex of a keyed BLAKE2b over the parts, each prefixed by its length so that ("ab","c") differs from ("a","bc")."""
    return hashlib.blake2b(_framed(parts), key=salt[:64], digest_size=size).hexdigest()


def _framed(parts: Iterable[str]) -> bytes:
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    return b"".join([len(part).to_bytes(8, "big") + part for part in encoded])


def document_id(salt: bytes, knowledge_base: str, source: str, uri: str, generation: int = 0) -> str:
    """Id of a document; `generation` tells apart a new document at the uri that a renamed one has left."""
    tail = (str(generation),) if generation else ()
    return digest(salt, "document", knowledge_base, source, uri, *tail)


def version_id(document: str, sha256: str, edition: int = 0) -> str:
    """Id of a version; `edition` counts from 0 how often the same content was processed anew."""
    tail = (str(edition),) if edition else ()
    return digest(b"version", document, sha256, *tail)


def chunk_ids(salt: bytes, document: str, section: Iterable[str]) -> Callable[[str, int], str]:
    """Names the chunks of one section: (text, how many of the section before it have the same text) to id."""
    start = hashlib.blake2b(_framed((document, "\x1f".join(section))), key=salt[:64], digest_size=16)

    def id_of(text: str, equal: int) -> str:
        state = start.copy()
        state.update(_framed((text, str(equal))))
        return state.hexdigest()

    return id_of
