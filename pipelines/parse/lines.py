"""Lines of text with their place and looks, from a PDF page or from OCR: what all page routes work on."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pipelines.errors import Code
from pipelines.parse.covered import hidden_below
from pipelines.parse.drawn import Drawn
from pipelines.parse.order import Rectangle
from schemas.index import OcrLine

WHITE = 0xFFFFFF
BOLD = 16
TINY = 2.0
"""Points: below this nobody reads."""


class Line(NamedTuple):
    """One line as displayed: box in points, origin top left."""

    text: str
    box: Rectangle
    size: float
    bold: bool = False
    hidden: Code | None = None
    slanted: bool = False
    """Neither across nor down: a watermark."""
    confidence: float = 1.0
    font: str = ""
    turns: int = 0
    """Quarter turns with the clock from left-to-right to how it runs on the page as displayed."""


def page_lines(page: Any, drawn: Drawn) -> list[Line]:
    """Lines of the text layer of a pymupdf page, in the order of the file, hidden ones marked."""
    import pymupdf

    # Without the clip, text beside the page is read too: it is hidden text, and must be seen to be marked.
    flags = pymupdf.TEXTFLAGS_DICT & ~pymupdf.TEXT_PRESERVE_IMAGES & ~pymupdf.TEXT_MEDIABOX_CLIP
    content = page.get_text("dict", flags=flags, clip=pymupdf.INFINITE_RECT())
    turn = page.rotation_matrix if page.rotation else None
    found: list[Line] = []
    for block in content["blocks"]:
        for line in block.get("lines", ()):
            found.extend(_split_hidden(line, drawn.dark, turn))
    shown = tuple(page.rect)
    found = [_off_page(line, shown) for line in found]
    if not drawn.covers:
        return found
    over = hidden_below(page, [_undisplayed(page, line.box) for line in found], drawn)
    return [
        line._replace(hidden=Code.HIDDEN_COVERED) if below and not line.hidden else line
        for line, below in zip(found, over, strict=True)
    ]


def _undisplayed(page: Any, box: Rectangle) -> Rectangle:
    import pymupdf

    if not page.rotation:
        return box
    turned = pymupdf.Rect(box) * page.derotation_matrix
    return (turned.x0, turned.y0, turned.x1, turned.y1)


def _off_page(line: Line, page: Rectangle) -> Line:
    if line.hidden or _inside(line.box, page):
        return line
    overlap = min(line.box[2], page[2]) > max(line.box[0], page[0]) and min(line.box[3], page[3]) > max(
        line.box[1], page[1]
    )
    return line if overlap else line._replace(hidden=Code.HIDDEN_OFF_PAGE)


def _split_hidden(line: Any, dark: Sequence[Rectangle], turn: Any) -> list[Line]:
    """One line of what a reader sees, and one for each kind of hidden text in it."""
    groups: dict[Code | None, list[Any]] = {}
    code: Code | None = None
    for span in line["spans"]:
        if not span["text"].isspace():
            code = _hidden(span, dark)
        groups.setdefault(code, []).append(span)
    slanted = min(abs(line["dir"][0]), abs(line["dir"][1])) > 0.1
    turns = _turns(line["dir"], turn)
    return [made for code, spans in groups.items() if (made := _line(spans, code, slanted, turn, turns))]


def _turns(direction: Sequence[float], turn: Any) -> int:
    across, down = direction
    if turn is not None:
        across, down = across * turn.a + down * turn.c, across * turn.b + down * turn.d
    if abs(across) >= abs(down):
        return 0 if across >= 0 else 2
    return 1 if down > 0 else 3


def _line(spans: Sequence[Any], code: Code | None, slanted: bool, turn: Any, turns: int) -> Line | None:
    text = "".join([span["text"] for span in spans]).strip()
    if not text:
        return None
    if len(spans) == 1:  # nearly all lines, on pages that are to be read fast
        first = spans[0]
        box = _displayed(first["bbox"], turn)
        bold = bool(first["flags"] & BOLD)
        return Line(text, box, first["size"], bold, code, slanted, font=first["font"], turns=turns)
    size = max(span["size"] for span in spans)
    bold = all(span["flags"] & BOLD for span in spans if span["text"].strip())
    font = max(spans, key=lambda span: len(span["text"]))["font"]
    box = _displayed(union([span["bbox"] for span in spans]), turn)
    return Line(text, box, size, bold, code, slanted, font=font, turns=turns)


def _displayed(box: Rectangle, turn: Any) -> Rectangle:
    """A box turned as the page is turned."""
    if turn is None:
        return box
    import pymupdf

    x0, y0, x1, y1 = pymupdf.Rect(box) * turn
    return (x0, y0, x1, y1)


def union(boxes: Sequence[Sequence[float]]) -> Rectangle:
    """The smallest rectangle around all."""
    return (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )


def _hidden(span: Any, dark: Sequence[Rectangle]) -> Code | None:
    if span.get("alpha", 255) == 0:
        return Code.HIDDEN_INVISIBLE
    if span["size"] < TINY:
        return Code.HIDDEN_TINY
    if span["color"] == WHITE and not any(_inside(span["bbox"], box) for box in dark):
        return Code.HIDDEN_WHITE
    return None


def _inside(inner: Sequence[float], outer: Sequence[float]) -> bool:
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return bool(outer[0] <= x <= outer[2] and outer[1] <= y <= outer[3])


def ocr_lines(read: Sequence[OcrLine], scale: float, least: float) -> list[Line]:
    """OCR's lines as ours. `scale`: points per pixel; `least`: confidence below which a line is a speck."""
    lines = []
    for line in read:
        if line.confidence < least or not line.text.strip():
            continue
        xs, ys = line.quad[0::2], line.quad[1::2]
        box = (min(xs) * scale, min(ys) * scale, max(xs) * scale, max(ys) * scale)
        height = min(box[3] - box[1], box[2] - box[0]) if len(line.text) > 1 else box[3] - box[1]
        lines.append(Line(line.text.strip(), box, 0.8 * height, confidence=line.confidence))
    return lines
