"""Lines of text with their place and looks, from a PDF page or from OCR: what all page routes work on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pipelines.errors import Code
from pipelines.parse.covered import hidden_below
from pipelines.parse.drawn import Drawn
from pipelines.parse.order import Rectangle
from schemas.index import OcrLine

WHITE = 0xFFFFFF
TINY = 2.0
"""Points: below this nobody reads."""


@dataclass(frozen=True, slots=True)
class Line:
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


def page_lines(page: Any, drawn: Drawn) -> list[Line]:
    """Lines of the text layer of a pymupdf page, in the order of the file, hidden ones marked."""
    import pymupdf

    # Without the clip, text beside the page is read too: it is hidden text, and must be seen to be marked.
    flags = pymupdf.TEXTFLAGS_DICT & ~pymupdf.TEXT_PRESERVE_IMAGES & ~pymupdf.TEXT_MEDIABOX_CLIP
    content = page.get_text("dict", flags=flags, clip=pymupdf.INFINITE_RECT())
    found: list[Line] = []
    for block in content["blocks"]:
        for line in block.get("lines", ()):
            spans = [span for span in line["spans"] if span["text"].strip()]
            if spans:
                found.extend(_split_hidden(page, line, spans, drawn.dark))
    shown = page.rect
    found = [_off_page(line, shown) for line in found]
    if not drawn.covers:
        return found
    over = hidden_below(page, [_undisplayed(page, line.box) for line in found], drawn)
    return [
        replace(line, hidden=Code.HIDDEN_COVERED) if below and not line.hidden else line
        for line, below in zip(found, over, strict=True)
    ]


def _undisplayed(page: Any, box: Rectangle) -> Rectangle:
    import pymupdf

    if not page.rotation:
        return box
    turned = pymupdf.Rect(box) * page.derotation_matrix
    return (turned.x0, turned.y0, turned.x1, turned.y1)


def _off_page(line: Line, page: Any) -> Line:
    x, y = (line.box[0] + line.box[2]) / 2, (line.box[1] + line.box[3]) / 2
    if line.hidden or (page.x0 <= x <= page.x1 and page.y0 <= y <= page.y1):
        return line
    overlap = min(line.box[2], page.x1) > max(line.box[0], page.x0) and min(line.box[3], page.y1) > max(
        line.box[1], page.y0
    )
    return line if overlap else replace(line, hidden=Code.HIDDEN_OFF_PAGE)


def _split_hidden(page: Any, line: Any, spans: list[Any], dark: Sequence[Rectangle]) -> list[Line]:
    """One line of what a reader sees, and one for each kind of hidden text in it."""
    groups: dict[Code | None, list[Any]] = {}
    for span in line["spans"]:
        code = _hidden(span, dark) if span["text"].strip() else next(reversed(groups), None)
        groups.setdefault(code, []).append(span)
    slanted = min(abs(line["dir"][0]), abs(line["dir"][1])) > 0.1
    lines = []
    for code, members in groups.items():
        text = "".join(span["text"] for span in members).strip()
        if not text:
            continue
        box = _displayed(page, members)
        size = max(span["size"] for span in members)
        bold = all(span["flags"] & 16 for span in members if span["text"].strip())
        font = max(members, key=lambda span: len(span["text"]))["font"]
        lines.append(Line(text, box, size, bold, code, slanted, font=font))
    return lines


def _displayed(page: Any, spans: list[Any]) -> Rectangle:
    """Union of span boxes, turned as the page is turned."""
    box = tuple(spans[0]["bbox"]) if len(spans) == 1 else union([span["bbox"] for span in spans])
    if page.rotation:
        import pymupdf

        box = tuple(pymupdf.Rect(box) * page.rotation_matrix)
    return (box[0], box[1], box[2], box[3])


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
