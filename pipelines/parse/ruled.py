"""Tables whose cells are framed: the rules in a page image say where each cell begins and ends, spans included.

Rules are found by morphological opening (Serra 1982), long and thin ones against the local background, so that the
edges of filled cells count too. A slightly turned scan is sheared back before rules are told to be one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pipelines.parse.lines import Line
from pipelines.parse.order import Rectangle

SHORTEST = 1.3
"""Heights of a line of text: strokes of letters are shorter than a rule."""
NEAR = 0.4
"""Heights of a line of text within which two rules are one, or a rule ends at another."""
COVERED = 0.6
"""Share of a cell's side that a rule has to run along."""
MIN_FILLED = 0.4
"""Share of the cells with text below which a grid is a chart, a form's boxes or a notebook."""
MAX_SHARE = 0.6
"""Share of the text in one cell above which the grid is the frame of a page."""


@dataclass(frozen=True)
class Shape:
    """A cell without its text: its place in the grid and on the image (pixels)."""

    row: int
    rows: int
    columns: int
    box: Rectangle


class Ruled(NamedTuple):
    box: Rectangle
    """Pixels, around all cells."""
    shapes: tuple[Shape, ...]
    """In reading order."""


class _Rule(NamedTuple):
    at: float
    """Across its course: y of a horizontal rule, x of an upright one, in sheared pixels."""
    start: float
    end: float


def ruled_tables(image: Any, lines: Sequence[Line]) -> list[Ruled]:
    """`image`: numpy uint8, height x width x 3, RGB, upright; `lines`: what was read in it, boxes in its pixels."""
    if len(lines) < 4:
        return []
    sizes = sorted(line.box[3] - line.box[1] for line in lines)
    height = max(8.0, sizes[len(sizes) // 2])
    level, upright, slope = _rules(image, height)
    found = []
    near = NEAR * height
    for across, down in _groups(level, upright, near):
        table = _table(across, down, near, slope, lines)
        if table is not None and _holds_text(table, lines):
            found.append(table)
    return found


def _rules(image: Any, height: float) -> tuple[list[_Rule], list[_Rule], float]:
    """Horizontal and upright rules, and by how much the former fall per pixel to the right."""
    import cv2

    dark = 255 - cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    ink = cv2.adaptiveThreshold(dark, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, 15, -6)
    length = int(SHORTEST * height)
    level = _courses(ink, (2 * length, 1), (length, 1), (1, 3))
    slope = _slope(level)
    level_rules = [
        _Rule((y0 + y1) / 2 - slope * (x0 + x1) / 2, x0 + slope * (y0 + y1) / 2, x1 + slope * (y0 + y1) / 2)
        for x0, y0, x1, y1 in level
    ]
    upright_rules = [
        _Rule((x0 + x1) / 2 + slope * (y0 + y1) / 2, y0 - slope * (x0 + x1) / 2, y1 - slope * (x0 + x1) / 2)
        for x0, y0, x1, y1 in _courses(ink, (1, length), (1, length // 2), (3, 1))
    ]
    return level_rules, upright_rules, slope


def _courses(
    ink: Any, shortest: tuple[int, int], gap: tuple[int, int], slack: tuple[int, int]
) -> list[tuple[float, float, float, float]]:
    """Start and end points of thin runs of ink, (width, height) each: at least `shortest`, over gaps, with slack."""
    import cv2
    import numpy as np

    thick = cv2.dilate(ink, np.ones(slack[::-1], np.uint8))
    runs = cv2.morphologyEx(thick, cv2.MORPH_OPEN, np.ones(shortest[::-1], np.uint8))
    runs = cv2.morphologyEx(runs, cv2.MORPH_CLOSE, np.ones(gap[::-1], np.uint8))
    count, marks, stats, _ = cv2.connectedComponentsWithStats(runs)
    courses = []
    for number in range(1, count):
        left, top, width, tall = (int(value) for value in stats[number][:4])
        along, across = (width, tall) if shortest[0] > shortest[1] else (tall, width)
        if across > max(10, along / 8):  # a filled area, not a rule
            continue
        part = marks[top : top + tall, left : left + width] == number
        if shortest[0] > shortest[1]:
            first, last = np.flatnonzero(part[:, 0]).mean(), np.flatnonzero(part[:, -1]).mean()
            courses.append((left, top + first, left + width, top + last))
        else:
            first, last = np.flatnonzero(part[0]).mean(), np.flatnonzero(part[-1]).mean()
            courses.append((left + first, top, left + last, top + tall))
    return [(float(a), float(b), float(c), float(d)) for a, b, c, d in courses]


def _slope(level: Sequence[tuple[float, float, float, float]]) -> float:
    """The median over the longer half."""
    longer = sorted(level, key=lambda rule: rule[2] - rule[0])[len(level) // 2 :]
    slopes = sorted((y1 - y0) / (x1 - x0) for x0, y0, x1, y1 in longer)
    return slopes[len(slopes) // 2] if slopes else 0.0


def _groups(level: Sequence[_Rule], upright: Sequence[_Rule], near: float) -> list[tuple[list[_Rule], list[_Rule]]]:
    """Rules that meet, directly or over others."""
    homes = list(range(len(level) + len(upright)))

    def root(number: int) -> int:
        while homes[number] != number:
            number = homes[number]
        return number

    for i, across in enumerate(level):
        for j, down in enumerate(upright, len(level)):
            beside = across.start - near <= down.at <= across.end + near
            if beside and down.start - near <= across.at <= down.end + near:
                homes[root(i)] = root(j)
    groups: dict[int, tuple[list[_Rule], list[_Rule]]] = {}
    for number in range(len(homes)):
        pair = groups.setdefault(root(number), ([], []))
        (pair[0] if number < len(level) else pair[1]).append((*level, *upright)[number])
    return [pair for pair in groups.values() if len(pair[0]) > 1 and len(pair[1]) > 1]


def _frame(upright: Sequence[_Rule], near: float) -> tuple[_Rule, _Rule] | None:
    """The sides of a table: of the upright rules that begin and end level with another one, the two that frame most.

    The margin line of a notebook meets a table's rules too, but goes on above and below it.
    """
    pairs = [
        (left, right)
        for left in upright
        for right in upright
        if right.at - left.at > 2 * near
        and abs(left.start - right.start) <= 1.5 * near
        and abs(left.end - right.end) <= 1.5 * near
    ]
    return max(pairs, key=lambda pair: (pair[1].at - pair[0].at) * (pair[0].end - pair[0].start), default=None)


def _open(sides: tuple[_Rule, _Rule], ys: Sequence[float], level: Sequence[_Rule], lines: Sequence[Line]) -> bool:
    """Whether the rows go on beyond the sides: level rules stick out, and text stands between them."""
    starts, ends = sorted(rule.start for rule in level), sorted(rule.end for rule in level)
    left, right = starts[len(starts) // 2], ends[len(ends) // 2]
    beside = [line.box for line in lines if ys[0] < (line.box[1] + line.box[3]) / 2 < ys[-1]]
    out = [sum(left - 1 < box[0] and box[2] < sides[0].at + 1 for box in beside)]
    out.append(sum(sides[1].at - 1 < box[0] and box[2] < right + 1 for box in beside))
    return max(out) >= (len(ys) - 1) / 3


def _shapes(
    xs: Sequence[float], ys: Sequence[float], level: Sequence[_Rule], upright: Sequence[_Rule], near: float
) -> list[tuple[int, int, int, int]]:
    """Row, column, rows and columns of each cell in reading order; empty unless all are rectangles."""
    rows, columns = len(ys) - 1, len(xs) - 1
    homes = {(y, x): (y, x) for y in range(rows) for x in range(columns)}

    def root(place: tuple[int, int]) -> tuple[int, int]:
        while homes[place] != place:
            place = homes[place]
        return place

    for y, x in homes:
        if x + 1 < columns and not _runs(upright, xs[x + 1], ys[y], ys[y + 1], near):
            homes[root((y, x + 1))] = root((y, x))
        if y + 1 < rows and not _runs(level, ys[y + 1], xs[x], xs[x + 1], near):
            homes[root((y + 1, x))] = root((y, x))
    members: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for place in homes:
        members.setdefault(root(place), []).append(place)
    cells = []
    for places in sorted(sorted(places) for places in members.values()):
        (y, x), down, across = places[0], places[-1][0] - places[0][0] + 1, places[-1][1] - places[0][1] + 1
        if len(places) != down * across or any(place[1] < x for place in places):
            return []
        cells.append((y, x, down, across))
    return cells


def _table(
    level: Sequence[_Rule], upright: Sequence[_Rule], near: float, slope: float, lines: Sequence[Line]
) -> Ruled | None:
    """None unless the rules frame at least two rows and columns, all of whose cells are rectangles."""
    sides = _frame(upright, near)
    if sides is None:
        return None
    top, foot = min(side.start for side in sides) - 1.5 * near, max(side.end for side in sides) + 1.5 * near
    inner = [
        rule
        for rule in upright
        if sides[0].at <= rule.at <= sides[1].at and top - near < rule.start and rule.end < foot + near
    ]
    across = [rule for rule in level if top <= rule.at <= foot]
    xs, ys = _places(inner, near), _places(across, near)
    if len(xs) < 3 or len(ys) < 3 or _open(sides, ys, across, lines):
        return None
    shapes = tuple(
        Shape(y, rows, columns, _box(xs[x], ys[y], xs[x + columns], ys[y + rows], slope))
        for y, x, rows, columns in _shapes(xs, ys, across, inner, near)
    )
    return Ruled(_box(xs[0], ys[0], xs[-1], ys[-1], slope), shapes) if len(shapes) > 3 else None


def _box(x0: float, y0: float, x1: float, y1: float, slope: float) -> Rectangle:
    """Back from sheared pixels."""
    middle_x, middle_y = (x0 + x1) / 2, (y0 + y1) / 2
    right, low = -slope * middle_y, slope * middle_x
    return (x0 + right, y0 + low, x1 + right, y1 + low)


def _places(rules: Sequence[_Rule], near: float) -> list[float]:
    """Where rules stand, those near one another taken together by their lengths."""
    together: list[list[_Rule]] = []
    for rule in sorted(rules):
        if together and rule.at - together[-1][-1].at <= near:
            together[-1].append(rule)
        else:
            together.append([rule])
    return [sum(r.at * (r.end - r.start) for r in some) / sum(r.end - r.start for r in some) for some in together]


def _runs(rules: Sequence[_Rule], at: float, start: float, end: float, near: float) -> bool:
    """Whether rules near `at` cover the way from `start` to `end`."""
    covered = sum(
        max(0.0, min(rule.end, end) - max(rule.start, start)) for rule in rules if abs(rule.at - at) <= 1.5 * near
    )
    return covered >= COVERED * (end - start)


def _holds_text(table: Ruled, lines: Sequence[Line]) -> bool:
    """A table's cells are mostly filled, and none of them holds most of it."""
    held = [0] * len(table.shapes)
    for line in lines:
        middle = (line.box[1] + line.box[3]) / 2
        for number, shape in enumerate(table.shapes):
            x0, y0, x1, y1 = shape.box
            if y0 < middle < y1 and min(x1, line.box[2]) - max(x0, line.box[0]) > NEAR * (line.box[3] - line.box[1]):
                held[number] += len(line.text)
    filled = sum(letters > 0 for letters in held)
    return filled >= MIN_FILLED * len(held) and max(held) <= MAX_SHARE * sum(held)
