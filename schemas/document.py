"""What a parser makes of a file."""

from typing import Literal

from pydantic import Field

from schemas.base import Record

BlockKind = Literal["heading", "text", "list", "table", "figure", "code", "formula", "faq", "api", "footnote"]
Route = Literal["native", "fast", "rich", "ocr", "failed"]


class Box(Record):
    """A rectangle on a page as it is displayed, in points, origin top left."""

    x0: float
    y0: float
    x1: float
    y1: float


class PageBox(Record):
    """A place in a document that a reviewer can be shown."""

    page: int = Field(ge=1)
    box: Box


class Block(Record):
    """A parsed piece, in reading order."""

    kind: BlockKind
    text: str
    """Plain text; Markdown for tables."""
    page: int | None = None
    """1-based; sheet or slide number where the format has those."""
    box: Box | None = None
    level: int | None = None
    """Heading depth 1..6."""
    html: str | None = None
    """Tables: `<table>` with spans, text escaped, no attributes but rowspan and colspan."""
    caption: str | None = None
    hidden: str | None = None
    """Code of why a reader of the page would not see it (`hidden.white`, …): kept for review, never indexed."""
    engine: str = ""
    """Which tool read it."""
    confidence: float = 1.0
    artifact: str | None = None
    """Key of the image of a figure, or of a table whose reading is in doubt, in the artifact store."""
    below: str | None = None
    """Of a table whose reading is in doubt: the words of its place on the page, as text layer or OCR have them."""
    parts: tuple[PageBox, ...] = ()
    """All its places, for a table that goes on over several pages; `page` and `box` are the first."""

    def places(self) -> tuple[PageBox, ...]:
        """Where a reviewer finds it."""
        if self.parts or not (self.page and self.box):
            return self.parts
        return (PageBox(page=self.page, box=self.box),)


class PageVerdict(Record):
    """How a page was read, and how far that can be trusted."""

    page: int
    route: Route
    reason: str = ""
    code: str | None = None
    """Of the rejection of this page (`parse.page_failed`): no route could read it."""
    confidence: float = 1.0
    coverage: float = 1.0
    """Characters out against characters on the page, or against those that OCR saw."""
    warnings: tuple[str, ...] = ()
    width: float | None = None
    height: float | None = None


class Attachment(Record):
    """A file inside a file; becomes a child document."""

    name: str
    size: int
    key: str
    """Key of its bytes in the artifact store."""


class Document(Record):
    """One parsed file."""

    title: str
    media_type: str
    language: str = "und"
    """`zh`, `en` or `und`."""
    blocks: tuple[Block, ...] = ()
    pages: tuple[PageVerdict, ...] = ()
    furniture: tuple[str, ...] = ()
    """Headers, footers, page numbers and watermarks that were taken out, each once."""
    metadata: dict[str, str] = Field(default_factory=dict)
    dated: str | None = None
    """The document's own date, ISO 8601, where it states one."""
    encoding: str | None = None
    attachments: tuple[Attachment, ...] = ()
    ocr_pages: int = 0
