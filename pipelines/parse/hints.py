"""Does a page need the layout model? It costs a hundred times what plain lines cost, so only where it helps."""

import re
from collections.abc import Sequence
from typing import Any

from pipelines.parse.drawn import Drawn
from pipelines.parse.lines import Line

CAPTION = re.compile(r"^\s*(表\s*[0-9一二三四五六七八九十]|Table\s+\d|TABLE\s+\w)")


def needs_layout(page: Any, lines: Sequence[Line], drawn: Drawn) -> str:
    """Why; empty when plain lines will do."""
    if not lines:
        return ""
    if any(CAPTION.match(line.text) for line in lines):
        return "table caption"
    if _aligned_rows(lines) >= 3:
        return "aligned columns"
    if _columns(lines):
        return "columns"
    if drawn.images and any(_area(image) > 0.05 * abs(page.rect) for image in drawn.images):
        return "images"
    return "rules" if drawn.rules >= 4 or drawn.fills >= 2 else ""


def _aligned_rows(lines: Sequence[Line]) -> int:
    """Rows of at least three pieces of text side by side."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: line.box[1]):
        middle = (line.box[1] + line.box[3]) / 2
        if rows and middle < rows[-1][0].box[3]:
            rows[-1].append(line)
        else:
            rows.append([line])
    return sum(len(row) >= 3 for row in rows)


def _columns(lines: Sequence[Line]) -> bool:
    """At least four lines that have another line beside them with a gap between."""
    ordered = sorted(lines, key=lambda line: line.box[1])
    beside = 0
    for i, line in enumerate(ordered):
        for other in ordered[i + 1 :]:
            if other.box[1] > line.box[3]:
                break
            if other.box[0] > line.box[2] + line.size / 2 or other.box[2] < line.box[0] - line.size / 2:
                beside += 1
                break
    return beside >= 4


def _area(box: Sequence[float]) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
