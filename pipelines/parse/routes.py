"""The three ways to read a page: fast (lines and XY-cut), rich (layout model and tables), ocr (a rendered image)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.parse import tables as tabular
from pipelines.parse.cells import to_html, to_markdown
from pipelines.parse.headings import heading_level
from pipelines.parse.lines import Line, ocr_lines
from pipelines.parse.order import Rectangle, reading_order
from pipelines.parse.paragraphs import blocks_of, join, to_box, union
from pipelines.parse.settings import ParseSettings
from pipelines.ports import Ocr
from schemas.document import Block

KINDS = {
    "title": "heading",
    "section-header": "heading",
    "text": "text",
    "list-item": "list",
    "caption": "text",
    "footnote": "footnote",
    "formula": "formula",
    "table": "table",
    "picture": "figure",
}
FURNITURE = ("page-header", "page-footer")


@dataclass(frozen=True)
class Context:
    """What a page needs to know of its document."""

    path: Path
    body: float
    bookmarks: Mapping[str, int]
    settings: ParseSettings


@dataclass(frozen=True)
class Read:
    """What a route made of a page."""

    blocks: tuple[Block, ...]
    furniture: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    confidence: float = 1.0


def fast(lines: Sequence[Line], number: int, context: Context, engine: str = "pymupdf") -> Read:
    ordered = [lines[i] for i in reading_order([line.box for line in lines])]
    return Read(tuple(blocks_of(ordered, number, context.body, context.bookmarks, engine)))


def rich(page: Any, lines: Sequence[Line], number: int, context: Context) -> Read:
    """Regions from the layout model, tables as grids; lines outside every region make paragraphs of their own."""
    import numpy as np

    with np.errstate(all="ignore"):  # the layout model takes logarithms of empty boxes
        # Tables before labels: where `get_layout` has run, the union of table candidates gets lost.
        found = tabular.find_tables(page, context.path)
        if page.layout_information is None:
            page.get_layout()
    regions = [_region(page, item) for item in page.layout_information or ()]
    boxes = [_displayed(page, table.box) for table in found]
    regions = [region for region in regions if region[1] != "table" and not any(_inside(region[0], b) for b in boxes)]
    placed: dict[int, list[Line]] = {}
    loose: list[Line] = []
    furniture: list[str] = []
    for line in lines:
        if any(_inside(line.box, box) for box in boxes):
            continue
        home = _home(line, regions)
        if home is None:
            loose.append(line)
        elif regions[home][1] in FURNITURE:
            furniture.append(line.text)
        else:
            placed.setdefault(home, []).append(line)
    pieces: list[tuple[Rectangle, list[Block]]] = [
        (box, [_table_block(table, box, number)]) for table, box in zip(found, boxes, strict=True)
    ]
    for index, members in placed.items():
        pieces.append(
            (union([line.box for line in members]), _region_blocks(regions[index][1], members, number, context))
        )
    pieces += [(line.box, blocks_of([line], number, context.body, context.bookmarks, "pymupdf")) for line in loose]
    order = reading_order([box for box, _ in pieces], context.body)
    blocks = tuple(block for i in order for block in pieces[i][1])
    warnings = tuple("a table's numbers differ from the page's" for table in found if not table.exact)
    return Read(blocks, tuple(furniture), warnings, 0.9 if warnings else 1.0)


def _region(page: Any, item: Any) -> tuple[Rectangle, str]:
    """`find_tables` leaves the labels as dicts, `get_layout` as lists."""
    if isinstance(item, dict):
        return _displayed(page, item["group_bbox"]), str(item["class_name"])
    return _displayed(page, item[:4]), str(item[4])


def _region_blocks(label: str, lines: Sequence[Line], number: int, context: Context) -> list[Block]:
    ordered = [lines[i] for i in reading_order([line.box for line in lines])]
    if KINDS.get(label, "text") in ("text", "figure"):
        return blocks_of(ordered, number, context.body, context.bookmarks, "pymupdf")
    text = join([line.text for line in ordered])
    box = to_box(union([line.box for line in ordered]))
    if label in ("title", "section-header"):
        bold, size = all(line.bold for line in ordered), max(line.size for line in ordered)
        level = heading_level(text, size, bold, context.body, context.bookmarks) or (1 if label == "title" else 3)
        return [Block(kind="heading", text=text, page=number, box=box, level=level, engine="pymupdf")]
    return [Block(kind=KINDS[label], text=text, page=number, box=box, engine="pymupdf")]


def _table_block(table: tabular.Table, box: Rectangle, number: int) -> Block:
    return Block(
        kind="table",
        text=to_markdown(table.grid),
        html=to_html(table.grid),
        page=number,
        box=to_box(box),
        engine=table.engine,
        confidence=1.0 if table.exact else 0.6,
    )


def ocr(page: Any, number: int, reader: Ocr, context: Context) -> Read:
    """The image never exceeds the pixel cap: the resolution goes down instead."""
    dpi = _dpi(page, context.settings)
    image = render(page, dpi)
    lines = _ocr_upright(image, reader, 72 / dpi, context.settings.trusted_confidence)
    weight = sum(len(line.text) for line in lines)
    confidence = sum(line.confidence * len(line.text) for line in lines) / weight if weight else 0.0
    sizes = sorted(line.size for line in lines)
    body = sizes[len(sizes) // 2] if sizes else 0.0
    read = fast(lines, number, Context(context.path, body * 1.25, context.bookmarks, context.settings), reader.name)
    return Read(read.blocks, confidence=round(confidence, 3))


def _ocr_upright(image: Any, reader: Ocr, scale: float, least: float) -> list[Line]:
    """Lines of the image as it stands, or of its better quarter turn where most lines stand on end.

    Boxes of a turned page are those of the turned page.
    """
    import numpy as np

    lines = ocr_lines(reader.read(image), scale, least)
    long = [line for line in lines if len(line.text) > 2]
    on_end = sum(line.box[3] - line.box[1] > 1.5 * (line.box[2] - line.box[0]) for line in long)
    if on_end <= 0.6 * len(long) or not long:
        return lines
    turns = [ocr_lines(reader.read(np.ascontiguousarray(np.rot90(image, k))), scale, least) for k in (1, 3)]
    return max([lines, *turns], key=lambda found: sum(len(line.text) * line.confidence**4 for line in found))


def _dpi(page: Any, settings: ParseSettings) -> float:
    pixels = page.rect.width * page.rect.height * (settings.render_dpi / 72) ** 2
    return float(settings.render_dpi * min(1.0, (settings.max_pixels / max(pixels, 1)) ** 0.5))


def render(page: Any, dpi: float) -> Any:
    """numpy uint8 array, height x width x 3, RGB."""
    import numpy as np
    import pymupdf

    pixmap = page.get_pixmap(matrix=pymupdf.Matrix(dpi / 72, dpi / 72), colorspace=pymupdf.csRGB, alpha=False)
    return np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.width, 3)


def _displayed(page: Any, box: Sequence[float]) -> Rectangle:
    import pymupdf

    turned = pymupdf.Rect(box) * page.rotation_matrix if page.rotation else pymupdf.Rect(box)
    return (turned.x0, turned.y0, turned.x1, turned.y1)


def _inside(inner: Rectangle, outer: Rectangle) -> bool:
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return outer[0] <= x <= outer[2] and outer[1] <= y <= outer[3]


def _home(line: Line, regions: Sequence[tuple[Rectangle, str]]) -> int | None:
    """The smallest region that holds the middle of the line."""
    homes = [i for i, (box, _) in enumerate(regions) if _inside(line.box, box)]
    return min(homes, key=lambda i: _area(regions[i][0]), default=None)


def _area(box: Rectangle) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
