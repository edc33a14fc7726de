"""Tables of a PDF page, and the check that they keep the numbers of the page.

`Table.extract()` of pymupdf 2.0 loses decimal points and commas (`58.1` becomes `581`), `Table.to_html()` keeps them,
so only the latter is used, and the numbers of every table are compared with those of the page below it.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pipelines.parse.cells import Grid, read_html
from pipelines.parse.layout_model import one_thread
from pipelines.parse.order import Rectangle
from pipelines.parse.rows import Row, joined

NUMBER = re.compile(r"\d[\d.,]*")


@dataclass(frozen=True)
class Table:
    """A table and its place in points as pymupdf counts them (before page rotation)."""

    grid: Grid
    box: Rectangle
    engine: str
    exact: bool = True
    """The same numbers are in the table and on the page below it."""
    below: str = ""
    """Those words of the page, where the numbers differ."""


def numbers(text: str) -> Counter[str]:
    """The numbers of a text, each with its points and commas."""
    return Counter(found.group().rstrip(".,") for found in NUMBER.finditer(text))


def _same_numbers(grid: Grid, page: Any, box: Rectangle) -> bool:
    """Whether each number below `box` is in the table as often, wherever a space or a line end falls."""
    cells = numbers(" \n ".join(cell.text for row in grid for cell in row))
    below = numbers(_below(page, box))
    missing, added = below - cells, cells - below
    digits = sum(len(number) for number in missing) + sum(len(number) for number in added)
    # Lines cut by the edge of the box make a few numbers differ: the check is for tables that lose them in rows.
    return digits <= 0.02 * sum(len(number) * count for number, count in below.items())


def _below(page: Any, box: Rectangle) -> str:
    return "\n".join(word[4] for word in page.get_text("words", clip=box))


def find_tables(page: Any, path: Path) -> list[Table]:
    """All tables of a pymupdf page, on which `get_layout()` has not been called yet."""
    one_thread()
    tables = []
    words = page.get_text("words")
    for found in page.find_tables(union=True, refine=True).tables:
        grid = _unwrapped(page, found, words)
        box = tuple(float(value) for value in found.bbox)
        if not any(cell.text for row in grid for cell in row):
            continue
        table = Table(grid, box, "pymupdf", _same_numbers(grid, page, box))  # type: ignore[arg-type]
        if _doubtful(table):
            table = _better(page, path, table) or replace(table, below=_below(page, table.box))
        tables.append(table)
    return tables


def _unwrapped(page: Any, found: Any, words: Sequence[Any]) -> Grid:
    """The grid of a found table, its wrapped lines joined to the rows that they belong to."""
    grid = read_html(found.to_html())
    if page.rotation or len(grid) != len(found.rows):
        return grid
    edges = _edges(page, found.bbox)
    rows: list[Row] = []
    for cells, place in zip(grid, found.rows, strict=True):
        inside = [word for word in words if _within(word, place.bbox)]
        top, bottom = (
            min((w[1] for w in inside), default=place.bbox[1]),
            max((w[3] for w in inside), default=place.bbox[3]),
        )
        above = rows[-1].bottom if rows else top
        rows.append(Row(cells, top, bottom, any(above - 2 <= edge <= top + 2 for edge in edges)))
    heads = next((number for number, row in enumerate(grid) if not all(cell.header for cell in row)), len(grid))
    return joined(rows, heads)


def _edges(page: Any, box: Rectangle) -> list[float]:
    """Heights of rules, and of upper and lower edges of areas, that cross a good part of the table."""
    least = 0.4 * (box[2] - box[0])
    heights: list[float] = []
    for drawing in page.get_cdrawings():
        for item in drawing["items"]:
            if item[0] == "l":
                (x0, y0), (x1, y1) = item[1], item[2]
            elif item[0] == "re":
                x0, y0, x1, y1 = item[1]
            else:
                continue
            if abs(x1 - x0) >= least and box[1] - 2 <= y0 <= box[3] + 2:
                heights += [y0, y1]
    return heights


def _within(word: Sequence[Any], box: Rectangle) -> bool:
    x, y = (word[0] + word[2]) / 2, (word[1] + word[3]) / 2
    return bool(box[0] <= x <= box[2] and box[1] <= y <= box[3])


def _doubtful(table: Table) -> bool:
    width = max(sum(cell.columns for cell in row) for row in table.grid)
    long = any(len(cell.text) > 200 for row in table.grid for cell in row)
    return not table.exact or (width <= 2 and long)


def _better(page: Any, path: Path, table: Table) -> Table | None:
    """Another engine's reading that keeps the numbers."""
    from pipelines.parse.table_fallbacks import other_readings

    for grid, engine in other_readings(page, path, table.box, table.grid):
        if _same_numbers(grid, page, table.box):
            return Table(grid, table.box, engine)
    return None
