"""Vertical Chinese and Japanese: columns of characters from right to left."""

from collections.abc import Sequence

from pipelines.parse.lines import Line
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
