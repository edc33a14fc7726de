"""Spreadsheets: each sheet as tables with a detected header, big ones by groups of rows."""

import csv
import datetime
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pipelines.parse.cells import Cell, Grid
from pipelines.parse.formats import build, plain_grid, refuse_entities, table_block, whole
from pipelines.parse.settings import ParseSettings
from pipelines.parse.text import read_text
from schemas.document import Block, Document

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
ROWS = 500
"""Rows of one table block; the header is repeated in each."""
MERGED_BYTES = 5_000_000
"""Merged cells are only known when the whole sheet is loaded: above this size of file it is streamed instead."""
MAX_COLUMNS = 500
YEAR = re.compile(r"^(?:19|20)\d\d$")
FORMAT = re.compile(r"^([¥$€£]|\"[^\"]*\")?(?:(#,##0)|0)(\.0+)?(%)?(?:_\)|_ )?(?:;|$)")
"""What finance writes; other formats show the value as it is stored."""
Row = tuple[int, dict[int, str]]
"""Number of the row, and its texts by column, both from 1."""


def parse_xlsx(path: Path, *, name: str, settings: ParseSettings) -> Document:
    import openpyxl

    refuse_entities(path)
    streamed = path.stat().st_size > MERGED_BYTES
    blocks: list[Block] = []
    with whole("workbook"), path.open("rb") as file:
        book = openpyxl.load_workbook(file, read_only=streamed, data_only=True)
        for number, sheet in enumerate(book.worksheets, start=1):
            hidden = None if sheet.sheet_state == "visible" else "hidden.markup"
            found = _streamed(sheet, number) if streamed else _loaded(sheet, number)
            blocks.append(Block(kind="heading", text=sheet.title, level=1, page=number, hidden=hidden))
            blocks += [block.model_copy(update={"hidden": hidden or block.hidden}) for block in found]
        title = str(book.properties.title or "")
        book.close()
    stem = title or Path(name).stem
    if not any(block.kind == "table" for block in blocks):
        blocks = []
    return build(blocks, name=name, media_type=XLSX, title=stem)


def parse_csv(path: Path, *, name: str, settings: ParseSettings) -> Document:
    decoded = read_text(path, settings)
    csv.field_size_limit(settings.max_line_characters)
    with whole("table"):
        rows = csv.reader(io.StringIO(decoded.text, newline=""), delimiter=_delimiter(decoded.text))
        blocks = list(row_groups((row for row in rows if any(row)), None))
    return build(blocks, name=name, media_type="text/csv", title=Path(name).stem, encoding=decoded.encoding)


def row_groups(rows: Iterable[list[str]], page: int | None, head: list[str] | None = None) -> Iterator[Block]:
    """Tables of up to ROWS rows, each with the header: `head`, or the first row where it looks like one."""
    rest = iter(rows)
    first = [] if head else list(islice(rest, 1))
    heads = [head] if head else first if first and has_header(first) else []
    group = (first if not heads else []) + list(islice(rest, ROWS))
    while group or heads:
        block = table_block(plain_grid(heads + group, bool(heads)), page=page, engine="rows")
        if block:
            yield block
        group = list(islice(rest, ROWS))
        if not group:
            return


def has_header(rows: list[list[str]]) -> bool:
    """The first row is words; years count as words beside others."""
    cells = [cell.strip() for cell in rows[0] if cell.strip()]
    numeric = [cell for cell in cells if cell.replace(".", "").replace(",", "").isdigit()]
    return bool(cells) and len(numeric) < len(cells) and all(map(YEAR.match, numeric))


def _delimiter(text: str) -> str:
    """The one that cuts the first lines into the same number of fields, two or more."""
    lines = text[:20_000].splitlines()[:50]

    def evenness(mark: str) -> tuple[float, int]:
        widths = [len(row) for row in csv.reader(lines, delimiter=mark) if row]
        usual = max(set(widths), key=widths.count, default=1)
        return (widths.count(usual) / len(widths) if usual > 1 else 0.0, usual)

    return max(",;\t|", key=evenness)


def _streamed(sheet: Any, page: int) -> Iterator[Block]:
    rows = ([_shown(value) for value in row[:MAX_COLUMNS]] for row in sheet.iter_rows(values_only=True))
    return row_groups((row for row in rows if any(row)), page)


def _loaded(sheet: Any, page: int) -> Iterator[Block]:
    """Tables are separated by empty rows; a lone cell above a table is its caption. Hidden rows and columns apart."""
    merged = _merged(sheet)
    columns = [x for x in range(1, min(sheet.max_column, MAX_COLUMNS) + 1) if not _is_hidden(sheet, x)]
    run: list[Row] = []
    caption: str | None = None
    hidden: list[str] = []
    # A final empty row ends the last run.
    for number, cells in enumerate([*sheet.iter_rows(), ()], start=1):
        values = {cell.column: text for cell in cells[:MAX_COLUMNS] if (text := _displayed(cell))}
        shown = {x: values[x] for x in columns if x in values}
        if values and sheet.row_dimensions[number].hidden:
            hidden.append(" | ".join(values.values()))
            continue
        if len(values) > len(shown):
            hidden.append(" | ".join(text for x, text in values.items() if x not in shown))
        if shown:
            run.append((number, shown))
            continue
        while len(run) > 1 and len(run[0][1]) == 1 and caption is None:  # a title right above its table
            caption = next(iter(run.pop(0)[1].values()))
        if len(run) == 1 and len(run[0][1]) == 1 and caption is None:
            caption = next(iter(run[0][1].values()))
            yield Block(kind="text", text=caption, page=page)
        elif run:
            yield from _table(run, columns, merged, page, caption)
            caption = None
        run = []
    if hidden:
        yield Block(kind="text", text="\n".join(hidden), page=page, hidden="hidden.markup", engine="openpyxl")


def _is_hidden(sheet: Any, column: int) -> bool:
    """Neighbours of one width share one entry, under the letter of the first."""
    groups = sheet.column_dimensions.values()
    return any(one.hidden and (one.min or 0) <= column <= (one.max or 0) for one in groups)


def _table(run: list[Row], columns: list[int], merged: "Merged", page: int, caption: str | None) -> Iterator[Block]:
    filled = {x for _, row in run for x in row}
    used = [x for x in columns if min(filled) <= x <= max(filled)]
    rows = [[row.get(x, "") for x in used] for _, row in run]
    covered = {(number, x) for number, _ in run for x in used} & merged.covered
    if len(run) > ROWS and not covered:
        yield from row_groups(rows, page)
        return
    heads = _heads(run, used, merged) if has_header(rows[:1]) else 0
    grid: Grid = tuple(
        tuple(
            Cell(" ".join(row.get(x, "").split()), *merged.span(number, x, used), header=index < heads)
            for x in used
            if (number, x) not in covered
        )
        for index, (number, row) in enumerate(run)
    )
    if block := table_block(grid, page=page, caption=caption, engine="openpyxl"):
        yield block


def _heads(run: list[Row], used: list[int], merged: "Merged") -> int:
    """Rows of the head: as far down as a cell of the first row goes, and one more below a cell that spans columns."""
    first = run[0][0]
    spans = [merged.span(first, x, used) for x in used if (first, x) not in merged.covered]
    deep = max((rows for rows, _ in spans), default=1)
    return min(len(run) - 1, max(deep, 2 if any(columns > 1 for _, columns in spans) else 1)) or 1


@dataclass(frozen=True)
class Merged:
    """Spans by (row, column) of their first cell, and the cells below the others."""

    spans: dict[tuple[int, int], tuple[int, int]]
    covered: frozenset[tuple[int, int]]

    def span(self, row: int, column: int, used: list[int]) -> tuple[int, int]:
        """(rows, columns) among the columns that are shown."""
        rows, columns = self.spans.get((row, column), (1, 1))
        return rows, max(1, sum(column <= x < column + columns for x in used))


def _merged(sheet: Any) -> Merged:
    spans: dict[tuple[int, int], tuple[int, int]] = {}
    covered: set[tuple[int, int]] = set()
    for area in sheet.merged_cells.ranges:
        if area.size["rows"] * area.size["columns"] > 10_000:
            continue
        spans[(area.min_row, area.min_col)] = (area.size["rows"], area.size["columns"])
        covered |= {
            (row, column)
            for row in range(area.min_row, area.max_row + 1)
            for column in range(area.min_col, area.max_col + 1)
        } - {(area.min_row, area.min_col)}
    return Merged(spans, frozenset(covered))


def _displayed(cell: Any) -> str:
    """As Excel shows it: percentages, fixed decimals and thousands by the cell's format, else the value."""
    value = cell.value
    found = FORMAT.match(cell.number_format or "") if isinstance(value, int | float) else None
    if found is None or isinstance(value, bool):
        return _shown(value)
    before, thousands, decimals, percent = found.groups()
    places = len(decimals or ".") - 1
    number = f"{value * (100 if percent else 1):{',' if thousands else ''}.{places}f}"
    return f"{(before or '').strip(chr(34))}{number}{percent or ''}"


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(" ", "minutes")
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.15g}"
    return str(value).strip()
