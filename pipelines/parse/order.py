"""Reading order of boxes by recursive XY-cut (Nagy and Seth, 1984): cut at clear gaps, columns first, then rows."""

from collections.abc import Sequence
from itertools import pairwise

GUTTER = 0.5
"""Heights of a line between columns, at least."""
TOUCH = 0.3
"""Heights of a line by which the boxes of two columns of running text may overlap: OCR draws them wide."""
Rectangle = tuple[float, float, float, float]
"""x0, y0, x1, y1 in points or pixels, origin top left."""


def inside(inner: Rectangle, outer: Rectangle) -> bool:
    """Whether the middle of `inner` lies in `outer`."""
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return outer[0] <= x <= outer[2] and outer[1] <= y <= outer[3]


def reading_order(boxes: Sequence[Rectangle], line: float | None = None) -> list[int]:
    """Indexes of `boxes` in reading order: a permutation, whatever the input.

    `line`: height of a line of text, where the boxes are not lines themselves.
    """
    if line is None:
        heights = sorted(box[3] - box[1] for box in boxes)
        line = heights[len(heights) // 2] if heights else 0.0
    ordered = _stacked(boxes, line)
    stack = [] if ordered else [list(range(len(boxes)))]
    while stack:
        group = stack.pop()
        parts = _split(boxes, group, line)
        if len(parts) == 1:
            ordered.extend(_rows(boxes, group, line))
        else:
            stack.extend(reversed(parts))
    return ordered


def _stacked(boxes: Sequence[Rectangle], line: float) -> list[int]:
    """The order of one column of lines, where all cuts would be between one line and the next; else nothing."""
    ordered = sorted(range(len(boxes)), key=lambda i: (boxes[i][1], i))
    for above, below in pairwise(ordered):
        (left, _, right, bottom), (x0, y0, x1, y1) = boxes[above], boxes[below]
        if y0 + 0.1 * (y1 - y0) < bottom or x0 >= right + 0.7 * line or left >= x1 + 0.7 * line:
            return []
    return ordered


def _split(boxes: Sequence[Rectangle], group: list[int], line: float) -> list[list[int]]:
    """Parts of a group in reading order; one part when there is nothing to cut."""
    if len(group) < 2:
        return [group]
    columns = _with_marks(boxes, _gaps(boxes, group, 0, GUTTER * line), line)
    rows = _gaps(boxes, group, 1, 0.0, line)
    # Columns of text are tall: a gutter between single lines is a gap between words, read across.
    if len(columns) > 1 and all(_tall(boxes, part, line) for part in columns):
        return columns
    if len(close := _gaps(boxes, group, 0, -TOUCH * line)) > 1 and all(_text(boxes, one, line) for one in close):
        return close
    if len(rows) > 1:
        return _cut_where_columns_change(boxes, rows, line) if len(columns) == 1 else rows
    return columns if len(columns) > 1 else [group]


def _cut_where_columns_change(boxes: Sequence[Rectangle], rows: list[list[int]], line: float) -> list[list[int]]:
    """Rows that share a gutter stay one part, so that columns under a full-width title are cut as columns later."""
    parts: list[list[int]] = []
    for row in rows:
        if parts:
            joined = parts[-1] + row
            above, here, both = (len(_gaps(boxes, part, 0, GUTTER * line)) for part in (parts[-1], row, joined))
            if both > 1 and (above > 1 or here == 1) and len(joined) > 2:
                parts[-1] = joined
                continue
        parts.append(list(row))
    return parts if len(parts) > 1 else rows


def _gaps(boxes: Sequence[Rectangle], group: list[int], axis: int, least: float, line: float = 0.0) -> list[list[int]]:
    """Groups that no box bridges along `axis` (0 across, 1 down)."""
    parts: list[list[int]] = []
    end = 0.0
    for index in sorted(group, key=lambda i: (boxes[i][axis], i)):
        start, stop = boxes[index][axis], boxes[index][axis + 2]
        # Line boxes of tight text overlap a little: a tenth of a line is no bridge.
        slack = 0.0 if axis == 0 else 0.1 * min(stop - start, 2 * line)
        if not parts or start + slack >= end + least:
            parts.append([])
            end = stop
        parts[-1].append(index)
        end = max(end, stop)
    return parts


def _tall(boxes: Sequence[Rectangle], part: list[int], line: float) -> bool:
    return max(boxes[i][3] for i in part) - min(boxes[i][1] for i in part) > 2.5 * line


def _text(boxes: Sequence[Rectangle], part: list[int], line: float) -> bool:
    """Whether the part is a column of running text: many lines, each of several words."""
    across = max(boxes[i][2] for i in part) - min(boxes[i][0] for i in part)
    down = max(boxes[i][3] for i in part) - min(boxes[i][1] for i in part)
    return len(part) >= 5 and across > 6 * line and down > 6 * line


def _with_marks(boxes: Sequence[Rectangle], columns: list[list[int]], line: float) -> list[list[int]]:
    """The columns; those of bullets or equation numbers gone to the nearest other, whose lines they mark."""
    kept = list(columns)
    for part in columns:
        others = [one for one in kept if one is not part]
        if not others:
            break
        near = min(others, key=lambda one: _apart(boxes, part, one))
        if _marks(boxes, part, near, line):
            near += part
            kept = others
    return kept


def _apart(boxes: Sequence[Rectangle], a: list[int], b: list[int]) -> float:
    """Clear space between two columns."""
    start = max(min(boxes[i][0] for i in part) for part in (a, b))
    return start - min(max(boxes[i][2] for i in part) for part in (a, b))


def _marks(boxes: Sequence[Rectangle], part: list[int], other: list[int], line: float) -> bool:
    """Whether the part is narrow, and each of its boxes on the height of one of the other part."""
    if max(boxes[i][2] for i in part) - min(boxes[i][0] for i in part) > 4 * line:
        return False
    middles = ((boxes[i][1] + boxes[i][3]) / 2 for i in part)
    return all(any(boxes[i][1] < middle < boxes[i][3] for i in other) for middle in middles)


def _rows(boxes: Sequence[Rectangle], group: list[int], line: float) -> list[int]:
    """Boxes that cannot be cut apart: by line, then from left to right."""
    ordered: list[int] = []
    row: list[int] = []
    for index in sorted(group, key=lambda i: (boxes[i][1] + boxes[i][3], boxes[i][0])):
        middle = (boxes[index][1] + boxes[index][3]) / 2
        if row and middle > boxes[row[0]][3] - 0.2 * line:
            ordered.extend(sorted(row, key=lambda i: boxes[i][0]))
            row = []
        row.append(index)
    return ordered + sorted(row, key=lambda i: boxes[i][0])
