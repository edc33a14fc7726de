"""Where to cut a run of units: by content, so that an edit moves only the cuts beside it.

The units' priorities span a Cartesian tree (Vuillemin 1980); a boundary is a cut when the units between its nearest
smaller neighbours do not fit into one chunk. That depends on nothing farther away, so cuts resynchronise at once.
"""

from itertools import accumulate

from pipelines.chunk.units import Limits, Unit


def pack(units: list[Unit], limits: Limits) -> list[list[Unit]]:
    """Groups of neighbouring units; each fits, except a single unit that does not."""
    count = len(units)
    sizes = [0, *accumulate(len(unit.text) + len(unit.glue) for unit in units)]
    if count > 1 and sizes[-1] <= limits.characters and limits.cost("".join(u.text for u in units)) <= limits.tokens:
        return [units]
    costs = [0.0, *accumulate(limits.cost(unit.text) + 1 for unit in units)]
    left, right = _neighbours([unit.priority() for unit in units])
    groups: list[list[Unit]] = []
    for number, unit in enumerate(units):
        start, end = left[number], right[number]
        large = sizes[end] - sizes[start] > limits.characters or costs[end] - costs[start] > limits.tokens
        if number == 0 or large:
            groups.append([])
        groups[-1].append(unit)
    return groups


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
