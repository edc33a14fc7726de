"""Tables whose cells are framed: the rules in a page image say where each cell begins and ends, spans included."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pipelines.parse.lines import Line
from pipelines.parse.order import Rectangle, inside
from pipelines.parse.rules import Rule, Rules

COVERED = 0.6
"""Share of a cell's side that a rule has to run along."""
MIN_STACK = 4
"""Level rules that make the rows of a table: three can be the lines of a form."""
WRAPPED = 0.7
"""Share of a cell's width that a line of wrapped text fills."""
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
    """In reading order; none where rows stand below one another without a rule between them."""


def ruled_tables(rules: Rules, lines: Sequence[Line]) -> list[Ruled]:
    """`lines`: what was read in the image, boxes in its pixels."""
    found = []
    for across, down in _groups(rules):
        table = _table(across, down, rules, lines)
        if table is not None and _holds_text(table, lines):
            found.append(table if _rows_are_ruled(table, lines) else table._replace(shapes=()))
    return found


def stacks(rules: Rules, region: Rectangle) -> list[Rectangle]:
    """Boxes (pixels) of level rules that begin and end alike, in a region: the rows of tables without upright rules.

    Not where a longer rule runs through: then they are but a part of a table's columns.
    """
    there = [rule for rule in rules.level if region[1] < rule.at + rules.slope * rule.start < region[3]]
    groups: list[list[Rule]] = []
    for rule in sorted(there):
        for group in groups:
            if max(abs(rule.start - group[0].start), abs(rule.end - group[0].end)) <= rules.near:
                group.append(rule)
                break
        else:
            groups.append([rule])
    return [
        _box(group[0].start, group[0].at, group[0].end, group[-1].at, rules.slope)
        for group in groups
        if len(_places(group, rules.near)) >= MIN_STACK and not any(_runs_through(rule, group) for rule in there)
    ]


def _runs_through(rule: Rule, group: Sequence[Rule]) -> bool:
    across = min(rule.end, group[0].end) - max(rule.start, group[0].start)
    own, length = group[0].end - group[0].start, rule.end - rule.start
    return rule not in group and group[0].at < rule.at < group[-1].at and across > 0.5 * own and length > 1.1 * own


def _groups(rules: Rules) -> list[tuple[list[Rule], list[Rule]]]:
    """Level and upright rules that meet, directly or over others."""
    level, upright, near = rules.level, rules.upright, rules.near
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
    groups: dict[int, tuple[list[Rule], list[Rule]]] = {}
    for number in range(len(homes)):
        pair = groups.setdefault(root(number), ([], []))
        (pair[0] if number < len(level) else pair[1]).append((*level, *upright)[number])
    return [pair for pair in groups.values() if len(pair[0]) > 1 and len(pair[1]) > 1]


def _frame(upright: Sequence[Rule], near: float) -> tuple[Rule, Rule] | None:
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


def _open(sides: tuple[Rule, Rule], ys: Sequence[float], level: Sequence[Rule], lines: Sequence[Line]) -> bool:
    """Whether the rows go on beyond the sides: level rules stick out, and text stands between them."""
    starts, ends = sorted(rule.start for rule in level), sorted(rule.end for rule in level)
    left, right = starts[len(starts) // 2], ends[len(ends) // 2]
    beside = [line.box for line in lines if ys[0] < (line.box[1] + line.box[3]) / 2 < ys[-1]]
    out = [sum(left - 1 < box[0] and box[2] < sides[0].at + 1 for box in beside)]
    out.append(sum(sides[1].at - 1 < box[0] and box[2] < right + 1 for box in beside))
    return max(out) >= (len(ys) - 1) / 3


def _shapes(
    xs: Sequence[float], ys: Sequence[float], level: Sequence[Rule], upright: Sequence[Rule], near: float
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


def _table(level: Sequence[Rule], upright: Sequence[Rule], rules: Rules, lines: Sequence[Line]) -> Ruled | None:
    """None unless the rules frame at least two rows and columns, all of whose cells are rectangles."""
    near, slope = rules.near, rules.slope
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


def _places(rules: Sequence[Rule], near: float) -> list[float]:
    """Where rules stand, those near one another taken together by their lengths."""
    together: list[list[Rule]] = []
    for rule in sorted(rules):
        if together and rule.at - together[-1][-1].at <= near:
            together[-1].append(rule)
        else:
            together.append([rule])
    return [sum(r.at * (r.end - r.start) for r in some) / sum(r.end - r.start for r in some) for some in together]


def _runs(rules: Sequence[Rule], at: float, start: float, end: float, near: float) -> bool:
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
            if y0 < middle < y1 and min(x1, line.box[2]) - max(x0, line.box[0]) > 0.4 * (line.box[3] - line.box[1]):
                held[number] += len(line.text)
    filled = sum(letters > 0 for letters in held)
    return filled >= MIN_FILLED * len(held) and max(held) <= MAX_SHARE * sum(held)


def _rows_are_ruled(table: Ruled, lines: Sequence[Line]) -> bool:
    """False where cells side by side each hold several lines that end before the cell does: no wrapped text."""
    stacked: dict[int, int] = {}
    for shape in table.shapes:
        width = shape.box[2] - shape.box[0]
        inner = [line.box for line in lines if inside(line.box, shape.box)]
        short = sum(box[2] - box[0] < WRAPPED * width for box in inner)
        stacked[shape.row] = stacked.get(shape.row, 0) + (short >= MIN_STACK and short > 0.7 * len(inner))
    return max(stacked.values()) < 2
