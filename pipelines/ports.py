"""The seams to the outside.

Each adapter maps every driver error onto `pipelines.errors`; each port has a fake and one contract suite.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol, TypeVar

from pipelines.errors import Code
from schemas.base import Record
from schemas.chunk import MaskedChunk
from schemas.index import EmbedderDescription, IndexFilter, IndexHit, IndexRow, OcrLine, RowState
from schemas.source import SourceFile

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]

Reply = TypeVar("Reply", bound=Record)


class SourceReader(Protocol):
    """Lists and opens the files of one source."""

    @property
    def problems(self) -> Sequence[tuple[str, Code, str]]:
        """(uri, code, reason) of what the last listing could not take; complete once it has been iterated to its end.

        The uri of a folder ends in `/` and stands for everything below it.
        """
        ...

    def files(self) -> Iterator[SourceFile]:
        """All files, in no particular order, without opening any.

        Raises Misconfigured(SCAN_SOURCE_GONE | SCAN_SOURCE_DENIED | SCAN_BAD_LISTING) when the source as a whole cannot
        be listed, Transient(SCAN_SOURCE_DOWN) when it stopped answering. A listing that ends without is complete.
        """
        ...

    def open(self, uri: str) -> IO[bytes]:
        """Raises Rejected(SCAN_*) when this one file cannot be read, Transient(SCAN_SOURCE_DOWN) when none can."""
        ...


class ArtifactStore(Protocol):
    """Immutable, content-addressed files. Keys look like `facts/ab/abcdef….json`; a second put of a key is a no-op."""

    def put(self, key: str, data: bytes) -> None: ...

    def get(self, key: str) -> bytes:
        """Raises KeyError when it is not there, Transient(STORE_DOWN) when the store is not."""
        ...

    def exists(self, key: str) -> bool: ...

    def delete(self, keys: Iterable[str]) -> None: ...

    def keys(self, prefix: str) -> Iterator[str]: ...

    def local(self, key: str) -> AbstractContextManager[Path]:
        """The artifact as a local file for the length of the block (a download where the store is remote)."""
        ...

    def put_file(self, key: str, path: Path) -> None:
        """As `put`, from a local file, streamed."""
        ...


class Ocr(Protocol):
    """Reads a page image."""

    @property
    def name(self) -> str:
        """Engine and version; part of the parse fingerprint."""
        ...

    def read(self, image: Any) -> tuple[OcrLine, ...]:
        """`image`: numpy uint8 array, height x width x 3, RGB, upright. Lines in the engine's own order."""
        ...


class Embedder(Protocol):
    """Turns masked text into vectors. `embed` takes chunks, not strings: raw text has no way in."""

    @property
    def description(self) -> EmbedderDescription: ...

    def count_tokens(self, text: str) -> int:
        """As the model counts, special tokens included."""
        ...

    def embed(self, chunks: Sequence[MaskedChunk]) -> Any:
        """float32 array, len(chunks) x dimension, unit length. Raises Rejected(CHUNK_TOO_LONG) rather than truncate."""
        ...

    def embed_query(self, text: str) -> Any:
        """float32 array of `dimension`, unit length."""
        ...


class Reranker(Protocol):
    """Scores passages against a question with a cross-encoder."""

    @property
    def name(self) -> str: ...

    def score(self, question: str, passages: Sequence[str]) -> list[float]: ...


class LanguageModel(Protocol):
    """Asks a model for one record. Answers are cached by content and kept inside a budget."""

    @property
    def name(self) -> str: ...

    @property
    def calls(self) -> int:
        """Requests sent so far; what the cache answers is none."""
        ...

    def ask(self, task: str, instructions: str, text: str, reply: type[Reply]) -> Reply:
        """Raises Rejected(LLM_FAILED | LLM_BUDGET) when there is no usable answer, Transient when the server is away.

        `task` names the use ("extract", "rewrite", …) and is part of the cache key.
        """
        ...


class VisionModel(Protocol):
    """Asks a model for one record about a picture: a `LanguageModel` that sees, and the one port that takes what is
    not masked yet."""

    @property
    def name(self) -> str: ...

    @property
    def calls(self) -> int:
        """Requests sent so far; what the cache answers is none."""
        ...

    def look(self, task: str, instructions: str, text: str, image: bytes, reply: type[Reply]) -> Reply:
        """As `LanguageModel.ask`; `image`: PNG, part of the cache key."""
        ...


class VectorIndex(Protocol):
    """Candidates for a search. Derived from SQL; may be rebuilt from it at any time.

    Reads raise Transient(INDEX_GONE) when there is no such collection; only `ensure`, which writers call, makes one.
    """

    def ensure(self, collection: str, dimension: int) -> None:
        """Create the collection if it is missing, and load it. Doing it twice is harmless."""
        ...

    def upsert(self, collection: str, rows: Sequence[IndexRow]) -> None:
        """Replaces rows of the same id. Any number of rows; the adapter cuts batches."""
        ...

    def dense(self, collection: str, vector: Any, where: IndexFilter, limit: int) -> list[IndexHit]:
        """Best first, cosine similarity as score."""
        ...

    def lexical(self, collection: str, tokens: str, where: IndexFilter, limit: int) -> list[IndexHit]:
        """Best first, BM25 score; empty where the server has no sparse vectors. Only rows that share a token."""
        ...

    def states(self, collection: str, ids: Sequence[str] | None = None) -> Iterator[RowState]:
        """Every row that the index really holds (strong count first, then iterated until both agree); of `ids` only,
        where they are given. Strongly consistent."""
        ...

    def fetch(self, collection: str, ids: Sequence[str]) -> list[IndexRow]:
        """The rows of these ids with vectors, strongly consistent; missing ones are left out."""
        ...

    def delete(self, collection: str, ids: Sequence[str]) -> None: ...

    def flush(self, collection: str) -> None: ...

    def purge(self, collection: str) -> bool:
        """Make the server drop deleted rows from its files. False where it cannot: copy the collection instead."""
        ...

    def drop(self, collection: str) -> None: ...


class DuplicateCorpus(Protocol):
    """What the dedup layer asks about the living corpus. Chunks go by number (`pipelines.ids.number`), int64; a row
    holds a hash for each band (`pipelines.dedup.signature`), uint32."""

    def rows(self, numbers: "Array") -> "Array":
        """n numbers to n rows, as they were stored; zeros for those that are not there."""
        ...

    def heads(self, rows: "Array", first: int) -> "Array":
        """n rows of w hashes to n x w x first: who shares each hash, lowest first, then NOBODY."""
        ...

    def members(self, bands: "Array", values: "Array") -> tuple["Array", "Array"]:
        """All that share one of these hashes (bands, and values): which of them, ascending, and who, lowest first."""
        ...

    def texts(self, numbers: Sequence[int]) -> Mapping[int, tuple[str, str]]:
        """Chunk id and raw text by number; those that are gone are left out."""
        ...


Clock = Callable[[], float]
"""Seconds since the epoch."""
