"""What a site may set for the parse layer, each with its reason."""

from typing import Literal

from pydantic import Field

from schemas.base import Record


class ParseSettings(Record):
    """Settings of parse."""

    engine: Literal["pymupdf", "pypdfium2"] = "pymupdf"
    """Reader of PDF files and images. pypdfium2: no AGPL code is loaded, tables and layout are less exact."""
    render_dpi: int = Field(default=150, ge=72, le=600)
    """Resolution for OCR: 150 reads Chinese as well as 200 does, at half the cost."""
    max_pixels: int = Field(default=40_000_000, ge=1_000_000)
    """No image is rendered or decoded above this: a small file can ask for 10^10 pixels."""
    max_pages: int = Field(default=5000, ge=1)
    """A file with more pages is rejected as a whole rather than cut."""
    timeout: float = Field(default=900, gt=0)
    """Seconds of work for one file, after which its process is killed."""
    page_timeout: float = Field(default=60, gt=0)
    """Seconds of work without a finished page, after which the process is killed."""
    memory_mb: int = Field(default=2048, ge=64)
    """Address space for one file above what the process needs for itself."""
    max_line_characters: int = Field(default=1_000_000, ge=1000)
    """A longer line is data, not text that people write."""
    max_unpacked_mb: int = Field(default=1024, ge=1)
    """Sum of an archive's members: beyond it the archive is a bomb."""
    max_ratio: int = Field(default=200, ge=10)
    """Unpacked against packed size; only judged above 50 MB, for small XML packs well."""
    archives: Literal["reject", "members"] = "reject"
    """`members`: each file in a zip becomes a child document."""
    max_attachments: int = Field(default=1000, ge=1)
    """Files inside one file."""
    max_attachment_mb: int = Field(default=100, ge=1)
    """Size of one of them."""
    trusted_confidence: float = Field(default=0.5, ge=0, le=1)
    """OCR lines below this are dropped: they are specks and stamps."""


class OcrFactory(Record):
    """How the parser process makes its own OCR engine; a name, so that the layer imports no adapter."""

    factory: str = "pipelines.adapters.rapidocr:RapidOcr"
    """`module:callable`."""
    arguments: dict[str, str | int] = Field(default_factory=dict)
