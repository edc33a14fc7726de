"""Tables of a page image: where they are, by the layout model and by their rules, and what stands in their cells."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from pipelines.parse import sink
from pipelines.parse.cell_lines import at_gaps, in_frames
from pipelines.parse.cells import Grid, to_html, to_markdown
from pipelines.parse.drawn import as_png
from pipelines.parse.lines import Line, union
from pipelines.parse.order import Rectangle, inside
from pipelines.parse.paragraphs import to_box
from pipelines.parse.ruled import Shape, ruled_tables, stacks
from pipelines.parse.rules import find_rules
from pipelines.parse.table_image import by_position, filled, model_shapes
from pipelines.ports import Ocr
from schemas.document import Block

LOST_DIGITS = 0.02
"""Share of the digits of a table that may differ before its reading is in doubt."""
MOST = 0.6
"""Share of a region's lines within a frame of rules from which the frame is the table."""


class Place(NamedTuple):
    """Where a table is: points of the upright page, and its cells (pixels of the page's image) if rules frame them."""

    box: Rectangle
    shapes: tuple[Shape, ...] = ()


def table_places(
    image: Any, lines: Sequence[Line], regions: Sequence[tuple[Rectangle, str]], scale: float
) -> list[Place]:
    """Framed tables, whatever the layout model calls them, then its own tables; `lines` in points, `scale` a pixel."""
    seen = [_in_pixels(line, scale) for line in lines]
    rules = find_rules(image, seen)
    framed = [Place(_scaled(table.box, scale), table.shapes) for table in ruled_tables(rules, seen)]
    places = list(framed)
    for box in (box for box, label in regions if label == "table"):
        members = [line.box for line in lines if inside(line.box, box)]
        within = [place for place in framed if any(inside(line, place.box) for line in members)]
        held = sum(any(inside(line, place.box) for place in within) for line in members)
        if held < MOST * len(members) or not members:
            places = [place for place in places if place not in within]
            stacked = [_scaled(stack, scale) for stack in stacks(rules, _scaled(box, 1 / scale))]
            places += [Place(part) for part in _without_neighbours(box, members, stacked)]
    return places


def _without_neighbours(box: Rectangle, lines: Sequence[Rectangle], ruled: Sequence[Rectangle]) -> list[Rectangle]:
    """The ruled rows alone, where the region holds text beside them: another column of the page.

    The row above the first rule is taken along where it has several columns.
    """
    parts = []
    for x0, y0, x1, y1 in (stack for stack in ruled if inside(stack, box)):
        level = [line for line in lines if y0 < (line[1] + line[3]) / 2 < y1]
        if any(line[2] < x0 or line[0] > x1 for line in level) and any(
            inside(line, (x0, y0, x1, y1)) for line in level
        ):
            heights = sorted(line[3] - line[1] for line in level)
            above = [line for line in lines if inside(line, (x0, y0 - 2 * heights[len(heights) // 2], x1, y0))]
            parts.append((x0, min(line[1] for line in above) if len(above) > 1 else y0, x1, y1))
    return parts or [box]


def table_block(image: Any, lines: Sequence[Line], place: Place, number: int, scale: float, reader: Ocr) -> Block:
    """Lines in points; the image is cut with a margin, for the model was trained on such crops."""
    whole = union([place.box, *(line.box for line in lines)])
    x0, y0 = (max(0, int(value / scale) - 4) for value in whole[:2])
    x1, y1 = int(whole[2] / scale) + 4, int(whole[3] / scale) + 4
    cut = image[y0:y1, x0:x1]
    moved = [line._replace(box=_moved(line.box, x0, y0)) for line in (_in_pixels(line, scale) for line in lines)]
    framed = [Shape(s.row, s.rows, s.columns, _moved(s.box, x0, y0)) for s in place.shapes]
    grid, engine = filled(framed, in_frames(cut, moved, framed, reader)) if framed else None, "rules"
    if grid is None:
        shapes = model_shapes(cut)
        grid, engine = filled(shapes, at_gaps(cut, moved, shapes, reader)), "slanet-plus"
    if grid is None:
        grid, engine = by_position(moved), "geometry"
    weight = sum(len(line.text) for line in lines)
    confidence = sum(line.confidence * len(line.text) for line in lines) / weight
    doubted = engine == "geometry" or not _same_digits(grid, lines)
    return Block(
        kind="table",
        text=to_markdown(grid),
        html=to_html(grid),
        page=number,
        box=to_box(whole),
        engine=engine,
        confidence=round(confidence * (0.8 if engine == "geometry" else 1.0), 3),
        artifact=sink.current().figure(as_png(cut)) if doubted else None,
        below="\n".join(line.text for line in lines) if doubted else None,
    )


def _same_digits(grid: Grid, lines: Sequence[Line]) -> bool:
    """Whether the cells hold the digits that OCR saw: a cell that was read once more may cut a number elsewhere."""
    cells = Counter(c for row in grid for cell in row for c in cell.text if c.isdigit())
    seen = Counter(c for line in lines for c in line.text if c.isdigit())
    return ((cells - seen) + (seen - cells)).total() <= LOST_DIGITS * seen.total()


def _in_pixels(line: Line, scale: float) -> Line:
    return line._replace(box=_scaled(line.box, 1 / scale), size=line.size / scale)


def _scaled(box: Rectangle, factor: float) -> Rectangle:
    return (box[0] * factor, box[1] * factor, box[2] * factor, box[3] * factor)


def _moved(box: Rectangle, x: float, y: float) -> Rectangle:
    return (box[0] - x, box[1] - y, box[2] - x, box[3] - y)
