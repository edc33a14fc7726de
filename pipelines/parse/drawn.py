"""What is painted on a page besides text: images, rules, filled areas. Read once for each page, for it costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipelines.parse.order import Rectangle

PAINT = frozenset((b"f", b"f*", b"F", b"S", b"s", b"B", b"B*", b"b", b"b*", b"sh", b"Do", b"BI"))
"""Operators that paint anything but text (PDF 1.7, annex A); a match inside a string only costs time."""
DELIMITERS = bytes.maketrans(b"()<>[]{}/%\0", b" " * 11)
"""PDF 1.7, 7.2.2."""
LONG_RULE = 60.0
"""Points."""
DARK = 0.9


@dataclass(frozen=True, slots=True)
class Drawn:
    """Boxes are in points before page rotation; numbers are places in the drawing order."""

    images: tuple[Rectangle, ...] = ()
    pixels: int = 0
    """Of the largest image."""
    covers: tuple[tuple[int, Rectangle], ...] = ()
    """Opaque images and filled rectangles."""
    dark: tuple[Rectangle, ...] = ()
    """Images and areas on which white text can be read."""
    rules: int = 0
    fills: int = 0
    drawings: int = 0

    @property
    def anything(self) -> bool:
        return bool(self.images or self.drawings)


NOTHING = Drawn()


def drawn_on(page: Any) -> Drawn:
    if not page.parent.is_pdf:  # an image file: nothing but the image is painted
        whole = tuple(float(value) for value in page.rect)
        return Drawn(images=(whole,), dark=(whole,))  # type: ignore[arg-type]
    if PAINT.isdisjoint((page.read_contents() or b"").translate(DELIMITERS).split()):
        return NOTHING
    info = page.get_image_info()
    images = tuple(tuple(float(value) for value in image["bbox"]) for image in info)
    covers = _images_over(page) if info else []
    dark: list[Rectangle] = list(images)  # type: ignore[arg-type]
    rules = fills = count = 0
    for drawing in page.get_cdrawings():
        count += 1
        box, items, fill = drawing["rect"], drawing["items"], drawing.get("fill")
        across, down = box[2] - box[0], box[3] - box[1]
        if fill is not None and min(fill) < DARK:
            dark.append(tuple(box))
        if fill is not None and drawing.get("fill_opacity", 1.0) >= 1.0 and len(items) == 1 and items[0][0] == "re":
            covers.append((drawing["seqno"], tuple(items[0][1])))
        if min(across, down) < 3 and max(across, down) > LONG_RULE:
            rules += 1
        elif fill is not None and min(across, down) >= 3:
            fills += 1
        elif len(items) >= 3 and max(across, down) > LONG_RULE:
            rules += 4
    pixels = max((image["width"] * image["height"] for image in info), default=0)
    return Drawn(images, pixels, tuple(covers), tuple(dark), rules, fills, count)  # type: ignore[arg-type]


def _images_over(page: Any) -> list[tuple[int, Rectangle]]:
    """Images that let nothing through: those with a mask do."""
    masked = [tuple(box) for image in page.get_images(full=True) if image[1] for box in page.get_image_rects(image[0])]
    painted = ((number, tuple(box)) for number, (kind, box) in enumerate(page.get_bboxlog()) if kind == "fill-image")
    return [(number, box) for number, box in painted if not any(_same(box, one) for one in masked)]


def _same(a: Sequence[float], b: Sequence[float]) -> bool:
    return all(abs(one - other) < 2 for one, other in zip(a, b, strict=True))


def pixels(pixmap: Any) -> Any:
    """Of a pymupdf pixmap: numpy uint8, height x width x 3, RGB."""
    import numpy as np

    return np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.width, 3)


def as_png(image: Any) -> bytes:
    """Of such an array."""
    import io

    from PIL import Image

    made = io.BytesIO()
    Image.fromarray(image).save(made, "PNG")
    return made.getvalue()
