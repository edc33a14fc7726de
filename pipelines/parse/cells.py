"""A table as rows of cells with spans; from and to clean HTML, and to Markdown."""

import re
from dataclasses import dataclass
from html import escape
from html.parser import HTMLParser

WRAPPED = re.compile(r"(?<=[\u3001-\u9fff\uff00-\uffef]) (?=[\u3001-\u9fff\uff00-\uffef])")
"""A space between Chinese characters is where a cell's line ended."""


@dataclass(frozen=True)
class Cell:
    text: str
    rows: int = 1
    columns: int = 1
    header: bool = False


Grid = tuple[tuple[Cell, ...], ...]


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
