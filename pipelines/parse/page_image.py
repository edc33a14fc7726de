"""A page as a picture for the reviewer, with the places of a chunk marked."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipelines.errors import Code, Rejected
from pipelines.parse.dispatch import READS_PAGES, sniff
from pipelines.parse.settings import ParseSettings
from schemas.document import Box

MAX_SIDE = 1400
"""Pixels: enough to read, small enough to send."""
MARK = (255, 196, 0, 70)
EDGE = (220, 120, 0, 255)


def page_image(path: Path, *, name: str, page: int, boxes: Sequence[Box], settings: ParseSettings) -> bytes:
    """PNG of page `page` (1-based) of a PDF or page image, its longer side at most MAX_SIDE pixels.

    Raises Rejected(PARSE_UNSUPPORTED) for a format without pages, and as the guards of the parser do.
    """
    media = sniff(path, name=name, settings=settings)
    if media not in READS_PAGES:
        raise Rejected(Code.PARSE_UNSUPPORTED, f"{media} has no pages that could be shown")
    if settings.engine == "pypdfium2":
        return _by_pdfium(path, media, page, boxes, settings)
    import pymupdf
    from PIL import Image

    from pipelines.parse.pdf import guard, open_clean

    with open_clean(path, media) as pdf:
        if media == "application/pdf":
            guard(pdf, settings)
        if not 1 <= page <= pdf.page_count:
            raise Rejected(Code.UNKNOWN_SUBJECT, f"there is no page {page}, the file has {pdf.page_count}")
        shown = pdf.load_page(page - 1)
        largest = max((image["width"] * image["height"] for image in shown.get_image_info()), default=0)
        if largest > 4 * settings.max_pixels:
            raise Rejected(Code.PARSE_BOMB, f"an image of {largest} pixels is not unpacked")
        scale = MAX_SIDE / max(shown.rect.width, shown.rect.height, 1)
        pixmap = shown.get_pixmap(matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csRGB, alpha=False)
        return _marked(Image.frombytes("RGB", (pixmap.width, pixmap.height), pixmap.samples), boxes, scale)


def _by_pdfium(path: Path, media: str, page: int, boxes: Sequence[Box], settings: ParseSettings) -> bytes:
    from PIL import Image

    from pipelines.parse import pdfium

    if media != "application/pdf":
        with Image.open(path) as picture:
            if picture.width * picture.height > 4 * settings.max_pixels:
                raise Rejected(Code.PARSE_BOMB, f"an image of {picture.width * picture.height} pixels is not unpacked")
            picture.seek(page - 1)
            scale = MAX_SIDE / max(picture.size)
            size = (round(picture.width * scale), round(picture.height * scale))
            return _marked(picture.convert("RGB").resize(size), boxes, scale)
    with pdfium.opened(path) as pdf:
        if not 1 <= page <= len(pdf):
            raise Rejected(Code.UNKNOWN_SUBJECT, f"there is no page {page}, the file has {len(pdf)}")
        shown = pdf[page - 1]
        scale = MAX_SIDE / max(*shown.get_size(), 1)
        return _marked(Image.fromarray(pdfium.picture(shown, 72 * scale)), boxes, scale)


def _marked(image: Any, boxes: Sequence[Box], scale: float) -> bytes:
    from PIL import ImageDraw

    draw = ImageDraw.Draw(image, "RGBA")
    for box in boxes:
        corners = (box.x0 * scale - 2, box.y0 * scale - 2, box.x1 * scale + 2, box.y1 * scale + 2)
        if corners[0] < corners[2] and corners[1] < corners[3]:
            draw.rectangle(corners, fill=MARK, outline=EDGE, width=2)
    png = io.BytesIO()
    image.quantize(64).save(png, "PNG", optimize=True)
    return png.getvalue()
