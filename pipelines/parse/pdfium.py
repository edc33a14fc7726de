"""Lines and pictures of PDF pages through pypdfium2 (Apache-2.0, BSD), for those who cannot take PyMuPDF's AGPL."""

import ctypes
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pipelines.errors import Code, Rejected
from pipelines.parse.lines import TINY, Line
from pipelines.parse.order import Rectangle

FINE = 100
"""Device units per point: positions come as whole numbers."""
INVISIBLE = 3
"""Text render mode (PDF 1.7, table 106)."""
BOLD = 600


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """A PdfDocument. Raises Rejected(PARSE_ENCRYPTED | PARSE_CORRUPT | PARSE_EMPTY)."""
    import pypdfium2
    import pypdfium2.raw as raw

    data = path.read_bytes()
    if not data:
        raise Rejected(Code.PARSE_EMPTY, "the file has no bytes")
    try:
        pdf = pypdfium2.PdfDocument(data[max(0, data.find(b"%PDF-")) :])
    except pypdfium2.PdfiumError as error:
        if raw.FPDF_GetLastError() == raw.FPDF_ERR_PASSWORD or "password" in str(error).lower():
            raise Rejected(Code.PARSE_ENCRYPTED, "the file asks for a password") from error
        raise Rejected(Code.PARSE_CORRUPT, f"the file cannot be opened: {error}") from error
    try:
        yield pdf
    finally:
        pdf.close()


def lines_of(page: Any) -> list[Line]:
    """Lines of the text layer, pieces of one line joined, hidden ones marked."""
    text = page.get_textpage()
    try:
        pieces = [piece for index in range(text.count_rects()) if (piece := _piece(page, text, text.get_rect(index)))]
    finally:
        text.close()
    joined: list[Line] = []
    for piece in pieces:
        if joined and (line := _joined(joined[-1], piece)):
            joined[-1] = line
        else:
            joined.append(piece)
    return joined


def _piece(page: Any, text: Any, rect: Sequence[float]) -> Line | None:
    """One run of characters of the same looks."""
    import pypdfium2.raw as raw

    left, bottom, right, top = rect
    words = text.get_text_bounded(left, bottom, right, top).replace("\r\n", " ").replace("\n", " ").strip()
    if not words:
        return None
    box = displayed(page, rect)
    first = text.get_index((left + right) / 2, (bottom + top) / 2, 3, 3)
    if first is None:
        return Line(words, box, max(1.0, box[3] - box[1]))
    angle = math.degrees(raw.FPDFText_GetCharAngle(text, first)) % 90
    matrix = raw.FS_MATRIX()
    raw.FPDFText_GetMatrix(text, first, matrix)
    size = raw.FPDFText_GetFontSize(text, first) * math.hypot(matrix.c, matrix.d)
    bold = raw.FPDFText_GetFontWeight(text, first) >= BOLD
    return Line(words, box, size, bold, _hidden(page, text, first, size, box), 6 < angle < 84)


def _hidden(page: Any, text: Any, index: int, size: float, box: Rectangle) -> Code | None:
    """White text may stand on a dark ground, which is not looked up here: only pages without drawings are judged."""
    import pypdfium2.raw as raw

    if raw.FPDFTextObj_GetTextRenderMode(raw.FPDFText_GetTextObject(text, index)) == INVISIBLE:
        return Code.HIDDEN_INVISIBLE
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    raw.FPDFText_GetFillColor(text, index, red, green, blue, alpha)
    if alpha.value == 0:
        return Code.HIDDEN_INVISIBLE
    if size < TINY:
        return Code.HIDDEN_TINY
    width, height = page.get_size()
    if box[2] < 0 or box[3] < 0 or box[0] > width or box[1] > height:
        return Code.HIDDEN_OFF_PAGE
    white = min(red.value, green.value, blue.value) >= 254
    return Code.HIDDEN_WHITE if white and not has_drawings(page) else None


def _joined(line: Line, piece: Line) -> Line | None:
    """The two as one, where the second goes on right of the first."""
    (x0, y0, x1, y1), (left, top, right, bottom) = line.box, piece.box
    height = max(y1 - y0, bottom - top)
    overlap = min(y1, bottom) - max(y0, top)
    gap, beside = left - x1, overlap >= 0.5 * min(y1 - y0, bottom - top)
    if line.hidden != piece.hidden or not beside or not -0.3 * height < gap < height:
        return None
    space = " " if gap > 0.15 * height and line.text[-1].isascii() and piece.text[0].isascii() else ""
    box = (min(x0, left), min(y0, top), max(x1, right), max(y1, bottom))
    bold = line.bold and piece.bold
    return Line(f"{line.text}{space}{piece.text}", box, max(line.size, piece.size), bold, line.hidden, line.slanted)


def displayed(page: Any, rect: Sequence[float]) -> Rectangle:
    """A rectangle of the page's own space (origin bottom left) as it is shown: points, origin top left."""
    import pypdfium2.raw as raw

    width, height = (round(side * FINE) for side in page.get_size())
    corners = []
    for x, y in ((rect[0], rect[1]), (rect[2], rect[3])):
        across, down = ctypes.c_int(), ctypes.c_int()
        raw.FPDF_PageToDevice(page, 0, 0, width, height, 0, x, y, across, down)
        corners.append((across.value / FINE, down.value / FINE))
    (x0, y0), (x1, y1) = corners
    return (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))


def has_drawings(page: Any) -> bool:
    import pypdfium2.raw as raw

    kinds = (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_SHADING)
    return next(page.get_objects(filter=kinds, max_depth=3), None) is not None


def image_area(page: Any) -> float:
    """Share of the page below its largest image."""
    import pypdfium2.raw as raw

    width, height = page.get_size()
    boxes = (displayed(page, image.get_bounds()) for image in page.get_objects(filter=(raw.FPDF_PAGEOBJ_IMAGE,)))
    areas = [(min(b[2], width) - max(b[0], 0)) * (min(b[3], height) - max(b[1], 0)) for b in boxes]
    return float(max(areas, default=0.0) / max(width * height, 1.0))


def picture(page: Any, dpi: float) -> Any:
    """numpy uint8 array, height x width x 3, RGB."""
    import numpy as np

    return np.ascontiguousarray(page.render(scale=dpi / 72, rev_byteorder=True, prefer_bgrx=False).to_numpy()[:, :, :3])
