"""Where to cut a run of units: by content, so that an edit moves only the cuts beside it.

A boundary is a cut where its priority is the smallest within a third of a chunk on both sides (local-minimum chunking:
Bjørner, Blass, Gurevich 2010, "Content-dependent chunking for differential compression"). So cuts are at least that
far apart, an edit moves none that is farther away, and at most the chunks on both sides of one change. What lies
between two cuts and is still too large is halved.
"""

from itertools import accumulate, pairwise

from pipelines.chunk.units import Limits, Unit

NEAR = 1 / 3
"""Of a chunk: smaller gives small chunks, larger ones that an edit moves more of."""


def pack(units: list[Unit], limits: Limits) -> list[list[Unit]]:
    """Groups of neighbouring units; each fits, except a single unit that does not."""
    if len(units) == 1:
        return [units]
    ends = [0.0, *accumulate(unit.load for unit in units)]
    if ends[-1] <= 1:
        return [units]
    priorities = [unit.priority() for unit in units]
    left, right = _neighbours(priorities)
    cuts = [at for at in range(1, len(units)) if ends[at] - ends[left[at]] > NEAR and ends[right[at]] - ends[at] > NEAR]
    return [
        units[start:end]
        for first, last in pairwise([0, *cuts, len(units)])
        for start, end in _halves(first, last, ends, priorities)
    ]


def _halves(first: int, last: int, ends: list[float], priorities: list[int]) -> list[tuple[int, int]]:
    """The span in parts that fit: at the least boundary that leaves two such parts, else at one in the middle half."""
    parts: list[tuple[int, int]] = []
    stack = [(first, last)]
    while stack:
        start, end = stack.pop()
        size = ends[end] - ends[start]
        if size <= 1 or end - start == 1:
            parts.append((start, end))
            continue
        inner = range(start + 1, end)
        reach = max(size - 1, 0.0) if size <= 2 else size / 4
        middle = [at for at in inner if ends[at] - ends[start] >= reach and ends[end] - ends[at] >= reach]
        cut = min(middle or inner, key=lambda at: (priorities[at], at))
        stack += [(cut, end), (start, cut)]
    return parts


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
