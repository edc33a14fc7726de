"""What OCR read in a table, cell by cell: a line found as one may run over several cells, a lone sign be overlooked."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from pipelines.parse.lines import Line
from pipelines.parse.order import Rectangle, inside
from pipelines.parse.ruled import Shape
from pipelines.ports import Ocr

KEPT = 0.6
"""Share of a line's letters that its parts must yield to replace it."""
REREAD_HEIGHT = 40
"""Pixels: lines of cells lower than this are read anew at twice their size."""
SPREAD = 20.0
"""Standard deviation of the grey values (of 255) above which a cell without a line may hold one."""
INK = 60
"""Difference from the ground, of 255 grey values."""
GAP = 0.3
"""Heights of a line: wider than the space between words."""
RULE = 3
"""Pixels at the edge of a cell that may be its rule."""


def in_frames(image: Any, lines: Sequence[Line], shapes: Sequence[Shape], reader: Ocr) -> list[Line]:
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
    return whole + _parts_read(image, cut, blank, reader)


def at_gaps(image: Any, lines: Sequence[Line], shapes: Sequence[Shape], reader: Ocr) -> list[Line]:
    """Lines over several cells of a model, whose boxes are but near: cut where a gap is between the cells."""
    whole: list[Line] = []
    cut: list[tuple[Line, list[Rectangle]]] = []
    for line in lines:
        homes = [shape for shape in shapes if _reaches(line, shape.box)]
        x0, y0, x1, y1 = line.box
        gaps = [_gap(image, line.box, (a.box[2] + b.box[0]) / 2) for a, b in pairwise(homes) if a.row == b.row]
        ends = [x0, *(gap for gap in gaps if gap is not None), x1]
        if len(ends) > 2:
            cut.append((line, [(start, y0, end, y1) for start, end in pairwise(ends)]))
        else:
            whole.append(line)
    return whole + _parts_read(image, cut, (), reader)


def _gap(image: Any, line: Rectangle, near: float) -> float | None:
    """The middle of the widest gap within a height of `near`; None where words stand no further apart than usual."""
    import numpy as np

    height = line[3] - line[1]
    start = max(line[0], near - height)
    zone = _cut(image, (start, line[1] + 0.15 * height, min(line[2], near + height), line[3] - 0.15 * height))
    if not zone.size:
        return None
    grey = zone.mean(axis=2)
    inked = np.flatnonzero((np.abs(grey - np.median(grey)) > INK).any(axis=0))
    stops = (0, *inked, zone.shape[1])
    widest = max(pairwise(stops), key=lambda pair: pair[1] - pair[0])
    return start + float(sum(widest)) / 2 if widest[1] - widest[0] > GAP * height else None


def _parts_read(
    image: Any, cut: Sequence[tuple[Line, Sequence[Rectangle]]], blank: Sequence[Rectangle], reader: Ocr
) -> list[Line]:
    """What is read in the parts of each line, or the line where that is too little; then in the blank cells."""
    lines: list[Line] = []
    read = iter(_reread(image, [part for _, parts in cut for part in parts] + list(blank), reader))
    for line, parts in cut:
        found = [part for part in (next(read) for _ in parts) if part]
        lines += found if sum(len(part.text) for part in found) >= KEPT * len(line.text) else [line]
    return lines + [line for line in read if line]


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
