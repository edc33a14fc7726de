"""From content, not from name, to the parser of a file."""

import importlib
import re
import zipfile
from pathlib import Path, PurePosixPath
from typing import cast

from pipelines.errors import Code, Rejected
from pipelines.parse.settings import ParseSettings
from pipelines.ports import Ocr
from schemas.document import Document

HEAD = 16_384
OFFICE = "application/vnd.openxmlformats-officedocument."
DOCX = OFFICE + "wordprocessingml.document"
PPTX = OFFICE + "presentationml.presentation"
XLSX = OFFICE + "spreadsheetml.sheet"

PARSERS = {
    "application/pdf": "pdf:parse_pdf",
    "image/png": "pdf:parse_image",
    "image/jpeg": "pdf:parse_image",
    "image/tiff": "pdf:parse_image",
    "image/bmp": "pdf:parse_image",
    "image/webp": "pdf:parse_image",
    DOCX: "office:parse_docx",
    PPTX: "office:parse_pptx",
    XLSX: "sheets:parse_xlsx",
    "text/csv": "sheets:parse_csv",
    "text/html": "html:parse_html",
    "text/markdown": "markdown:parse_markdown",
    "message/rfc822": "mail:parse_eml",
    "text/plain": "text:parse_text",
}
"""Media type to `module:function` of this package, imported on first use."""

READS_PAGES = frozenset(media for media, parser in PARSERS.items() if parser.startswith("pdf:"))

MAGIC = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"BM", "image/bmp"),
    (b"PK\x03\x04", "application/zip"),
    (b"PK\x05\x06", "application/zip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (b"\x1f\x8b", "application/gzip"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"GIF8", "image/gif"),
    (b"\x7fELF", "application/x-executable"),
    (b"MZ\x90", "application/x-executable"),
    (b"SQLite format 3\x00", "application/vnd.sqlite3"),
)

EXTENSIONS = {
    ".pdf": "application/pdf",
    ".docx": DOCX,
    ".pptx": PPTX,
    ".xlsx": XLSX,
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".csv": "text/csv",
    ".tsv": "text/csv",
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".mdx": "text/markdown",
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "text/html",
    ".eml": "message/rfc822",
}

MARKERS = {"word/document.xml": DOCX, "ppt/presentation.xml": PPTX, "xl/workbook.xml": XLSX}

HTML_START = re.compile(rb"^\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html|head|body)\b", re.I | re.S)
TEXT_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def parse_file(path: Path, *, name: str, ocr: Ocr | None, settings: ParseSettings) -> Document:
    """Parse one file. `name`: as the source calls it, for its extension and as a fallback title.

    Raises Rejected(PARSE_*) for a file that cannot be read as a whole.
    """
    media = sniff(path, name=name, settings=settings)
    module, function = PARSERS[media].split(":")
    parser = getattr(importlib.import_module(f"pipelines.parse.{module}"), function)
    if media in READS_PAGES:
        return cast(Document, parser(path, name=name, ocr=ocr, settings=settings))
    return cast(Document, parser(path, name=name, settings=settings))


def sniff(path: Path, *, name: str, settings: ParseSettings) -> str:
    """The media type of a file that we can parse; Rejected(PARSE_*) for all others."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    if not head:
        raise Rejected(Code.PARSE_EMPTY, "the file has no bytes")
    claimed = EXTENSIONS.get(PurePosixPath(name.lower()).suffix)
    media = _by_magic(head, claimed)
    if media == "application/zip":
        media = _office_media(path, settings)
    if media == "application/x-ole-storage":
        raise _legacy(path)
    if media is None:
        media = _by_text(head, claimed)
    _refuse_disguise(media, claimed)
    if media not in PARSERS:
        raise Rejected(Code.PARSE_UNSUPPORTED, f"no parser for {media}")
    return media


def _by_magic(head: bytes, claimed: str | None) -> str | None:
    for magic, media in MAGIC:
        if head.startswith(magic) and not (magic == b"BM" and claimed in (None, "text/plain")):
            return media
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    # Readers accept junk before the header (PDF 1.7, annex H.3.4.1); mail gateways and CGI scripts put it there.
    if b"%PDF-" in (head if claimed == "application/pdf" else head[:1024]) and not HTML_START.match(head):
        return "application/pdf"
    return None


def _by_text(head: bytes, claimed: str | None) -> str:
    if _is_binary(head):
        if claimed == "application/pdf":
            raise Rejected(Code.PARSE_CORRUPT, "no PDF header")
        raise Rejected(Code.PARSE_BINARY, "the content is neither text nor a known format")
    if HTML_START.match(head.lstrip(b"\xef\xbb\xbf")):
        return "text/html"
    return claimed if claimed in ("text/csv", "text/markdown", "text/html", "message/rfc822") else "text/plain"


def _is_binary(head: bytes) -> bool:
    """NUL bytes on even and on odd places alike, or many control characters: no text encoding looks like that."""
    if head.startswith(TEXT_BOMS):
        return False
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if even + odd:
        return min(even, odd) > 0.02 * len(head) or even + odd < 0.02 * len(head)
    controls = sum(byte < 32 and byte not in (9, 10, 12, 13, 27) for byte in head)
    return controls > 0.05 * len(head)


def _office_media(path: Path, settings: ParseSettings) -> str:
    """Look into the archive's directory only; nothing is unpacked."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        raise Rejected(Code.PARSE_CORRUPT, f"the archive's directory cannot be read: {error}") from error
    unpacked = sum(member.file_size for member in members)
    packed = max(1, sum(member.compress_size for member in members))
    megabytes = unpacked / 2**20
    if megabytes > settings.max_unpacked_mb or (megabytes > 50 and unpacked / packed > settings.max_ratio):
        raise Rejected(
            Code.PARSE_BOMB, f"the archive unpacks to {megabytes:.0f} MB, {unpacked // packed} times its size"
        )
    for member in members:
        parts = member.filename.replace("\\", "/").split("/")
        if ".." in parts or parts[0] == "" or parts[0].endswith(":"):
            raise Rejected(Code.PARSE_TRAVERSAL, "an archive member points outside its folder")
        if member.flag_bits & 1:
            raise Rejected(Code.PARSE_ENCRYPTED, "the archive asks for a password")
    names = {member.filename for member in members}
    return next((media for marker, media in MARKERS.items() if marker in names), "application/zip")


def _legacy(path: Path) -> Rejected:
    # An encrypted .docx is an OLE file with a stream of this name (MS-OFFCRYPTO 2.3.4); names are UTF-16.
    if "EncryptedPackage".encode("utf-16-le") in path.read_bytes():
        return Rejected(Code.PARSE_ENCRYPTED, "the Office file asks for a password")
    return Rejected(Code.PARSE_LEGACY, "a legacy Office file (.doc, .xls, .ppt): save it in a current format")


def _refuse_disguise(media: str, claimed: str | None) -> None:
    """A login page saved as `report.pdf` must not be indexed as the report."""
    if claimed is None or claimed.startswith(("text/", "message/")) or media == claimed:
        return
    if media.startswith("image/") and claimed.startswith("image/"):
        return
    if media.startswith(("text/", "image/", "message/")) or claimed.startswith("image/"):
        raise Rejected(Code.PARSE_MISMATCH, f"the name says {claimed}, the content is {media}")
