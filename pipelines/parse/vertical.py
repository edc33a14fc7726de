"""Text that runs down the page: vertical Chinese and Japanese, columns from right to left, and pages on their side."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from pipelines.parse.lines import Line, union
from pipelines.parse.order import Rectangle


def is_vertical(lines: Sequence[Line]) -> bool:
    """Whether most of the text stands in narrow tall lines."""
    weight = sum(len(line.text) for line in lines)
    tall = sum(len(line.text) for line in lines if _tall(line))
    return weight >= 8 and tall > 0.6 * weight


def _tall(line: Line) -> bool:
    width, height = line.box[2] - line.box[0], line.box[3] - line.box[1]
    return len(line.text) > 1 and height > 2 * width and any("\u3040" <= c <= "\u9fff" for c in line.text)


def vertical_order(boxes: Sequence[Rectangle]) -> list[int]:
    """Indexes by bands from top to bottom, in each band from right to left, in a column from top to bottom."""
    ordered: list[int] = []
    for band in _bands(boxes):
        columns: list[list[int]] = []
        for index in sorted(band, key=lambda i: -(boxes[i][0] + boxes[i][2])):
            middle = (boxes[index][0] + boxes[index][2]) / 2
            if columns and any(boxes[other][0] <= middle <= boxes[other][2] for other in columns[-1]):
                columns[-1].append(index)
            else:
                columns.append([index])
        ordered += [index for column in columns for index in sorted(column, key=lambda i: boxes[i][1])]
    return ordered


def _bands(boxes: Sequence[Rectangle]) -> list[list[int]]:
    """Groups that no box bridges from top to bottom."""
    bands: list[list[int]] = []
    end = 0.0
    for index in sorted(range(len(boxes)), key=lambda i: boxes[i][1]):
        if not bands or boxes[index][1] >= end:
            bands.append([])
        bands[-1].append(index)
        end = max(end, boxes[index][3])
    return bands


def turned(lines: Sequence[Line]) -> int:
    """Quarter turns (as `Line.turns`) that most of the text has."""
    weights: Counter[int] = Counter()
    for line in lines:
        weights[line.turns] += len(line.text)
    turns, weight = max(weights.items(), key=lambda one: one[1], default=(0, 0))
    return turns if weight > 0.6 * weights.total() else 0


def upright(box: Rectangle, turns: int) -> Rectangle:
    """The box as it lies when text with so many `turns` is read from left to right; coordinates may be negative."""
    x0, y0, x1, y1 = box
    if turns == 1:
        return (y0, -x1, y1, -x0)
    if turns == 2:
        return (-x1, -y1, -x0, -y0)
    return (-y1, x0, -y0, x1) if turns == 3 else box


def stacked(lines: Sequence[Line]) -> list[Line]:
    """Lines of one character each that stand close below each other, made lines that run down.

    They do where the next character is nearer below than beside: in a grid of characters nothing changes.
    """
    single = [line for line in lines if len(line.text) == 1 and "\u3040" <= line.text <= "\u9fff" and not line.hidden]
    if len(single) < 8 or len(single) < 0.6 * len(lines):
        return list(lines)
    columns: list[list[Line]] = []
    for line in sorted(single, key=lambda line: (-round((line.box[0] + line.box[2]) / line.size), line.box[1])):
        last = columns[-1][-1] if columns else None
        same = last is not None and abs(last.box[0] - line.box[0]) < 0.5 * line.size
        if last is not None and same and -0.5 * line.size < line.box[1] - last.box[3] < 0.7 * line.size:
            columns[-1].append(line)
        else:
            columns.append([line])
    if len(columns) > len(single) / 3 or _crowded(columns):
        return list(lines)
    rest = [line for line in lines if line not in set(single)]
    return [_column(column) for column in columns] + rest


def _crowded(columns: Sequence[Sequence[Line]]) -> bool:
    """Whether columns stand no further apart than characters do: then rows are as likely."""
    pitch = min(b.box[1] - a.box[1] for column in columns if len(column) > 1 for a, b in pairwise(column))
    places = sorted({round(column[0].box[0]) for column in columns})
    return any(b - a < 1.1 * pitch for a, b in pairwise(places))


def _column(column: Sequence[Line]) -> Line:
    text, box = "".join(line.text for line in column), union([line.box for line in column])
    return column[0]._replace(text=text, box=box, turns=1)
