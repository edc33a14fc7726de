"""PDF files and page images: guards, then a route for each page, with a verdict for each."""

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from pipelines.errors import Code, Rejected
from pipelines.parse import furniture, progress, routes, scans
from pipelines.parse.headings import body_size, bookmark_key
from pipelines.parse.hints import needs_layout
from pipelines.parse.lines import Line, page_lines
from pipelines.parse.paragraphs import to_box
from pipelines.parse.settings import ParseSettings
from pipelines.parse.trust import distrust
from pipelines.parse.watermark import strip_slanted
from pipelines.ports import Ocr
from schemas.document import Block, Document, PageVerdict

SCAN_AREA = 0.5
"""An image over more of the page than this is the page."""
IMAGE_PIXEL_FACTOR = 4
"""Embedded images may hold this many times the cap on rendering: they are scaled down on the way."""


@dataclass(frozen=True)
class _Page:
    """A page before it is routed."""

    lines: tuple[Line, ...]
    width: float
    height: float
    error: str = ""


def parse_pdf(path: Path, *, name: str, ocr: Ocr | None, settings: ParseSettings) -> Document:
    """Blocks in reading order, one verdict for each page.

    Raises Rejected(PARSE_EMPTY | PARSE_CORRUPT | PARSE_TRUNCATED | PARSE_ENCRYPTED | PARSE_XFA | PARSE_TOO_MANY_PAGES
    | PARSE_GARBLED | PARSE_NO_TEXT).
    """
    with _clean(path) as clean, _open(clean, "pdf") as pdf:
        guard(pdf, settings)
        with _upright(pdf, clean) as (upright, kept, marks):
            document = _read(upright, kept, "application/pdf", name, ocr, settings)
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
    with _open(path, None) as pages:
        return _read(pages, path, media, name, ocr, settings)


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
def _upright(pdf: Any, path: Path) -> Iterator[tuple[Any, Path, tuple[str, ...]]]:
    """The same file without slanted text, and that text; the file itself where there is none or it resists."""
    slanted = {
        index: [line.text for line in _lines(pdf, index).lines if line.slanted] for index in range(pdf.page_count)
    }
    pages = [index for index, texts in slanted.items() if texts]
    if not pages:
        yield pdf, path, ()
        return
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        target = Path(folder) / "upright.pdf"
        try:
            strip_slanted(path, target, pages)
            upright = stack.enter_context(_open(target, "pdf"))
        except Exception:  # damaged content streams raise anything: slanted lines are then left to the furniture rule
            yield pdf, path, ()
            return
        yield upright, target, tuple(dict.fromkeys(text for texts in slanted.values() for text in texts))


@contextlib.contextmanager
def _open(path: Path, kind: str | None) -> Iterator[Any]:
    import pymupdf

    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        pdf = pymupdf.open(path, filetype=kind) if kind else pymupdf.open(path)
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


def _read(pdf: Any, path: Path, media: str, name: str, ocr: Ocr | None, settings: ParseSettings) -> Document:
    pages = [_lines(pdf, index) for index in range(pdf.page_count)]
    if media == "application/pdf":
        _refuse_placeholder(pdf, pages)
    visible = [line for page in pages for line in page.lines if not line.hidden]
    bookmarks = _bookmarks(pdf)
    context = routes.Context(path, body_size(visible), bookmarks, settings)
    known = furniture.repeated([(page.lines, page.height) for page in pages])
    blocks: list[Block] = []
    verdicts: list[PageVerdict] = []
    removed: dict[str, None] = {}
    for index, page in enumerate(pages):
        taken = [line for line in page.lines if furniture.is_furniture(line, page.height, known) and not line.hidden]
        kept = [line for line in page.lines if line not in taken]
        read, verdict = _page(pdf, index, page, kept, ocr, context)
        removed.update(dict.fromkeys([*(line.text for line in taken if verdict.route != "ocr"), *read.furniture]))
        blocks.extend(read.blocks)
        verdicts.append(verdict)
        progress.finished(index + 1)
    _refuse_empty(pdf, blocks, verdicts)
    return _document(pdf, media, name, blocks, verdicts, tuple(removed))


def _lines(pdf: Any, index: int) -> _Page:
    try:
        page = pdf.load_page(index)
        lines = tuple(page_lines(page))
        return _Page(lines, page.rect.width, page.rect.height)
    except Exception as error:  # one damaged page must not take the others with it
        return _Page((), 0.0, 0.0, f"{type(error).__name__}: {error}"[:200])


def _page(
    pdf: Any, index: int, page: _Page, lines: list[Line], ocr: Ocr | None, context: routes.Context
) -> tuple[routes.Read, PageVerdict]:
    number = index + 1
    if page.error:
        return routes.Read(()), PageVerdict(page=number, route="failed", reason=page.error, confidence=0, coverage=0)
    loaded = pdf.load_page(index)
    scan = _is_scan(loaded)
    shown, hidden = _visible(lines, scan)
    text = "\n".join(line.text for line in shown)
    doubt = distrust(text)
    try:
        if doubt or (not shown and _has_content(loaded)) or (scan and len(text) < 100):
            route, read, reason = "ocr", *_by_ocr(loaded, number, ocr, context, doubt or "no text layer")
        elif why := needs_layout(loaded, shown):
            route, read, reason = "rich", routes.rich(loaded, shown, number, context), why
        else:
            route, read, reason = "fast", routes.fast(shown, number, context), ""
    except MemoryError:
        raise
    except Exception as error:  # the layout model and damaged images raise anything; the plain lines are still there
        warning = f"{type(error).__name__}: {error}"[:200]
        usable = bool(shown) and not doubt
        plain = routes.fast(shown, number, context) if usable else routes.Read(())
        route, reason = ("fast" if usable else "failed"), warning
        read = routes.Read(plain.blocks, warnings=(warning,), confidence=0.8 if usable else 0.0)
    marked = tuple(_hidden_block(line, number) for line in hidden)
    coverage = 1.0 if route == "ocr" else _coverage(shown, read)
    warnings = (
        read.warnings if coverage >= 0.98 or route == "failed" else (*read.warnings, "text of the page is missing")
    )
    verdict = PageVerdict(
        page=number,
        route=route,
        reason=reason,
        confidence=read.confidence,
        coverage=coverage,
        warnings=warnings,
        width=page.width,
        height=page.height,
    )
    return routes.Read((*read.blocks, *marked), read.furniture), verdict


def _by_ocr(page: Any, number: int, ocr: Ocr | None, context: routes.Context, reason: str) -> tuple[routes.Read, str]:
    """Raises ValueError, which makes the page a failed one."""
    if ocr is None:
        raise ValueError(f"{reason}, and OCR is off")
    largest = max((image["width"] * image["height"] for image in page.get_image_info()), default=0)
    if largest > IMAGE_PIXEL_FACTOR * context.settings.max_pixels:
        raise ValueError(f"an image of {largest} pixels is not unpacked")
    return scans.ocr(page, number, ocr, context), reason


def _visible(lines: list[Line], scan: bool) -> tuple[list[Line], list[Line]]:
    """Shown and hidden lines. Invisible text over a scan is its OCR layer: what a reader sees."""
    layer = scan and all(line.hidden == Code.HIDDEN_INVISIBLE for line in lines if line.hidden)
    if layer:
        return lines, []
    return [line for line in lines if not line.hidden], [line for line in lines if line.hidden]


def _is_scan(page: Any) -> bool:
    area = abs(page.rect) or 1.0
    return any(abs(page.rect & image["bbox"]) > SCAN_AREA * area for image in _images(page))


def _images(page: Any) -> list[Any]:
    import pymupdf

    return [{**image, "bbox": pymupdf.Rect(image["bbox"]) * page.rotation_matrix} for image in page.get_image_info()]


def _has_content(page: Any) -> bool:
    return bool(page.get_image_info()) or bool(page.get_drawings())


def _hidden_block(line: Line, number: int) -> Block:
    hidden = line.hidden.value if line.hidden else None
    return Block(kind="text", text=line.text, page=number, box=to_box(line.box), hidden=hidden, engine="pymupdf")


def _coverage(shown: list[Line], read: routes.Read) -> float:
    """Characters of the page that are in the blocks or were taken for furniture; tables count by their page text."""
    wanted = sum(len("".join(line.text.split())) for line in shown)
    if not wanted:
        return 1.0
    found = sum(len("".join(text.split())) for text in read.furniture)
    found += sum(len("".join(block.text.split())) for block in read.blocks)
    return round(min(1.0, found / wanted), 3)


def _refuse_placeholder(pdf: Any, pages: list[_Page]) -> None:
    """A dynamic XFA form shows one page that says "Please wait…" to all but one reader."""
    text = " ".join(line.text for page in pages for line in page.lines).lower()
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
    text = "".join(block.text for block in blocks[:200])
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
