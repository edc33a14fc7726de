"""From content, not from name, to the parser of a file."""

import importlib
import re
import zipfile
from pathlib import Path, PurePosixPath
from typing import cast

from pipelines.errors import Code, Rejected
from pipelines.parse.archive import check_archive
from pipelines.parse.formats import whole
from pipelines.parse.legacy import KINDS
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
    PPTX: "slides:parse_pptx",
    XLSX: "sheets:parse_xlsx",
    **dict.fromkeys(KINDS, "legacy:parse_legacy"),
    "application/epub+zip": "epub:parse_epub",
    "application/zip": "archive:parse_archive",
    "application/json": "records:parse_json",
    "application/x-ndjson": "records:parse_json_lines",
    "application/yaml": "records:parse_yaml",
    "application/xml": "xml:parse_xml",
    "application/vnd.ms-outlook": "mail:parse_msg",
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
    (b"{\\rtf", "application/rtf"),
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
    ".epub": "application/epub+zip",
    ".zip": "application/zip",
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
    ".ndjson": "application/x-ndjson",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".xml": "application/xml",
    ".msg": "application/vnd.ms-outlook",
    ".rtf": "application/rtf",
}

STREAMS = {
    "WordDocument": "application/msword",
    "Workbook": "application/vnd.ms-excel",
    "PowerPoint Document": "application/vnd.ms-powerpoint",
    "__substg1.0_": "application/vnd.ms-outlook",
}
MACROS = re.compile(r"(?:^|/)(?:vbaProject\.bin|macrosheets/)", re.I)
MARKERS = {"word/document.xml": DOCX, "ppt/presentation.xml": PPTX, "xl/workbook.xml": XLSX}

HTML_START = re.compile(rb"^\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html|head|body)\b", re.I | re.S)
XML_START = re.compile(rb"^(?:\xef\xbb\xbf)?\s*<\?xml\s")
JSON_START = re.compile(rb'^(?:\xef\xbb\xbf)?\s*(?:\{\s*"|\[\s*\{\s*")')
RECORDS = frozenset(("application/json", "application/x-ndjson", "application/yaml", "application/xml"))
TEXTS = RECORDS | {"text/csv", "text/markdown", "text/html", "message/rfc822"}
TEXT_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def parse_file(path: Path, *, name: str, ocr: Ocr | None, settings: ParseSettings) -> Document:
    """Parse one file. `name`: as the source calls it, for its extension and as a fallback title.

    Raises Rejected(PARSE_*) for a file that cannot be read as a whole.
    """
    media = sniff(path, name=name, settings=settings)
    module, function = PARSERS[media].split(":")
    if module == "pdf" and settings.engine == "pypdfium2":
        module = "permissive"
    parser = getattr(importlib.import_module(f"pipelines.parse.{module}"), function)
    if media in KINDS:
        return cast(Document, parser(path, name=name, media_type=media, settings=settings))
    if media in READS_PAGES:
        return cast(Document, parser(path, name=name, ocr=ocr, settings=settings))
    return cast(Document, parser(path, name=name, settings=settings))


def sniff(path: Path, *, name: str, settings: ParseSettings) -> str:
    """The media type of a file that we can parse; Rejected(PARSE_*) for all others."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    if not head:
        raise Rejected(Code.PARSE_EMPTY, "the file has no bytes")
    ending = PurePosixPath(name.lower()).suffix
    claimed = EXTENSIONS.get(ending)
    if not ending and JSON_START.match(head):
        claimed = "application/json"  # an address of an API has no ending
    media = _by_magic(head, claimed)
    if media == "application/zip":
        media = _archive_media(path, settings)
    if media == "application/x-ole-storage":
        media = _ole_media(path)
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
    if XML_START.match(head) and claimed in (None, "application/xml"):
        return "application/xml"
    return claimed if claimed in TEXTS else "text/plain"


def _is_binary(head: bytes) -> bool:
    """NUL bytes on even and on odd places alike, or many control characters: no text encoding looks like that."""
    if head.startswith(TEXT_BOMS):
        return False
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if even + odd:
        return min(even, odd) > 0.02 * len(head) or even + odd < 0.02 * len(head)
    controls = sum(byte < 32 and byte not in (9, 10, 12, 13, 27) for byte in head)
    return controls > 0.05 * len(head)


def _archive_media(path: Path, settings: ParseSettings) -> str:
    """What a zip is, by the names inside."""
    names = {member.filename for member in check_archive(path, settings)}
    if any(MACROS.search(name) for name in names):
        raise Rejected(Code.PARSE_MACROS, "the Office file carries macros: save it without them")
    if "mimetype" in names:  # EPUB and ODF say what they are in a member of this name
        with whole("archive"), zipfile.ZipFile(path) as archive, archive.open("mimetype") as file:
            return file.read(100).decode("ascii", "replace").strip()
    return next((media for marker, media in MARKERS.items() if marker in names), "application/zip")


def _ole_media(path: Path) -> str:
    """The kind of a compound file, by the names of its streams, which are UTF-16 (MS-CFB 2.6.1)."""
    data = path.read_bytes()
    # An encrypted .docx is an OLE file with a stream of this name (MS-OFFCRYPTO 2.3.4).
    if "EncryptedPackage".encode("utf-16-le") in data:
        raise Rejected(Code.PARSE_ENCRYPTED, "the Office file asks for a password")
    if "_VBA_PROJECT".encode("utf-16-le") in data:
        raise Rejected(Code.PARSE_MACROS, "the Office file carries macros: save it without them")
    found = (media for stream, media in STREAMS.items() if stream.encode("utf-16-le") in data)
    media = next(found, None)
    if media is None and _directory(data) >= len(data):
        raise Rejected(Code.PARSE_TRUNCATED, "the file is cut off: the list of what it holds is lost")
    if media is None:
        raise Rejected(Code.PARSE_UNSUPPORTED, "an OLE file of an unknown kind")
    return media


def _directory(data: bytes) -> int:
    """Where a compound file's list of streams begins (MS-CFB 2.2)."""
    if len(data) < 52:
        return len(data)
    sector = 1 << min(int.from_bytes(data[30:32], "little"), 16)
    return (int.from_bytes(data[48:52], "little") + 1) * sector


def _refuse_disguise(media: str, claimed: str | None) -> None:
    """A login page saved as `report.pdf` must not be indexed as the report."""
    if claimed is None or claimed.startswith(("text/", "message/")) or media == claimed:
        return
    if media.startswith("image/") and claimed.startswith("image/"):
        return
    if {media, claimed} <= RECORDS:
        return
    if media.startswith(("text/", "image/", "message/")) or claimed.startswith("image/"):
        raise Rejected(Code.PARSE_MISMATCH, f"the name says {claimed}, the content is {media}")
