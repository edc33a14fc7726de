"""Tables of a page image: where they are, by the layout model and by their rules, and what stands in their cells."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pipelines.parse.cells import to_html, to_markdown
from pipelines.parse.lines import Line, union
from pipelines.parse.order import Rectangle, inside
from pipelines.parse.paragraphs import to_box
from pipelines.parse.ruled import Shape, ruled_tables, stacks
from pipelines.parse.rules import find_rules
from pipelines.parse.table_image import read_table
from pipelines.ports import Ocr
from schemas.document import Block

MOST = 0.6
"""Share of a region's lines within a frame of rules from which the frame is the table."""
REREAD_HEIGHT = 40
"""Pixels: lines of cells lower than this are read anew at twice their size."""
SPREAD = 20.0
"""Standard deviation of the grey values (of 255) above which a cell without a line may hold one."""

RULE = 3
"""Pixels at the edge of a cell that may be its rule."""


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
    moved = [_in_pixels(line, scale) for line in lines]
    if place.shapes:
        moved = _by_cell(image, moved, place.shapes, reader)
    moved = [line._replace(box=_moved(line.box, x0, y0)) for line in moved]
    shapes = [Shape(s.row, s.rows, s.columns, _moved(s.box, x0, y0)) for s in place.shapes]
    grid, engine = read_table(image[y0:y1, x0:x1], moved, shapes)
    weight = sum(len(line.text) for line in lines)
    confidence = sum(line.confidence * len(line.text) for line in lines) / weight
    return Block(
        kind="table",
        text=to_markdown(grid),
        html=to_html(grid),
        page=number,
        box=to_box(whole),
        engine=engine,
        confidence=round(confidence * (0.8 if engine == "geometry" else 1.0), 3),
    )


def _by_cell(image: Any, lines: Sequence[Line], shapes: Sequence[Shape], reader: Ocr) -> list[Line]:
    """Lines that run over several cells are read once more in parts, and so are cells in which nothing was seen."""
    whole: list[Line] = []
    cut: list[tuple[Line, list[Rectangle]]] = []
    empty = set(range(len(shapes)))
    for line in lines:
        homes = [number for number, shape in enumerate(shapes) if _reaches(line, shape.box)]
        empty -= set(homes)
        parts = [_part(line.box, shapes[number].box) for number in homes]
        parts = [part for part in parts if not any(inside(other.box, part) for other in lines if other is not line)]
        if len(homes) > 1 and parts:
            cut.append((line, parts))
        else:
            whole.append(line)
    blank = [box for number in sorted(empty) if _inked(image, box := _within(shapes[number].box))]
    read = iter(_reread(image, [part for _, parts in cut for part in parts] + blank, reader))
    for line, parts in cut:
        found = [next(read) for _ in parts]
        if sum(len(part.text) for part in found if part) >= MOST * len(line.text):
            whole += [part for part in found if part]
        else:
            whole.append(line)
    return whole + [line for line in read if line]


def _reaches(line: Line, box: Rectangle) -> bool:
    height = line.box[3] - line.box[1]
    return (
        box[1] < (line.box[1] + line.box[3]) / 2 < box[3]
        and min(line.box[2], box[2]) - max(line.box[0], box[0]) > 0.5 * height
    )


def _part(line: Rectangle, cell: Rectangle) -> Rectangle:
    """Whole cells' width, for the line may begin within a word; some more of its height, for tails cross the rules."""
    more = 0.2 * (cell[3] - cell[1])
    return (cell[0] + RULE, max(line[1], cell[1] - more), cell[2] - RULE, min(line[3], cell[3] + more))


def _within(cell: Rectangle) -> Rectangle:
    return (cell[0] + RULE, cell[1] + RULE, cell[2] - RULE, cell[3] - RULE)


def _inked(image: Any, box: Rectangle) -> bool:
    cut = _cut(image, box)
    return bool(cut.size and cut.std() > SPREAD)


def _cut(image: Any, box: Rectangle) -> Any:
    x0, y0, x1, y1 = (max(0, int(value)) for value in box)
    return image[y0:y1, x0:x1]


def _reread(image: Any, boxes: Sequence[Rectangle], reader: Ocr) -> list[Line | None]:
    """What stands in each box, read in one go: the pieces one below the other, far enough apart."""
    import cv2
    import numpy as np

    pieces = [_cut(image, box) for box in boxes]
    pieces = [piece if piece.size else np.full((8, 8, 3), 255, np.uint8) for piece in pieces]
    if not pieces:
        return []
    zoom = 2 if sorted(len(piece) for piece in pieces)[len(pieces) // 2] < REREAD_HEIGHT else 1
    pieces = [cv2.resize(piece, None, fx=zoom, fy=zoom, interpolation=cv2.INTER_CUBIC) for piece in pieces]
    margin = 12 * zoom
    width = max(piece.shape[1] for piece in pieces) + 2 * margin
    bands = []
    for piece in pieces:
        band = np.full((len(piece) + 2 * margin, width, 3), np.median(piece, axis=(0, 1)), np.uint8)
        band[margin : margin + len(piece), margin : margin + piece.shape[1]] = piece
        bands.append(band)
    ends = np.cumsum([len(band) for band in bands])
    homes: dict[int, list[tuple[float, str, float]]] = {}
    for seen in reader.read(np.ascontiguousarray(np.vstack(bands))):
        middle = sum(seen.quad[1::2]) / 4
        home = min(int(np.searchsorted(ends, middle)), len(bands) - 1)
        homes.setdefault(home, []).append((min(seen.quad[0::2]), seen.text, seen.confidence))
    return [_line(box, sorted(homes.get(number, ()))) for number, box in enumerate(boxes)]


def _line(box: Rectangle, seen: Sequence[tuple[float, str, float]]) -> Line | None:
    if not seen:
        return None
    text = " ".join(part for _, part, _ in seen)
    return Line(text, box, box[3] - box[1], confidence=min(confidence for *_, confidence in seen))


def _in_pixels(line: Line, scale: float) -> Line:
    return line._replace(box=_scaled(line.box, 1 / scale), size=line.size / scale)


def _scaled(box: Rectangle, factor: float) -> Rectangle:
    return (box[0] * factor, box[1] * factor, box[2] * factor, box[3] * factor)


def _moved(box: Rectangle, x: float, y: float) -> Rectangle:
    return (box[0] - x, box[1] - y, box[2] - x, box[3] - y)
