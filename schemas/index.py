"""What goes into the vector index and what comes out."""

from pydantic import Field

from schemas.base import Record

FOREVER = 2**62
"""`died` of a row that is alive."""


class EmbedderDescription(Record):
    """All that must agree between the vectors of a collection and a query."""

    name: str
    dimension: int
    max_tokens: int
    query_prefix: str = ""
    passage_prefix: str = ""
    normalised: bool = True
    fingerprint: str
    """Hex, 12 digits: of weights, prefixes, pooling and normalisation. Part of the collection's name."""


class IndexRow(Record):
    """One chunk in one interval of releases."""

    id: str
    """`<chunk id>@<born>`, never used twice."""
    born: int
    died: int = FOREVER
    document: str
    source: str
    authority: int = Field(ge=1, le=4)
    kind: str
    language: str
    dated: int
    """Days since 1970-01-01 of the document's date; 0 when unknown."""
    acl: int
    """Number of the access set in SQL."""
    lexical: str
    """Space-separated tokens for BM25."""
    vector: tuple[float, ...]


class RowState(Record):
    """What the index says about a row, for reconciliation."""

    id: str
    born: int
    died: int
    acl: int


class IndexHit(Record):
    """A candidate; SQL decides whether a reader may see it."""

    id: str
    score: float


class IndexFilter(Record):
    """Pushed into the index query. Empty tuples mean no restriction, except `acl`: nothing readable, no hits."""

    release: int
    acl: tuple[int, ...]
    sources: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    dated_from: int | None = None
    dated_to: int | None = None
    not_documents: tuple[str, ...] = ()
    """Deny list, while it is short enough to push down."""
    also_ids: tuple[str, ...] = ()
    """Preview: rows that are shown though the release number alone would not."""
    not_ids: tuple[str, ...] = ()


class OcrLine(Record):
    """One line that OCR read: text, quadrilateral in pixels (x0,y0 … x3,y3 clockwise from top left), confidence."""

    text: str
    quad: tuple[float, float, float, float, float, float, float, float]
    confidence: float
