"""One page: a look at its text layer, then the route that reads it, with a verdict."""

import pickle
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pipelines.errors import Code
from pipelines.parse import routes, scans
from pipelines.parse.drawn import NOTHING, Drawn, drawn_on
from pipelines.parse.hints import needs_layout
from pipelines.parse.lines import Line, page_lines
from pipelines.parse.paragraphs import to_box
from pipelines.parse.trust import doubt
from pipelines.parse.vertical import stacked, turned
from pipelines.ports import Ocr
from schemas.document import Block, PageVerdict, Route

SCAN_AREA = 0.5
"""An image over more of the page than this is the page."""
IMAGE_PIXEL_FACTOR = 4
"""Embedded images may hold this many times the cap on rendering: they are scaled down on the way."""
OCR_LAYER = (Code.HIDDEN_INVISIBLE, Code.HIDDEN_COVERED)
"""How scanners hide the text that they read: not drawn, or drawn under the image."""
WHOLE = 0.98
"""Coverage below this is a warning."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page before it is routed. Its lines are packed, for thousands of pages wait until the last one was seen."""

    width: float
    height: float
    packed: bytes = b""
    drawn: Drawn = NOTHING
    error: str = ""
    slants: bool = False

    @property
    def lines(self) -> list[Line]:
        """In the order of the file."""
        return pickle.loads(zlib.decompress(self.packed)) if self.packed else []


def look(pdf: Any, index: int) -> Page:
    try:
        page = pdf.load_page(index)
        drawn = drawn_on(page)
        lines = stacked(page_lines(page, drawn))
        _, _, width, height = page.rect
        packed = zlib.compress(pickle.dumps(lines, 5), 1) if lines else b""
        seen = replace(drawn, covers=(), dark=()) if drawn.anything else NOTHING
        return Page(width, height, packed, seen, slants=any(line.slanted for line in lines))
    except MemoryError:
        raise
    except Exception as error:  # one damaged page must not take the others with it
        return Page(0.0, 0.0, error=f"{type(error).__name__}: {error}"[:200])


def judge(
    pdf: Any, index: int, page: Page, lines: list[Line], ocr: Ocr | None, context: routes.Context
) -> tuple[routes.Read, PageVerdict]:
    """`lines`: those of the page without furniture. What no route reads comes back as a failed page, not an error."""
    number = index + 1
    if page.error:
        return routes.Read(()), routes.failed(number, page.error)
    loaded = pdf.load_page(index)
    scan = bool(page.drawn.images) and _is_scan(loaded, page.drawn)
    shown, hidden = _visible(lines, scan)
    doubted = doubt(shown) or _false_layer(loaded, shown, scan, ocr, context)
    if doubted and any(line.hidden for line in shown):
        shown, hidden = _visible(lines, scan=False)
    route, reason, read = _routed(loaded, number, page, shown, scan, doubted, ocr, context)
    marked = tuple(_hidden_block(line, number) for line in hidden)
    if route == "failed":
        return routes.Read(marked), routes.failed(number, reason, page.width, page.height)
    coverage = read.coverage if route == "ocr" else _coverage(shown, read)
    missing = coverage < (routes.LEGIBLE if route == "ocr" else WHOLE)
    verdict = PageVerdict(
        page=number,
        route=route,
        reason=reason,
        confidence=read.confidence,
        coverage=coverage,
        warnings=(*read.warnings, "text of the page is missing") if missing else read.warnings,
        width=page.width,
        height=page.height,
    )
    return routes.Read((*read.blocks, *marked), read.furniture), verdict


def _routed(
    loaded: Any,
    number: int,
    page: Page,
    shown: list[Line],
    scan: bool,
    doubted: str | None,
    ocr: Ocr | None,
    context: routes.Context,
) -> tuple[Route, str, routes.Read]:
    """Route, reason and what was read; the plain lines where the chosen route raises, if they can be believed."""
    try:
        few = sum(len(line.text) for line in shown) < 100
        if doubted or (not shown and page.drawn.anything) or (scan and few):
            reason = doubted or "no text layer"
            return "ocr", reason, _by_ocr(loaded, number, page, ocr, context, reason)
        sideways = turned(shown) and page.drawn.rules < 4  # the layout model does not know such pages; tables may
        if not sideways and (why := needs_layout(loaded, shown, page.drawn)):
            return "rich", why, routes.rich(loaded, shown, number, context, ocr)
        return "fast", "", routes.fast(shown, number, context)
    except MemoryError:
        raise
    except Exception as error:  # the layout model and damaged images raise anything; the plain lines are still there
        warning = f"{type(error).__name__}: {error}"[:200]
        if not shown or doubted:
            return "failed", warning, routes.Read((), warnings=(warning,), confidence=0.0)
        plain = routes.fast(shown, number, context)
        return "fast", warning, routes.Read(plain.blocks, warnings=(warning,), confidence=0.8)


def _by_ocr(loaded: Any, number: int, page: Page, ocr: Ocr | None, context: routes.Context, reason: str) -> routes.Read:
    """Raises ValueError, which makes the page a failed one."""
    if ocr is None:
        raise ValueError(f"{reason}, and OCR is off")
    if page.drawn.pixels > IMAGE_PIXEL_FACTOR * context.settings.max_pixels:
        raise ValueError(f"an image of {page.drawn.pixels} pixels is not unpacked")
    return scans.ocr(loaded, number, ocr, context)


def _visible(lines: Sequence[Line], scan: bool) -> tuple[list[Line], list[Line]]:
    """Shown and hidden lines. Invisible text over a scan is its OCR layer: what a reader sees."""
    if scan and all(line.hidden in OCR_LAYER for line in lines if line.hidden):
        return list(lines), []
    return [line for line in lines if not line.hidden], [line for line in lines if line.hidden]


def _false_layer(page: Any, shown: Sequence[Line], scan: bool, ocr: Ocr | None, context: routes.Context) -> str | None:
    """An OCR layer is believed after a look at a few of its lines: it may be bad, or say what the scan does not."""
    layer = [line for line in shown if line.hidden]
    if not (scan and layer and ocr):
        return None
    alike = scans.spot_check(page, layer, ocr, context.settings)
    return None if alike >= scans.LAYER_ALIKE else f"the text layer of the scan says something else ({alike:.2f} alike)"


def _is_scan(page: Any, drawn: Drawn) -> bool:
    area = abs(page.rect) or 1.0
    return any(
        abs(page.rect & (page.rect.__class__(box) * page.rotation_matrix)) > SCAN_AREA * area for box in drawn.images
    )


def _hidden_block(line: Line, number: int) -> Block:
    hidden = line.hidden.value if line.hidden else None
    return Block(kind="text", text=line.text, page=number, box=to_box(line.box), hidden=hidden, engine="pymupdf")


def _coverage(shown: Sequence[Line], read: routes.Read) -> float:
    """Characters of the page that are in the blocks or were taken for furniture; tables count by their page text."""
    wanted = _characters(line.text for line in shown)
    if not wanted:
        return 1.0
    found = _characters(read.furniture) + _characters(f"{block.text} {block.caption or ''}" for block in read.blocks)
    return round(min(1.0, found / wanted), 3)


def _characters(texts: Iterable[str]) -> int:
    return sum(map(len, " ".join(texts).split()))
