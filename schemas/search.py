"""What a search gives back, with the trace that explains it."""

from typing import Literal

from schemas.base import Record


class Passage(Record):
    """A chunk that a reader may see at one release, as read from SQL."""

    id: str
    """Row id in the index."""
    chunk: str
    document: str
    version: str
    release: int
    source: str
    title: str
    uri: str
    section: tuple[str, ...] = ()
    page: int | None = None
    text: str
    context: str = ""
    html: str | None = None
    parent: str | None = None
    """Text of the enclosing section, where the chunk is short."""
    kind: str = "text"
    authority: int = 4
    """1 is the highest."""
    dated: int = 0
    """Days since 1970-01-01; 0 when unknown."""
    quality: float = 1.0
    duplicate_group: str | None = None


class Query(Record):
    """One wording of the question; `origin` says which step made it."""

    text: str
    origin: str
    dated_from: int | None = None
    dated_to: int | None = None
    sources: tuple[str, ...] = ()
    """Asked of these sources alone; empty: of all."""


class Contradiction(Record):
    """Another chunk says otherwise. `drop`: people decided for the other one, and the reader may see it."""

    other: str
    conflict: str
    action: Literal["drop", "note"]
    note: str = ""
    """Which one holds for whom, where a person said so."""


class Hit(Record):
    """One passage of the answer list, best first."""

    passage: Passage
    score: float
    contradicts: tuple[Contradiction, ...] = ()
    dense: float | None = None
    """Cosine; None where the route did not find it."""
    lexical: float | None = None
    """BM25; None where the passage shares no token with the question."""


class RouteTrace(Record):
    """What one route found for one query: row ids with raw scores, best first, only rows that the reader may see."""

    route: str
    query: str
    candidates: tuple[tuple[str, float], ...]


class SearchTrace(Record):
    """How the hits came about."""

    release: int
    queries: tuple[Query, ...]
    routes: tuple[RouteTrace, ...]
    fused: tuple[tuple[str, float], ...]
    reranked: tuple[tuple[str, float], ...] = ()
    """What the cross-encoder said, best first; empty without one."""
    failed: tuple[str, ...] = ()
    """Steps that were left out because their model failed, as `step: code: reason`."""
    seconds: dict[str, float]
    """Per step, wall time."""
    cached: bool = False
    """Remembered from an equal search at the same state; texts were read anew."""


class SearchResult(Record):
    """Hits, best first, and the trace."""

    hits: tuple[Hit, ...]
    trace: SearchTrace


class Citation(Record):
    """`[number]` in an answer and the passage that it stands for."""

    number: int
    passage: Passage
    quote: str


class Answer(Record):
    """`found` is False when the evidence is too thin: then there is no text and no citation."""

    found: bool
    text: str = ""
    citations: tuple[Citation, ...] = ()
    reason: str = ""
    """Why there is none; or why sentences were taken from the passages though a model was to write them."""
    evidence: float = 0.0
    """Of the best passage; see `pipelines/retrieve/evidence.py`."""
    prompt: str = ""
    """What a language model was given; empty without one."""
    tokens: int = 0
    """Of prompt and answer, estimated at two characters each."""
