"""Each engine that stands behind the first reads a table that was made for it, and no answer changes a number."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipelines.parse import tables
from pipelines.parse.cells import Cell, Grid, flatten
from pipelines.parse.table_fallbacks import Engine, by_picture, by_rules, by_space
from pipelines.parse.tables import Table, numbers

ROWS = (
    ("Region", "2023", "2024"),
    ("North", "1,204.50", "1,318.75"),
    ("South", "872.10", "-309"),
    ("West", "58.1", "330,435.30"),
    ("East", "12", "77.7"),
)
BOX = (70.0, 95.0, 430.0, 205.0)


@pytest.fixture(params=[True, False], ids=["ruled", "open"])
def page(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Any, Path]]:
    """A page with the table, with rules or without."""
    import pymupdf

    path = tmp_path / "table.pdf"
    with pymupdf.open() as pdf:
        made = pdf.new_page()
        for y, row in enumerate(ROWS):
            for x, text in enumerate(row):
                made.insert_text((80 + 120 * x, 112 + 22 * y), text)
        if request.param:
            for y in range(len(ROWS) + 1):
                made.draw_line((70, 95 + 22 * y), (430, 95 + 22 * y))
            for x in range(4):
                made.draw_line((70 + 120 * x, 95), (70 + 120 * x, 205))
        pdf.save(path)
    with pymupdf.open(path) as pdf:
        yield pdf[0], path


@pytest.mark.parametrize(("engine", "ruled_only"), [(by_rules, True), (by_space, False), (by_picture, False)])
def test_an_engine_reads_the_same_cells(page: tuple[Any, Path], engine: Engine, ruled_only: bool) -> None:
    found = engine(*page, BOX)
    if ruled_only and not page[0].get_cdrawings():
        assert found is None or numbers(_text(found[0])) != numbers(_text(_grid(ROWS)))
        return
    assert found is not None
    assert [tuple(row) for row in flatten(found[0])] == list(ROWS)


def test_a_reading_that_lost_a_number_is_replaced_by_one_that_keeps_all(page: tuple[Any, Path]) -> None:
    lost = _grid([(*row[:2], "") for row in ROWS])
    better = tables._better(*page, Table(lost, BOX, "pymupdf", exact=False))
    assert better is not None and better.engine != "pymupdf"
    assert numbers(_text(better.grid)) == numbers(_text(_grid(ROWS)))


def test_no_engine_may_bring_a_number_that_the_page_does_not_have(
    page: tuple[Any, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    made_up = _grid([(*row[:2], "999999") for row in ROWS])
    monkeypatch.setattr("pipelines.parse.table_fallbacks.ENGINES", (lambda *_: (made_up, "liar"),))
    assert tables._better(*page, Table(_grid(ROWS), BOX, "pymupdf", exact=False)) is None


def _grid(rows: Any) -> Grid:
    return tuple(tuple(Cell(text, header=y == 0) for text in row) for y, row in enumerate(rows))


def _text(grid: Grid) -> str:
    return " \n ".join(cell.text for row in grid for cell in row)
