"""Lines of text with their place and looks, from a PDF page or from OCR: what all page routes work on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipelines.errors import Code
from pipelines.parse.order import Rectangle
from schemas.index import OcrLine

WHITE = 0xFFFFFF
TINY = 2.0
"""Points: below this nobody reads."""


@dataclass(frozen=True)
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


def page_lines(page: Any) -> list[Line]:
    """Lines of the text layer of a pymupdf page, in the order of the file, hidden ones marked."""
    import pymupdf

    flags = pymupdf.TEXTFLAGS_DICT & ~pymupdf.TEXT_PRESERVE_IMAGES
    content = page.get_text("dict", flags=flags)
    dark = _backgrounds(page) if _has_white(content) else []
    found = []
    for block in content["blocks"]:
        for line in block.get("lines", ()):
            spans = [span for span in line["spans"] if span["text"].strip()]
            if spans:
                found.extend(_split_hidden(page, line, spans, dark))
    return found


def _split_hidden(page: Any, line: Any, spans: list[Any], dark: list[Rectangle]) -> list[Line]:
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
        lines.append(Line(text, box, size, bold, code, slanted))
    return lines


def _displayed(page: Any, spans: list[Any]) -> Rectangle:
    """Union of span boxes, turned as the page is turned."""
    import pymupdf

    box = pymupdf.Rect()
    for span in spans:
        box |= pymupdf.Rect(span["bbox"])
    if page.rotation:
        box = box * page.rotation_matrix
    return (box.x0, box.y0, box.x1, box.y1)


def _hidden(span: Any, dark: list[Rectangle]) -> Code | None:
    if span.get("alpha", 255) == 0:
        return Code.HIDDEN_INVISIBLE
    if span["size"] < TINY:
        return Code.HIDDEN_TINY
    if span["color"] == WHITE and not any(_inside(span["bbox"], box) for box in dark):
        return Code.HIDDEN_WHITE
    return None


def _has_white(content: Any) -> bool:
    lines = (line for block in content["blocks"] for line in block.get("lines", ()))
    return any(span["color"] == WHITE for line in lines for span in line["spans"])


def _backgrounds(page: Any) -> list[Rectangle]:
    """Boxes of images and of areas that are filled with something that is not white."""
    boxes = [tuple(image["bbox"]) for image in page.get_image_info()]
    for drawing in page.get_drawings():
        fill = drawing.get("fill")
        if fill is not None and min(fill) < 0.9:
            boxes.append(tuple(drawing["rect"]))
    return boxes


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
