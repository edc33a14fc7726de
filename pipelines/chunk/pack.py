"""Where to cut a run of units: by content, so that an edit moves only the cuts beside it.

The units' priorities span a Cartesian tree (Vuillemin 1980); a boundary is a cut when the units between its nearest
smaller neighbours do not fit into one chunk. That depends on nothing farther away, so cuts resynchronise at once.
"""

from itertools import accumulate, pairwise

from pipelines.chunk.units import Limits, Unit


def pack(units: list[Unit], limits: Limits) -> list[list[Unit]]:
    """Groups of neighbouring units; each fits, except a single unit that does not."""
    count = len(units)
    sizes = [0, *accumulate(len(unit.text) + len(unit.glue) for unit in units)]
    if count > 1 and sizes[-1] <= limits.characters and limits.cost("".join(u.text for u in units)) <= limits.tokens:
        return [units]
    costs = [0.0, *accumulate(limits.cost(unit.text) + 1 for unit in units)]
    left, right = _neighbours([unit.priority() for unit in units])
    starts: list[int] = []
    for number in range(count):
        start, end = left[number], right[number]
        large = sizes[end] - sizes[start] > limits.characters or costs[end] - costs[start] > limits.tokens
        if number == 0 or large:
            starts.append(number)
    return [units[start:end] for start, end in _joined([*starts, count], sizes, costs, limits)]


def _joined(cuts: list[int], sizes: list[int], costs: list[float], limits: Limits) -> list[tuple[int, int]]:
    """Small groups go to the one before where they fit: a chain of them is short, so an edit still stays local."""
    spans: list[tuple[int, int]] = []
    for start, end in pairwise(cuts):
        if spans and sizes[end] - sizes[start] < limits.characters // 3:
            first = spans[-1][0]
            if sizes[end] - sizes[first] <= limits.characters and costs[end] - costs[first] <= limits.tokens:
                spans[-1] = (first, end)
                continue
        spans.append((start, end))
    return spans


def _neighbours(priorities: list[int]) -> tuple[list[int], list[int]]:
    """For the boundary before each unit, the nearest boundaries on both sides of smaller priority."""
    count = len(priorities)
    left, right, open_ = [0] * count, [count] * count, [0]
    for number in range(1, count):
        while len(open_) > 1 and priorities[open_[-1]] > priorities[number]:
            right[open_.pop()] = number
        left[number] = open_[-1]
        open_.append(number)
    return left, right
