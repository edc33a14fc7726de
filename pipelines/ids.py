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
    return b"".join([_frame(part) for part in parts])


def _frame(part: str) -> bytes:
    encoded = part.encode("utf-8", "surrogatepass")
    return len(encoded).to_bytes(8, "big") + encoded


FIRST = _frame("0")


def document_id(salt: bytes, knowledge_base: str, source: str, uri: str, generation: int = 0) -> str:
    """Id of a document; `generation` tells apart a new document at the uri that a renamed one has left."""
    tail = (str(generation),) if generation else ()
    return digest(salt, "document", knowledge_base, source, uri, *tail)


def version_id(document: str, sha256: str, edition: int = 0) -> str:
    """Id of a version; `edition` counts from 0 how often the same content was processed anew."""
    tail = (str(edition),) if edition else ()
    return digest(b"version", document, sha256, *tail)


def chunk_ids(salt: bytes, document: str) -> Callable[[Iterable[str]], Callable[[str, int], str]]:
    """Names the chunks of a document: section path, then (text, how many of the section before it have the same text)
    to id. What ids have in common is hashed once."""
    start = hashlib.blake2b(_frame(document), key=salt[:64], digest_size=16)

    def of_section(path: Iterable[str]) -> Callable[[str, int], str]:
        section = start.copy()
        section.update(_frame("\x1f".join(path)))

        def id_of(text: str, equal: int) -> str:
            state = section.copy()
            state.update(_frame(text) + (_frame(str(equal)) if equal else FIRST))
            return state.hexdigest()

        return id_of

    return of_section


def number(chunk: str) -> int:
    """What an index of numbers calls a chunk: the first 60 bits of its id."""
    return int(chunk[:15], 16)
