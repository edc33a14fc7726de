"""Tables of a PDF page as clean HTML with spans, and as Markdown.

`Table.extract()` of pymupdf 2.0 loses decimal points and commas (`58.1` becomes `581`), `Table.to_html()` keeps them,
so only the latter is used, and the numbers of every table are compared with those of the page below it.
"""

import re
from collections import Counter
from dataclasses import dataclass
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from pipelines.parse.order import Rectangle

WRAPPED = re.compile(r"(?<=[\u3001-\u9fff\uff00-\uffef]) (?=[\u3001-\u9fff\uff00-\uffef])")
"""A space between Chinese characters is where a cell's line ended."""
NUMBER = re.compile(r"\d[\d.,]*")


@dataclass(frozen=True)
class Cell:
    text: str
    rows: int = 1
    columns: int = 1
    header: bool = False


Grid = tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Table:
    """A table and its place in points as pymupdf counts them (before page rotation)."""

    grid: Grid
    box: Rectangle
    engine: str
    exact: bool = True
    """The same numbers are in the table and on the page below it."""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[Cell]] = []
        self._open: Cell | None = None
        self._text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self._close()
            spans = dict(attrs)
            self._open = Cell("", _span(spans.get("rowspan")), _span(spans.get("colspan")), tag == "th")
        elif tag == "br":
            self._text.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr", "table"):
            self._close()

    def handle_data(self, data: str) -> None:
        if self._open:
            self._text.append(data)

    def _close(self) -> None:
        if self._open:
            text = WRAPPED.sub("", " ".join("".join(self._text).split()))
            if not self.rows:
                self.rows.append([])
            self.rows[-1].append(Cell(text, self._open.rows, self._open.columns, self._open.header))
        self._open, self._text = None, []


def _span(value: str | None) -> int:
    return min(int(value), 1000) if value and value.isdigit() and int(value) > 0 else 1


def read_html(html: str) -> Grid:
    """Rows of cells of the (first) table in `html`."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return tuple(tuple(row) for row in reader.rows if row)


def to_html(grid: Grid) -> str:
    """`<table>` with escaped text and no attributes but rowspan and colspan."""
    rows = []
    for row in grid:
        cells = []
        for cell in row:
            tag = "th" if cell.header else "td"
            spans = f' rowspan="{cell.rows}"' if cell.rows > 1 else ""
            spans += f' colspan="{cell.columns}"' if cell.columns > 1 else ""
            cells.append(f"<{tag}{spans}>{escape(cell.text, quote=False)}</{tag}>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(rows)}</table>"


def flatten(grid: Grid) -> list[list[str]]:
    """A rectangle of texts; a cell that spans several places is repeated in each."""
    places: dict[tuple[int, int], str] = {}
    for y, row in enumerate(grid):
        x = 0
        for cell in row:
            while (y, x) in places:
                x += 1
            for down in range(min(cell.rows, len(grid) - y)):
                for across in range(cell.columns):
                    places[(y + down, x + across)] = cell.text
            x += cell.columns
    width = max((x for _, x in places), default=-1) + 1
    return [[places.get((y, x), "") for x in range(width)] for y in range(len(grid))]


def to_markdown(grid: Grid) -> str:
    rows = [[cell.replace("|", "\\|") for cell in row] for row in flatten(grid)]
    if not rows:
        return ""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|" + " --- |" * len(rows[0]))
    return "\n".join(lines)


def numbers(text: str) -> Counter[str]:
    """The numbers of a text, each with its points and commas."""
    return Counter(found.group().rstrip(".,") for found in NUMBER.finditer(text))


def _same_numbers(grid: Grid, page: Any, box: Rectangle) -> bool:
    """Whether each number below `box` is in the table as often, wherever a space or a line end falls."""
    cells = numbers(" \n ".join(cell.text for row in grid for cell in row))
    below = numbers("\n".join(word[4] for word in page.get_text("words", clip=box)))
    missing, added = below - cells, cells - below
    digits = sum(len(number) for number in missing) + sum(len(number) for number in added)
    # Lines cut by the edge of the box make a few numbers differ: the check is for tables that lose them in rows.
    return digits <= 0.02 * sum(len(number) * count for number, count in below.items())


def find_tables(page: Any, path: Path) -> list[Table]:
    """All tables of a pymupdf page, on which `get_layout()` has not been called yet."""
    tables = []
    for found in page.find_tables(union=True, refine=True).tables:
        grid = read_html(found.to_html())
        box = tuple(float(value) for value in found.bbox)
        if not any(cell.text for row in grid for cell in row):
            continue
        table = Table(grid, box, "pymupdf", _same_numbers(grid, page, box))  # type: ignore[arg-type]
        if _doubtful(table):
            table = _by_rules(page, path, table) or table
        tables.append(table)
    return tables


def _doubtful(table: Table) -> bool:
    width = max(sum(cell.columns for cell in row) for row in table.grid)
    long = any(len(cell.text) > 200 for row in table.grid for cell in row)
    return not table.exact or (width <= 2 and long)


def _by_rules(page: Any, path: Path, table: Table) -> Table | None:
    """The same table by its ruled lines (pdfplumber), if that keeps the numbers and sees at least as many columns."""
    import pdfplumber

    if page.rotation:
        return None
    with pdfplumber.open(path, pages=[page.number + 1]) as pdf:
        plumbed = pdf.pages[0]
        try:
            box = [max(table.box[0] - 3, 0), max(table.box[1] - 3, 0), table.box[2] + 3, table.box[3] + 3]
            box[2], box[3] = min(box[2], float(plumbed.width)), min(box[3], float(plumbed.height))
            rows = plumbed.crop(box).extract_table({"vertical_strategy": "lines", "horizontal_strategy": "lines"})
        except Exception:  # malformed files raise anything; the first engine's table stays
            return None
        finally:
            plumbed.close()
    if not rows or len(rows[0]) < max(len(row) for row in flatten(table.grid)[:1] or [[]]):
        return None
    grid = tuple(
        tuple(Cell(" ".join((text or "").split()), header=y == 0) for text in row) for y, row in enumerate(rows)
    )
    better = Table(grid, table.box, "pdfplumber", _same_numbers(grid, page, table.box))
    return better if better.exact else None
