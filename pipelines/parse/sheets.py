"""Spreadsheets: each sheet as tables with a detected header, big ones by groups of rows."""

import csv
import datetime
import io
from collections.abc import Iterable, Iterator
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
            blocks += [block.model_copy(update={"hidden": hidden}) for block in found]
        title = str(book.properties.title or "")
        book.close()
    stem = title or Path(name).stem
    if not any(block.kind == "table" for block in blocks):
        blocks = []
    return build(blocks, name=name, media_type=XLSX, title=stem)


def parse_csv(path: Path, *, name: str, settings: ParseSettings) -> Document:
    decoded = read_text(path, settings)
    sample = decoded.text[:20_000]
    counts = {mark: sample.count(mark) for mark in ",;\t|"}
    delimiter = max(counts, key=lambda mark: counts[mark])
    csv.field_size_limit(settings.max_line_characters)
    with whole("table"):
        rows = csv.reader(io.StringIO(decoded.text, newline=""), delimiter=delimiter)
        blocks = list(row_groups((row for row in rows if any(row)), None))
    return build(blocks, name=name, media_type="text/csv", title=Path(name).stem, encoding=decoded.encoding)


def row_groups(rows: Iterable[list[str]], page: int | None) -> Iterator[Block]:
    """Tables of up to ROWS rows, each with the header."""
    rest = iter(rows)
    first = list(islice(rest, 2))
    header = bool(first) and has_header(first)
    head = first[:1] if header else []
    group = first[len(head) :] + list(islice(rest, ROWS - 1))
    while group or head:
        block = table_block(plain_grid(head + group, header), page=page, engine="rows")
        if block:
            yield block
        group = list(islice(rest, ROWS))
        if not group:
            return


def has_header(rows: list[list[str]]) -> bool:
    """The first row is words only."""
    cells = [cell for cell in rows[0] if cell.strip()]
    return len(cells) > 0 and not any(cell.strip().replace(".", "").replace(",", "").isdigit() for cell in cells)


def _streamed(sheet: Any, page: int) -> Iterator[Block]:
    rows = ([_shown(value) for value in row[:MAX_COLUMNS]] for row in sheet.iter_rows(values_only=True))
    return row_groups((row for row in rows if any(row)), page)


def _loaded(sheet: Any, page: int) -> Iterator[Block]:
    """Tables are separated by empty rows; a lone cell above a table is its caption."""
    spans, covered = _merged(sheet)
    run: list[tuple[int, list[str]]] = []
    caption: str | None = None
    # A final empty row ends the last run.
    for number, row in enumerate([*sheet.iter_rows(values_only=True), ()], start=1):
        values = [_shown(value) for value in row[:MAX_COLUMNS]]
        filled = any(values)
        if filled:
            run.append((number, values))
            continue
        if len(run) == 1 and sum(map(bool, run[0][1])) == 1 and caption is None:
            caption = next(filter(None, run[0][1]))
            yield Block(kind="text", text=caption, page=page)
        elif run:
            yield from _table(run, spans, covered, page, caption)
            caption = None
        run = []


def _table(
    run: list[tuple[int, list[str]]],
    spans: dict[tuple[int, int], tuple[int, int]],
    covered: set[tuple[int, int]],
    page: int,
    caption: str | None,
) -> Iterator[Block]:
    columns = [x for x in range(max(len(row) for _, row in run)) if any(len(row) > x and row[x] for _, row in run)]
    first, last = min(columns), max(columns) + 1
    header = has_header([row[first:last] for _, row in run[:1]])
    places = {number for number, _ in run}
    if not any((number, x) in covered for number in places for x in range(first + 1, last + 1)) and len(run) > ROWS:
        yield from row_groups([row[first:last] for _, row in run], page)
        return
    grid: Grid = tuple(
        tuple(
            Cell(" ".join(row[x].split()), *spans.get((number, x + 1), (1, 1)), header=header and index == 0)
            for x in range(first, last)
            if (number, x + 1) not in covered
        )
        for index, (number, row) in enumerate(run)
    )
    block = table_block(grid, page=page, caption=caption, engine="openpyxl")
    if block:
        yield block


def _merged(sheet: Any) -> tuple[dict[tuple[int, int], tuple[int, int]], set[tuple[int, int]]]:
    """Spans by (row, column) of their first cell, and the cells below the others."""
    spans: dict[tuple[int, int], tuple[int, int]] = {}
    covered: set[tuple[int, int]] = set()
    for merged in sheet.merged_cells.ranges:
        if merged.size["rows"] * merged.size["columns"] > 10_000:
            continue
        spans[(merged.min_row, merged.min_col)] = (merged.size["rows"], merged.size["columns"])
        covered |= {
            (row, column)
            for row in range(merged.min_row, merged.max_row + 1)
            for column in range(merged.min_col, merged.max_col + 1)
        } - {(merged.min_row, merged.min_col)}
    return spans, covered


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(" ", "minutes")
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value).strip()
