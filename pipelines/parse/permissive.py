"""PDF files and page images without PyMuPDF: pypdfium2 for text, XY-cut for order, camelot and pdfplumber for tables.

Less exact than the default on tables (about .85 against .95 TEDS), and without its layout model.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipelines.errors import Code, Rejected
from pipelines.parse import furniture, pdf, pdfium, progress, routes
from pipelines.parse.headings import bookmark_key
from pipelines.parse.lines import Line, ocr_lines
from pipelines.parse.order import reading_order
from pipelines.parse.paragraphs import to_box
from pipelines.parse.plain_tables import find_tables, wants_tables
from pipelines.parse.settings import ParseSettings
from pipelines.parse.survey import survey
from pipelines.parse.trust import distrust
from pipelines.ports import Ocr
from schemas.document import Block, Document, PageVerdict

ENGINE = "pypdfium2"
SCAN_AREA = 0.5
IMAGE_PIXEL_FACTOR = 4
"""Images may hold this many times the cap on rendering."""


class Facts:
    """What `pdf` asks of a file when all pages have been read."""

    def __init__(self, metadata: dict[str, str]) -> None:
        self.metadata = metadata


def parse_pdf(path: Path, *, name: str, ocr: Ocr | None, settings: ParseSettings) -> Document:
    """As `pdf.parse_pdf`, with the same codes but PARSE_TRUNCATED."""
    with pdfium.opened(path) as file:
        count = len(file)
        if count == 0:
            raise Rejected(Code.PARSE_CORRUPT, "the file has no pages")
        if count > settings.max_pages:
            raise Rejected(Code.PARSE_TOO_MANY_PAGES, f"{count} pages, {settings.max_pages} are allowed")
        read = [_lines(file, index) for index in range(count)]
        _refuse_xfa(file, [line for lines, _, _ in read for line in lines])
        known = survey((lines, height) for lines, height, _ in read)
        context = routes.Context(path, known.body, _bookmarks(file), settings)
        blocks: list[Block] = []
        verdicts: list[PageVerdict] = []
        removed: dict[str, None] = {}
        for index, (lines, height, error) in enumerate(read):
            gone = {line for line in lines if not line.hidden and _is_furniture(line, height, known.furniture)}
            made, verdict = _page(file, index, [line for line in lines if line not in gone], error, ocr, context)
            removed.update(dict.fromkeys(line.text for line in lines if line in gone and verdict.route != "ocr"))
            blocks += made
            verdicts.append(verdict)
            progress.finished(index + 1)
        facts = Facts({key[0].lower() + key[1:]: value for key, value in file.get_metadata_dict().items()})
    pdf._refuse_empty(facts, blocks, verdicts)
    return pdf._document(facts, "application/pdf", name, blocks, verdicts, tuple(removed))


def parse_image(path: Path, *, name: str, ocr: Ocr | None, settings: ParseSettings) -> Document:
    """A picture, or several in one TIFF. Raises Rejected(PARSE_CORRUPT | PARSE_BOMB | PARSE_NO_TEXT)."""
    import numpy as np
    from PIL import Image, ImageSequence, UnidentifiedImageError

    blocks: list[Block] = []
    verdicts: list[PageVerdict] = []
    context = routes.Context(path, 0.0, {}, settings)
    try:
        Image.MAX_IMAGE_PIXELS = None  # our own limit answers with a code, Pillow's with a warning
        with Image.open(path) as image:
            media = Image.MIME.get(image.format or "", "image/png")
            for number, frame in enumerate(ImageSequence.Iterator(image), start=1):
                pixels = frame.width * frame.height
                if pixels > IMAGE_PIXEL_FACTOR * settings.max_pixels:
                    raise Rejected(Code.PARSE_BOMB, f"the image has {pixels} pixels")
                made, verdict = _by_ocr(np.asarray(frame.convert("RGB")), number, 1.0, ocr, context, "an image")
                blocks += made
                verdicts.append(verdict)
                progress.finished(number)
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        raise Rejected(Code.PARSE_CORRUPT, f"not a readable image: {error}") from error
    facts = Facts({})
    pdf._refuse_empty(facts, blocks, verdicts)
    return pdf._document(facts, media, name, blocks, verdicts, ())


def _lines(file: Any, index: int) -> tuple[list[Line], float, str]:
    """Lines, height of the page, and what went wrong."""
    try:
        page = file[index]
    except Exception as error:  # one damaged page must not take the others with it
        return [], 0.0, f"{type(error).__name__}: {error}"[:200]
    try:
        return pdfium.lines_of(page), page.get_height(), ""
    except Exception as error:
        return [], page.get_height(), f"{type(error).__name__}: {error}"[:200]
    finally:
        page.close()


def _is_furniture(line: Line, height: float, known: frozenset[furniture.Key]) -> bool:
    return line.slanted or furniture.is_furniture(line, height, known)


def _page(
    file: Any, index: int, lines: list[Line], error: str, ocr: Ocr | None, context: routes.Context
) -> tuple[list[Block], PageVerdict]:
    number = index + 1
    if error:
        return [], routes.failed(number, error)
    page = file[index]
    try:
        scan = pdfium.image_area(page) > SCAN_AREA
        layer = scan and all(line.hidden == Code.HIDDEN_INVISIBLE for line in lines if line.hidden)
        shown = lines if layer else [line for line in lines if not line.hidden]
        text = "\n".join(line.text for line in shown)
        doubt = distrust(text)
        width, height = page.get_size()
        if doubt or (scan and len(text) < 100) or (not shown and pdfium.has_drawings(page)):
            settings = context.settings
            pixels = width * height * (settings.render_dpi / 72) ** 2
            dpi = settings.render_dpi * min(1.0, (settings.max_pixels / max(pixels, 1)) ** 0.5)
            image = pdfium.picture(page, dpi)
            return _by_ocr(image, number, 72 / dpi, ocr, context, doubt or "no text layer")
        turned = bool(page.get_rotation())
    finally:
        page.close()
    blocks, why = _native(shown, number, context, turned)
    hidden = [] if layer else [line for line in lines if line.hidden]
    blocks += [
        Block(kind="text", text=one.text, page=number, box=to_box(one.box), hidden=one.hidden, engine=ENGINE)
        for one in hidden
    ]
    route = "rich" if why else "fast"
    coverage = _coverage(shown, blocks)
    warnings = () if coverage >= 0.98 else ("text of the page is missing",)
    return blocks, PageVerdict(
        page=number, route=route, reason=why, coverage=coverage, warnings=warnings, width=width, height=height
    )


def _native(lines: Sequence[Line], number: int, context: routes.Context, turned: bool) -> tuple[list[Block], str]:
    """Blocks in reading order, and why tables were looked for."""
    why = "" if turned else wants_tables(context.path, number, lines)
    tables = find_tables(context.path, number, lines) if why else []
    loose = [line for line in lines if not any(table.covers(line) for table in tables)]
    blocks = [*routes.fast(loose, number, context, ENGINE).blocks, *(table.block(number) for table in tables)]
    boxes = [(b.box.x0, b.box.y0, b.box.x1, b.box.y1) if b.box else (0.0, 0.0, 0.0, 0.0) for b in blocks]
    # Paragraphs are in order already; only tables have to find their place among them.
    order = reading_order(boxes, context.body or None) if tables else range(len(blocks))
    return [blocks[at] for at in order], why


def _by_ocr(
    image: Any, number: int, scale: float, ocr: Ocr | None, context: routes.Context, reason: str
) -> tuple[list[Block], PageVerdict]:
    if ocr is None:
        return [], routes.failed(number, f"{reason}, and OCR is off")
    try:
        lines = _upright(image, ocr, scale, context.settings.trusted_confidence)
    except MemoryError:
        raise
    except Exception as error:  # a damaged image is a verdict on this page
        return [], routes.failed(number, f"{type(error).__name__}: {error}"[:200])
    weight = sum(len(line.text) for line in lines)
    confidence = sum(line.confidence * len(line.text) for line in lines) / weight if weight else 0.0
    body = sorted(line.size for line in lines)[len(lines) // 2] if lines else 0.0
    own = routes.Context(context.path, body * 1.25, context.bookmarks, context.settings)
    height, width = (side * scale for side in image.shape[:2])
    verdict = PageVerdict(
        page=number, route="ocr", reason=reason, confidence=round(confidence, 3), width=width, height=height
    )
    return list(routes.fast(lines, number, own, ocr.name).blocks), verdict


def _upright(image: Any, reader: Ocr, scale: float, least: float) -> list[Line]:
    """Lines of the image as it stands, or of its better quarter turn where most lines stand on end."""
    import numpy as np

    lines = ocr_lines(reader.read(image), scale, least)
    long = [line for line in lines if len(line.text) > 2]
    on_end = sum(line.box[3] - line.box[1] > 1.5 * (line.box[2] - line.box[0]) for line in long)
    if not long or on_end <= 0.6 * len(long):
        return lines
    turns = [ocr_lines(reader.read(np.ascontiguousarray(np.rot90(image, k))), scale, least) for k in (1, 3)]
    return max([lines, *turns], key=lambda found: sum(len(line.text) * line.confidence**4 for line in found))


def _coverage(shown: Sequence[Line], blocks: Sequence[Block]) -> float:
    """Characters in the blocks against those on the page."""
    wanted = sum(len("".join(line.text.split())) for line in shown)
    found = sum(len("".join(block.text.split())) for block in blocks if not block.hidden)
    return round(min(1.0, found / wanted), 3) if wanted else 1.0


def _refuse_xfa(file: Any, lines: Sequence[Line]) -> None:
    """A dynamic XFA form shows one page that says "Please wait…" to all but one reader."""
    import pypdfium2.raw as raw

    text = " ".join(line.text for line in lines).lower()
    if len(file) <= 2 and "please wait" in text and file.get_formtype() == raw.FORMTYPE_XFA_FULL:
        raise Rejected(Code.PARSE_XFA, "a dynamic XFA form: its pages hold only a placeholder")


def _bookmarks(file: Any) -> dict[str, int]:
    try:
        return {bookmark_key(one.get_title()): min(6, one.level + 1) for one in file.get_toc() if one.get_title()}
    except Exception:  # damaged outlines: headings are then found by their looks alone
        return {}
