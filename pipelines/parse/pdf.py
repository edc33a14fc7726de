"""PDF files and page images: guards, then each page by its route, then what the whole file says."""

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from pipelines.errors import Code, Rejected
from pipelines.parse import furniture, progress, routes
from pipelines.parse.attached import attachments
from pipelines.parse.figures import without_repeated
from pipelines.parse.headings import bookmark_key
from pipelines.parse.joins import is_contents, join_tables
from pipelines.parse.lines import Line
from pipelines.parse.page import IMAGE_PIXEL_FACTOR, Page, judge, look
from pipelines.parse.settings import ParseSettings
from pipelines.parse.survey import survey
from pipelines.parse.trust import distrust
from pipelines.parse.watermark import strip_slanted
from pipelines.ports import Ocr
from schemas.document import Block, Document, PageVerdict

TAIL = 1024
"""Readers look for the end mark in the last bytes (PDF 1.7, annex H.3.4.4)."""


DAMAGED = "the file is damaged: pages or text may be missing"


def parse_pdf(path: Path, *, name: str, ocr: Ocr | None, settings: ParseSettings) -> Document:
    """Blocks in reading order, one verdict for each page.

    Raises Rejected(PARSE_EMPTY | PARSE_CORRUPT | PARSE_TRUNCATED | PARSE_ENCRYPTED | PARSE_XFA | PARSE_TOO_MANY_PAGES
    | PARSE_GARBLED | PARSE_NO_TEXT).
    """
    with _clean(path) as clean, _open(clean, "pdf") as pdf:
        guard(pdf, settings)
        _refuse_cut(pdf, clean)
        pages = [look(pdf, index) for index in range(pdf.page_count)]
        _refuse_placeholder(pdf, pages)
        with _upright(pdf, clean, pages) as (upright, kept, marks):
            if marks:
                pages = [look(upright, index) if page.slants else page for index, page in enumerate(pages)]
            document = _read(upright, kept, pages, "application/pdf", name, ocr, settings)
        document = document.model_copy(update={"attachments": attachments(pdf, settings)})
    return document.model_copy(update={"furniture": (*document.furniture, *marks)}) if marks else document


def parse_image(path: Path, *, name: str, ocr: Ocr | None, settings: ParseSettings) -> Document:
    """A picture of a page. Raises Rejected(PARSE_CORRUPT | PARSE_BOMB | PARSE_NO_TEXT)."""
    from PIL import Image, UnidentifiedImageError

    try:
        Image.MAX_IMAGE_PIXELS = None  # our own limit below answers with a code, Pillow's with a warning
        with Image.open(path) as image:
            media, pixels = Image.MIME.get(image.format or "", "image/png"), image.width * image.height
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        raise Rejected(Code.PARSE_CORRUPT, f"not a readable image: {error}") from error
    if pixels > IMAGE_PIXEL_FACTOR * settings.max_pixels:
        raise Rejected(Code.PARSE_BOMB, f"the image has {pixels} pixels")
    with _open(path, None) as pictures:
        pages = [look(pictures, index) for index in range(pictures.page_count)]
        return _read(pictures, path, pages, media, name, ocr, settings)


@contextlib.contextmanager
def open_clean(path: Path, media: str) -> Iterator[Any]:
    """A pymupdf document of a PDF or page image, as the parser reads it."""
    if media != "application/pdf":
        with _open(path, None) as pages:
            yield pages
        return
    with _clean(path) as clean, _open(clean, "pdf") as pdf:
        yield pdf


@contextlib.contextmanager
def _clean(path: Path) -> Iterator[Path]:
    """The file from its `%PDF-` on: junk before it shifts all offsets, and the repair of that loses font maps."""
    data = path.read_bytes()
    if not data:
        raise Rejected(Code.PARSE_EMPTY, "the file has no bytes")
    start = data.find(b"%PDF-")
    if start <= 0:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        clean = Path(folder) / "clean.pdf"
        clean.write_bytes(data[start:])
        yield clean


@contextlib.contextmanager
def _upright(pdf: Any, path: Path, pages: Sequence[Page]) -> Iterator[tuple[Any, Path, tuple[str, ...]]]:
    """The same file without slanted text, and that text; the file itself where there is none or it resists."""
    turned = [index for index, page in enumerate(pages) if page.slants]
    if not turned:
        yield pdf, path, ()
        return
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        target = Path(folder) / "upright.pdf"
        try:
            strip_slanted(path, target, turned)
            upright = stack.enter_context(_open(target, "pdf"))
        except Exception:  # damaged content streams raise anything: slanted lines are then left to the furniture rule
            yield pdf, path, ()
            return
        marks = (line.text for index in turned for line in pages[index].lines if line.slanted)
        yield upright, target, tuple(dict.fromkeys(marks))


def _as_png(path: Path) -> bytes | None:
    """What MuPDF cannot read (WebP), in a form that it can; None where it reads the file itself."""
    import io

    from PIL import Image

    with path.open("rb") as file:
        if file.read(12)[8:] != b"WEBP":
            return None
    made = io.BytesIO()
    with Image.open(path) as image:
        image.convert("RGB").save(made, "png", compress_level=1)
    return made.getvalue()


@contextlib.contextmanager
def _open(path: Path, kind: str | None) -> Iterator[Any]:
    import pymupdf

    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        again = None if kind else _as_png(path)
        pdf = pymupdf.open(stream=again, filetype="png") if again else pymupdf.open(path, filetype=kind)
    except (pymupdf.FileDataError, pymupdf.EmptyFileError, RuntimeError, ValueError) as error:
        raise Rejected(Code.PARSE_CORRUPT, f"the file cannot be opened: {error}") from error
    try:
        yield pdf
    finally:
        with contextlib.suppress(ValueError):
            pdf.close()


def guard(pdf: Any, settings: ParseSettings) -> None:
    if pdf.needs_pass:
        raise Rejected(Code.PARSE_ENCRYPTED, "the file asks for a password")
    if not pdf.is_pdf:
        raise Rejected(Code.PARSE_MISMATCH, "the content is not a PDF")
    try:
        count = pdf.page_count
    except Exception as error:  # damaged page trees raise anything
        raise Rejected(Code.PARSE_CORRUPT, f"the page tree cannot be read: {error}") from error
    if count == 0:
        raise Rejected(Code.PARSE_CORRUPT, "the file has no pages")
    if count > settings.max_pages:
        raise Rejected(Code.PARSE_TOO_MANY_PAGES, f"{count} pages, {settings.max_pages} are allowed")


def _read(
    pdf: Any, path: Path, pages: list[Page], media: str, name: str, ocr: Ocr | None, settings: ParseSettings
) -> Document:
    known = survey((page.lines, page.height) for page in pages)
    context = routes.Context(path, known.body, _bookmarks(pdf), settings)
    blocks: list[Block] = []
    verdicts: list[PageVerdict] = []
    removed: dict[str, None] = {}
    for index, page in enumerate(pages):
        taken: list[Line] = []
        kept: list[Line] = []
        for line in page.lines:
            furnished = not line.hidden and furniture.is_furniture(line, page.height, known.furniture)
            (taken if furnished else kept).append(line)
        read, verdict = judge(pdf, index, page, kept, ocr, context)
        removed.update(dict.fromkeys([*(line.text for line in taken if verdict.route != "ocr"), *read.furniture]))
        contents = is_contents(read.blocks)
        if contents:  # its entries lead to the places that answer, they do not answer themselves
            verdict = verdict.model_copy(update={"warnings": (*verdict.warnings, "table of contents: not indexed")})
        blocks.extend(block for block in read.blocks if block.hidden or not contents)
        verdicts.append(verdict)
        progress.finished(index + 1)
    scanned = {verdict.page: verdict.height or 0.0 for verdict in verdicts if verdict.route == "ocr"}
    if again := furniture.come_back(blocks, scanned):
        removed.update(dict.fromkeys(blocks[index].text for index in again))
        blocks = [block for index, block in enumerate(blocks) if index not in again]
    _refuse_empty(pdf, blocks, verdicts)
    if getattr(pdf, "is_repaired", False):
        verdicts[0] = verdicts[0].model_copy(update={"warnings": (*verdicts[0].warnings, DAMAGED)})
    return _document(pdf, media, name, join_tables(without_repeated(blocks), verdicts), verdicts, tuple(removed))


def _refuse_cut(pdf: Any, path: Path) -> None:
    """What is left of a file that was cut off would pass for the whole document: its lost pages look empty."""
    if not pdf.is_repaired:
        return
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - TAIL))
        whole = b"%%EOF" in file.read()
    lost = 0 if whole else sum(_is_lost(pdf, index) for index in range(pdf.page_count))
    if lost:
        raise Rejected(Code.PARSE_TRUNCATED, f"the file is cut off: {lost} of {pdf.page_count} pages are lost")


def _is_lost(pdf: Any, index: int) -> bool:
    try:
        return bool(pdf.xref_object(pdf.page_xref(index)) == "null")
    except Exception:  # the page tree names an object beyond the table
        return True


def _refuse_placeholder(pdf: Any, pages: Sequence[Page]) -> None:
    """A dynamic XFA form shows one page that says "Please wait…" to all but one reader."""
    text = " ".join(line.text for page in pages[:2] for line in page.lines).lower()
    if len(pages) <= 2 and "please wait" in text and b"/XFA" in _catalog(pdf):
        raise Rejected(Code.PARSE_XFA, "a dynamic XFA form: its pages hold only a placeholder")


def _catalog(pdf: Any) -> bytes:
    try:
        form = pdf.xref_get_key(pdf.pdf_catalog(), "AcroForm")
        if form[0] == "xref":
            return str(pdf.xref_object(int(form[1].split()[0]))).encode()
        return str(form[1]).encode()
    except Exception:  # a damaged catalogue has no form that we could show
        return b""


def _refuse_empty(pdf: Any, blocks: list[Block], verdicts: list[PageVerdict]) -> None:
    if any(block.text.strip() and not block.hidden for block in blocks):
        return
    if getattr(pdf, "is_repaired", False) and all(verdict.route != "ocr" for verdict in verdicts):
        raise Rejected(Code.PARSE_TRUNCATED, "the file is damaged or cut off, and what is left holds no text")
    reasons = sorted({verdict.reason for verdict in verdicts if verdict.reason})
    garbled = any(distrusted in reason for reason in reasons for distrusted in ("characters", "glyph", "vowels"))
    code = Code.PARSE_GARBLED if garbled else Code.PARSE_NO_TEXT
    raise Rejected(code, "no page holds readable text" + (f" ({'; '.join(reasons)[:300]})" if reasons else ""))


def _bookmarks(pdf: Any) -> dict[str, int]:
    try:
        return {bookmark_key(title): min(6, max(1, level)) for level, title, *_ in pdf.get_toc(simple=True) if title}
    except Exception:  # damaged outlines: headings are then found by their looks alone
        return {}


def _document(
    pdf: Any,
    media: str,
    name: str,
    blocks: list[Block],
    verdicts: list[PageVerdict],
    removed: tuple[str, ...],
) -> Document:
    facts = {
        key: value.strip() for key, value in (pdf.metadata or {}).items() if isinstance(value, str) and value.strip()
    }
    return Document(
        title=_title(facts.get("title", ""), blocks, name),
        media_type=media,
        language=_language(blocks),
        blocks=tuple(blocks),
        pages=tuple(verdicts),
        furniture=removed,
        metadata=facts,
        dated=_iso_date(facts.get("modDate") or facts.get("creationDate") or ""),
        ocr_pages=sum(verdict.route == "ocr" for verdict in verdicts),
    )


def _title(stated: str, blocks: list[Block], name: str) -> str:
    """The first page's top heading; what the file states is often the template's name, so it comes second."""
    first = [block for block in blocks if block.kind == "heading" and block.page == 1 and not block.hidden]
    if first:
        return min(first, key=lambda block: block.level or 6).text
    stem = PurePosixPath(name).stem
    return stated if len(stated) > 3 and not distrust(stated) and "untitled" not in stated.lower() else stem


def _language(blocks: list[Block]) -> str:
    text = "".join(block.text for block in blocks[:200])[:20_000]
    han = sum("\u4e00" <= character <= "\u9fff" for character in text)
    latin = sum(character.isascii() and character.isalpha() for character in text)
    if han + latin == 0:
        return "und"
    return "zh" if han > 0.2 * (han + latin / 4) else "en"


def _iso_date(stated: str) -> str | None:
    """`D:20240131…` (PDF 1.7, 7.9.4) as `2024-01-31`."""
    import datetime

    digits = stated.removeprefix("D:")[:8]
    try:
        return datetime.datetime.strptime(digits, "%Y%m%d").date().isoformat()
    except ValueError:
        return None
