"""Two ways to read a page with a text layer: fast (lines and XY-cut), rich (layout model and tables)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.errors import Code
from pipelines.parse import figures, sink
from pipelines.parse import tables as tabular
from pipelines.parse.cells import to_html, to_markdown
from pipelines.parse.headings import heading_level
from pipelines.parse.layout_model import one_thread
from pipelines.parse.lines import Line, union
from pipelines.parse.order import Rectangle, inside, reading_order
from pipelines.parse.paragraphs import blocks_of, join, to_box
from pipelines.parse.settings import ParseSettings
from pipelines.parse.vertical import turned, upright
from pipelines.ports import Ocr
from schemas.document import Block, PageVerdict

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
DIFFERENT = "a table's numbers differ from the page's"
FURNITURE = ("page-header", "page-footer")
EDGE_ACROSS, EDGE_DOWN = 0.08, 0.15
"""Shares of the page where its furniture stands."""
LEGIBLE = 0.9
"""Share of what OCR sees that must be sure enough to be kept; below it, a page is shown to the reviewer."""


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
    coverage: float = 1.0
    """Of OCR: characters kept against those seen."""


def failed(number: int, reason: str, width: float | None = None, height: float | None = None) -> PageVerdict:
    """The rejection of one page."""
    code = Code.PARSE_PAGE_FAILED.value
    return PageVerdict(
        page=number, route="failed", reason=reason, code=code, confidence=0, coverage=0, width=width, height=height
    )


def fast(lines: Sequence[Line], number: int, context: Context, engine: str = "pymupdf") -> Read:
    turns = turned(lines)
    if turns:
        lines = [line._replace(box=upright(line.box, turns)) for line in lines]
    ordered = [lines[i] for i in reading_order([line.box for line in lines])]
    blocks = blocks_of(ordered, number, context.body, context.bookmarks, engine)
    return Read(tuple(_laid_back(block, turns) for block in blocks) if turns else tuple(blocks))


def _laid_back(block: Block, turns: int) -> Block:
    """The block of upright text at its place on the page."""
    assert block.box is not None
    box = upright((block.box.x0, block.box.y0, block.box.x1, block.box.y1), 4 - turns)
    return block.model_copy(update={"box": to_box(box)})


def rich(page: Any, lines: Sequence[Line], number: int, context: Context, ocr: Ocr | None = None) -> Read:
    """Regions from the layout model, tables as grids, figures; lines outside of all make paragraphs of their own."""
    import numpy as np

    with np.errstate(all="ignore"):  # the layout model takes logarithms of empty boxes
        # Tables before labels: where `get_layout` has run, the union of table candidates gets lost.
        found = tabular.find_tables(page, context.path)
    regions = layout_regions(page)
    boxes = [_displayed(page, table.box) for table in found]
    regions = [region for region in regions if region[1] != "table" and not any(inside(region[0], b) for b in boxes)]
    free = [line for line in lines if not any(inside(line.box, box) for box in boxes)]
    pictures, free = figures.take(page, free, regions, number, ocr, context.settings)
    placed: dict[int, list[Line]] = {}
    loose: list[Line] = []
    furniture: list[str] = []
    for line in free:
        place = home(line, regions)
        if place is None:
            loose.append(line)
        elif regions[place][1] in FURNITURE:
            furniture.append(line.text)
        else:
            placed.setdefault(place, []).append(line)
    pieces: list[tuple[Rectangle, list[Block]]] = [
        (box, [_table_block(page, table, box, number, context.settings)])
        for table, box in zip(found, boxes, strict=True)
    ]
    pieces += [(box, [block]) for box, block in pictures]
    for index, members in placed.items():
        pieces.append(
            (union([line.box for line in members]), _region_blocks(regions[index][1], members, number, context))
        )
    pieces += [(line.box, blocks_of([line], number, context.body, context.bookmarks, "pymupdf")) for line in loose]
    order = reading_order([box for box, _ in pieces], context.body)
    blocks = tuple(block for i in order for block in pieces[i][1])
    warnings = tuple(DIFFERENT for table in found if not table.exact)
    return Read(blocks, tuple(furniture), warnings, 0.9 if warnings else 1.0)


def layout_regions(page: Any) -> list[tuple[Rectangle, str]]:
    """Boxes as displayed, with their labels."""
    import numpy as np

    one_thread()
    with np.errstate(all="ignore"):
        if page.layout_information is None:
            page.get_layout()
    width, height = page.rect.width, page.rect.height
    found = (_region(page, item) for item in page.layout_information or ())
    return [(box, "text" if label in FURNITURE and not _at_edge(box, width, height) else label) for box, label in found]


def _at_edge(box: Rectangle, width: float, height: float) -> bool:
    """A lone line in the middle of a page is no running header, whatever the model says."""
    x, y = (box[0] + box[2]) / 2 / (width or 1), (box[1] + box[3]) / 2 / (height or 1)
    return not (EDGE_ACROSS < x < 1 - EDGE_ACROSS and EDGE_DOWN < y < 1 - EDGE_DOWN)


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
        return [region_heading(label, ordered, number, context, "pymupdf")]
    return [Block(kind=KINDS[label], text=text, page=number, box=box, engine="pymupdf")]


def region_heading(label: str, lines: Sequence[Line], number: int, context: Context, engine: str) -> Block:
    """Lines that the layout model calls a heading."""
    text = join([line.text for line in lines])
    bold, size = all(line.bold for line in lines), max(line.size for line in lines)
    level = heading_level(text, size, bold, context.body, context.bookmarks) or (1 if label == "title" else 3)
    box = to_box(union([line.box for line in lines]))
    return Block(kind="heading", text=text, page=number, box=box, level=level, engine=engine)


def _table_block(page: Any, table: tabular.Table, box: Rectangle, number: int, settings: ParseSettings) -> Block:
    picture = None if table.exact else figures.cut_out(page, box, settings).tobytes("png")
    return Block(
        kind="table",
        text=to_markdown(table.grid),
        html=to_html(table.grid),
        page=number,
        box=to_box(box),
        engine=table.engine,
        confidence=1.0 if table.exact else 0.6,
        artifact=sink.current().figure(picture) if picture else None,
        below=table.below or None,
    )


def _displayed(page: Any, box: Sequence[float]) -> Rectangle:
    import pymupdf

    turned = pymupdf.Rect(box) * page.rotation_matrix if page.rotation else pymupdf.Rect(box)
    return (turned.x0, turned.y0, turned.x1, turned.y1)


def home(line: Line, regions: Sequence[tuple[Rectangle, str]]) -> int | None:
    """The smallest region that holds the middle of the line."""
    homes = [i for i, (box, _) in enumerate(regions) if inside(line.box, box)]
    return min(homes, key=lambda i: _area(regions[i][0]), default=None)


def _area(box: Rectangle) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
