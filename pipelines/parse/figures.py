"""Figures of a PDF page: found, told from decoration, read by OCR where they hold text, kept as an image."""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from pipelines.parse import sink
from pipelines.parse.drawn import pixels
from pipelines.parse.lines import Line, ocr_lines
from pipelines.parse.order import Rectangle, reading_order
from pipelines.parse.paragraphs import join, to_box
from pipelines.parse.settings import ParseSettings
from pipelines.ports import Ocr
from schemas.document import Block

CAPTION = re.compile(r"^\s*(图|圖|Figure|FIGURE|Fig\.?|FIG\.?)\s*[\dA-Z一二三四五六七八九十]")
LEAST_SIDE, LEAST_AREA = 30.0, 0.01
"""Points, and share of the page: smaller ones are icons and bullets."""
BAND, LOGO_AREA = 0.12, 0.04
"""A picture in the upper or lower band of the page that is no larger than this is a logo."""
BACKGROUND = 0.7
"""Share of the page above which an image lies behind everything."""
MAX_LINES = 15
"""A region with more lines of text is text on a coloured ground."""
REPEATED = 3
"""Pages on which the same picture stands for decoration."""
MAX_SIDE = 1600
"""Pixels of a kept image."""


class Taken(NamedTuple):
    """Figures with their boxes as displayed, and the lines of the page that belong to none."""

    figures: list[tuple[Rectangle, Block]]
    lines: list[Line]


def take(
    page: Any,
    lines: Sequence[Line],
    regions: Sequence[tuple[Rectangle, str]],
    number: int,
    ocr: Ocr | None,
    settings: ParseSettings,
) -> Taken:
    """`regions`: of the layout model, without tables; boxes as displayed, in points."""
    figures: list[tuple[Rectangle, Block]] = []
    rest = list(lines)
    for box in _boxes(page, regions):
        inner = [line for line in rest if _holds(box, line.box)]
        if len(inner) > MAX_LINES:
            continue
        caption = _caption(box, [line for line in rest if line not in inner], regions)
        figures.append((box, _block(page, box, inner, caption, number, ocr, settings)))
        gone = {*inner, *caption}
        rest = [line for line in rest if line not in gone]
    return Taken(figures, rest)


def _boxes(page: Any, regions: Sequence[tuple[Rectangle, str]]) -> list[Rectangle]:
    """Pictures of the layout model, and images that it overlooked."""
    area = abs(page.rect) or 1.0
    found = [box for box, label in regions if label == "picture" and _is_figure(box, page)]
    for image in page.get_image_info():
        x0, y0, x1, y1 = (page.rect.__class__(image["bbox"]) * page.rotation_matrix) & page.rect
        box = (x0, y0, x1, y1)
        if _is_figure(box, page) and _area(box) < BACKGROUND * area and not any(_overlap(box, one) for one in found):
            found.append(box)
    return found


def _is_figure(box: Rectangle, page: Any) -> bool:
    """Neither too small nor a logo in a margin."""
    share = _area(box) / (abs(page.rect) or 1.0)
    if min(box[2] - box[0], box[3] - box[1]) < LEAST_SIDE or share < LEAST_AREA:
        return False
    middle = (box[1] + box[3]) / 2 / (page.rect.height or 1.0)
    return share > LOGO_AREA or BAND < middle < 1 - BAND


def _caption(box: Rectangle, lines: Sequence[Line], regions: Sequence[tuple[Rectangle, str]]) -> list[Line]:
    """The lines of a caption close below or above, below first."""
    captions = [region for region, label in regions if label == "caption"]
    near: list[tuple[float, Line]] = []
    for line in lines:
        gap = min(abs(line.box[1] - box[3]), abs(box[1] - line.box[3]))
        beside = min(line.box[2], box[2]) > max(line.box[0], box[0])
        if beside and gap < 3 * line.size and CAPTION.match(line.text):
            near.append((gap, line))
    if not near:
        return []
    first = min(near, key=lambda one: one[0])[1]
    region = next((region for region in captions if _holds(region, first.box)), None)
    return [line for line in lines if region and _holds(region, line.box)] or [first]


def _block(
    page: Any,
    box: Rectangle,
    lines: Sequence[Line],
    caption: Sequence[Line],
    number: int,
    ocr: Ocr | None,
    settings: ParseSettings,
) -> Block:
    kept = sink.current()
    picture = cut_out(page, box, settings) if kept.folder or (ocr and not lines) else None
    read, engine = list(lines), "pymupdf"
    if picture and ocr and not lines:
        image, scale = pixels(picture), (box[2] - box[0]) / picture.width
        read, engine = ocr_lines(ocr.read(image), scale, settings.trusted_confidence), ocr.name
    ordered = [read[i].text for i in reading_order([line.box for line in read])]
    return Block(
        kind="figure",
        text="\n".join(ordered),
        page=number,
        box=to_box(box),
        caption=join([line.text for line in caption]) or None,
        engine=engine,
        confidence=round(min((line.confidence for line in read), default=1.0), 3),
        artifact=kept.figure(picture.tobytes("png")) if picture and kept.folder else None,
    )


def cut_out(page: Any, box: Rectangle, settings: ParseSettings) -> Any:
    """A pymupdf pixmap of the place, at the resolution for OCR or less."""
    import pymupdf

    zoom = min(settings.render_dpi / 72, MAX_SIDE / max(box[2] - box[0], box[3] - box[1]))
    matrix = pymupdf.Matrix(zoom, zoom)
    return page.get_pixmap(matrix=matrix, clip=pymupdf.Rect(box), colorspace=pymupdf.csRGB, alpha=False)


def without_repeated(blocks: Sequence[Block]) -> list[Block]:
    """Without pictures that come back on page after page, and their images."""
    pages: dict[str, set[int]] = defaultdict(set)
    for block in blocks:
        if block.kind == "figure" and block.artifact:
            pages[block.artifact].add(block.page or 0)
    dropped = {key for key, numbers in pages.items() if len(numbers) >= REPEATED}
    for key in dropped:
        sink.current().discard(key)
    return [block for block in blocks if block.kind != "figure" or block.artifact not in dropped]


def _area(box: Rectangle) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def _overlap(box: Rectangle, other: Rectangle) -> bool:
    """Whether much of the smaller one lies in the other."""
    both = (max(box[0], other[0]), max(box[1], other[1]), min(box[2], other[2]), min(box[3], other[3]))
    return both[2] > both[0] and both[3] > both[1] and _area(both) > 0.5 * min(_area(box), _area(other))


def _holds(box: Rectangle, inner: Rectangle) -> bool:
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]
