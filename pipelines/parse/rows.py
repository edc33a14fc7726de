"""Rows of a table without rules that are only the next line of the row above, made one row again.

Grid models see a wrapped cell as a new row. A row continues the one above when no rule parts them, it fills only
columns that the row above fills, states no figure of its own, and either stands closer than rows do or reads on.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pipelines.parse.cells import Cell, Grid

FIGURE = re.compile(r"[^A-Za-z\u3400-\u9fff]*\d[^A-Za-z\u3400-\u9fff]*")
OPEN_END = re.compile(r"([,(/&、，—–-]|\b(of|the|and|or|in|for|to|by|with|on|a|an|per))$")


@dataclass(frozen=True)
class Row:
    """A row and where its words stand (top and bottom in points)."""

    cells: tuple[Cell, ...]
    top: float
    bottom: float
    ruled: bool = True
    """A rule or a change of background parts it from the row above."""


def joined(rows: Sequence[Row], heads: int) -> Grid:
    """The grid with continuations joined. The first `heads` rows stay as they are."""
    if len({len(row.cells) for row in rows}) != 1 or any(c.rows > 1 or c.columns > 1 for r in rows for c in r.cells):
        return tuple(row.cells for row in rows)
    usual = _usual_gap(rows, heads)
    out: list[Row] = []
    for number, row in enumerate(rows):
        if number > max(heads, 1) and _continues(out[-1], row, usual):
            cells = tuple(_both(above, below) for above, below in zip(out[-1].cells, row.cells, strict=True))
            out[-1] = replace(out[-1], cells=cells, bottom=row.bottom)
        else:
            out.append(row)
    return tuple(row.cells for row in out)


def _usual_gap(rows: Sequence[Row], heads: int) -> float:
    """The gap above rows that most likely begin anew: those with a label in the first column. 0 without any."""
    gaps = sorted(
        row.top - above.bottom
        for above, row in zip(rows[max(heads, 1) :], rows[max(heads, 1) + 1 :], strict=False)
        if row.cells[0].text
    )
    return gaps[len(gaps) // 2] if gaps else 0.0


def _continues(above: Row, row: Row, usual: float) -> bool:
    if row.ruled or not any(cell.text for cell in row.cells):
        return False
    pairs = [(a.text, b.text) for a, b in zip(above.cells, row.cells, strict=True)]
    if any(b and not a for a, b in pairs) or not any(a and not b for a, b in pairs):
        return False
    if any(FIGURE.fullmatch(b) for _, b in pairs if b):
        return False
    gap, height = row.top - above.bottom, row.bottom - row.top
    if gap > 0.9 * height:
        return False
    reads_on = any(b and (b[0].islower() or OPEN_END.search(a)) for a, b in pairs)
    return reads_on or (usual > 0 and gap < 0.5 * usual)


def _both(above: Cell, below: Cell) -> Cell:
    if not below.text:
        return above
    wide = re.search(r"[\u3000-\u9fff\uff00-\uffef]$", above.text) and re.match(
        r"[\u3000-\u9fff\uff00-\uffef]", below.text
    )
    return replace(above, text=f"{above.text}{'' if wide or not above.text else ' '}{below.text}")
