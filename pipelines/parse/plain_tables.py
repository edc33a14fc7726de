"""Tables of a PDF page through camelot (MIT) and pdfplumber (MIT), each checked by the numbers of the page below it."""

import logging
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from pipelines.parse.cells import Cell, Grid, to_html, to_markdown
from pipelines.parse.hints import CAPTION, _aligned_rows
from pipelines.parse.lines import Line
from pipelines.parse.order import Rectangle
from pipelines.parse.paragraphs import to_box
from pipelines.parse.tables import numbers
from schemas.document import Block

LONG_RULE = 60.0
"""Points."""
LEAST_FILLED = 0.4
SHORT_CELL = 20
LONG_CELL = 300
"""Characters: columns of text that were taken for a table have such cells."""


@dataclass(frozen=True)
class PlainTable:
    grid: Grid
    box: Rectangle
    engine: str

    def covers(self, line: Line) -> bool:
        x, y = (line.box[0] + line.box[2]) / 2, (line.box[1] + line.box[3]) / 2
        return self.box[0] - 2 <= x <= self.box[2] + 2 and self.box[1] - 2 <= y <= self.box[3] + 2

    def block(self, page: int) -> Block:
        box, text = to_box(self.box), to_markdown(self.grid)
        return Block(kind="table", text=text, html=to_html(self.grid), page=page, box=box, engine=self.engine)


def wants_tables(path: Path, number: int, lines: Sequence[Line]) -> str:
    """Why tables should be looked for, which costs far more than lines; empty where nothing hints at one."""
    if any(CAPTION.match(line.text) for line in lines):
        return "table caption"
    if _aligned_rows(lines) >= 3:
        return "aligned columns"
    return "rules" if lines and _rules(path, number) >= 4 else ""


def _rules(path: Path, number: int) -> int:
    import pypdfium2
    import pypdfium2.raw as raw

    with pypdfium2.PdfDocument(path) as pdf:
        page = pdf[number - 1]
        paths = page.get_objects(filter=(raw.FPDF_PAGEOBJ_PATH,), max_depth=3)
        bounds = [one.get_bounds() for one in paths]
        page.close()
    sides: list[tuple[float, float]] = [(right - left, top - bottom) for left, bottom, right, top in bounds]
    rules = sum(max(side) > LONG_RULE and min(side) < 3 for side in sides)
    return rules + 4 * sum(min(side) > LONG_RULE for side in sides)


def find_tables(path: Path, number: int, lines: Sequence[Line]) -> list[PlainTable]:
    """camelot's, which sees more columns, where ruled lines do not speak against it; else pdfplumber's ruled ones."""
    ruled = [table for table in _tried(_by_pdfplumber, path, number) if _holds(table, lines)]
    free = [table for table in _tried(by_camelot, path, number) if _holds(table, lines) and _is_compact(table)]
    free = [table for table in free if all(_shared(table, one) in (0, 1) for one in ruled)]
    chosen: list[PlainTable] = []
    for table in [*sorted(free, key=lambda one: -_area(one.box)), *ruled]:
        if not any(_overlap(table, one) for one in chosen):
            chosen.append(table)
    return chosen


def _tried(read: Callable[[Path, int], list[PlainTable]], path: Path, number: int) -> list[PlainTable]:
    try:
        return read(path, number)
    except Exception:  # both raise anything on damaged pages; the lines are still there
        return []


def by_camelot(path: Path, number: int) -> list[PlainTable]:
    import camelot

    logging.getLogger("camelot").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tables = camelot.read_pdf(str(path), pages=str(number), flavor="hybrid", suppress_stdout=True)
    height = _height(path, number)
    found = []
    for table in tables:
        x0, y0, x1, y1 = (float(value) for value in table._bbox)
        rows = [[" ".join(str(text).split()) for text in row] for row in table.df.itertuples(index=False)]
        found.append(PlainTable(_grid(rows), (x0, height - y1, x1, height - y0), "camelot"))
    return found


def _by_pdfplumber(path: Path, number: int) -> list[PlainTable]:
    import pdfplumber

    with pdfplumber.open(path, pages=[number]) as pdf:
        page = pdf.pages[0]
        try:
            found = [(table.extract(), table.bbox) for table in page.find_tables()]
        finally:
            page.close()
    tables = []
    for grid, (x0, y0, x1, y1) in found:
        rows = [[" ".join((text or "").split()) for text in row] for row in grid]
        tables.append(PlainTable(_grid(rows), (float(x0), float(y0), float(x1), float(y1)), "pdfplumber"))
    return tables


def _height(path: Path, number: int) -> float:
    import pypdfium2

    with pypdfium2.PdfDocument(path) as pdf:
        return float(pdf.get_page_size(number - 1)[1])


def _grid(rows: list[list[str]]) -> Grid:
    """Without empty rows and columns."""
    used = [x for x in range(max(map(len, rows), default=0)) if any(x < len(row) and row[x] for row in rows)]
    kept = [[row[x] if x < len(row) else "" for x in used] for row in rows if any(row)]
    return tuple(tuple(Cell(text, header=number == 0) for text in row) for number, row in enumerate(kept))


def _holds(table: PlainTable, lines: Sequence[Line]) -> bool:
    """Two rows and columns, most cells filled, no cell like a paragraph, and the numbers of the lines below it."""
    grid = table.grid
    if len(grid) < 2 or len(grid[0]) < 2:
        return False
    cells = [cell.text for row in grid for cell in row]
    if sum(map(bool, cells)) < LEAST_FILLED * len(cells) or any(len(text) > LONG_CELL for text in cells):
        return False
    inside = numbers("\n".join(line.text for line in lines if table.covers(line)))
    shown = numbers("\n".join(cells))
    wrong = sum(len(one) for one in ((inside - shown) + (shown - inside)).elements())
    return wrong <= 0.05 * sum(len(one) for one in inside.elements())


def _is_compact(table: PlainTable) -> bool:
    """Cells hold words or numbers: two columns of running text hold lines."""
    return median(len(cell.text) for row in table.grid for cell in row if cell.text) <= SHORT_CELL


def _overlap(table: PlainTable, other: PlainTable) -> float:
    (x0, y0, x1, y1), (left, top, right, bottom) = table.box, other.box
    return max(0.0, min(x1, right) - max(x0, left)) * max(0.0, min(y1, bottom) - max(y0, top))


def _shared(table: PlainTable, other: PlainTable) -> float:
    """0 apart, 1 the same place, else in between."""
    both = _overlap(table, other)
    share = both / max(1.0, _area(table.box) + _area(other.box) - both)
    return 1.0 if share > 0.6 else share


def _area(box: Rectangle) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
