"""Rules in a page image: long thin runs of ink, level and upright.

Found by morphological opening (Serra 1982) against the local background, so that the edges of filled cells count too. A
slightly turned scan is sheared back before rules are told to be one.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pipelines.parse.lines import Line

SHORTEST = 1.3
"""Heights of a line of text: strokes of letters are shorter than a rule."""
NEAR = 0.4
"""Heights of a line of text within which two rules are one, or a rule ends at another."""


class Rule(NamedTuple):
    at: float
    """Across its course: y of a level rule, x of an upright one, in sheared pixels."""
    start: float
    end: float


class Rules(NamedTuple):
    level: tuple[Rule, ...]
    upright: tuple[Rule, ...]
    slope: float
    """Pixels by which the level ones fall for each to the right."""
    near: float
    """Pixels within which two are one."""


def find_rules(image: Any, lines: Sequence[Line]) -> Rules:
    """`image`: numpy uint8, height x width x 3, RGB, upright; `lines`: what was read in it, boxes in its pixels."""
    import cv2

    sizes = sorted(line.box[3] - line.box[1] for line in lines)
    height = max(8.0, sizes[len(sizes) // 2] if sizes else 0.0)
    dark = 255 - cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    ink = cv2.adaptiveThreshold(dark, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, 15, -6)
    length = int(SHORTEST * height)
    level = _courses(ink, (2 * length, 1), (length // 2, 1), (1, 3))
    slope = _slope(level)
    level_rules = tuple(
        Rule((y0 + y1) / 2 - slope * (x0 + x1) / 2, x0 + slope * (y0 + y1) / 2, x1 + slope * (y0 + y1) / 2)
        for x0, y0, x1, y1 in level
    )
    upright_rules = tuple(
        Rule((x0 + x1) / 2 + slope * (y0 + y1) / 2, y0 - slope * (x0 + x1) / 2, y1 - slope * (x0 + x1) / 2)
        for x0, y0, x1, y1 in _courses(ink, (1, length), (1, length // 2), (3, 1))
    )
    return Rules(level_rules, upright_rules, slope, NEAR * height)


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
