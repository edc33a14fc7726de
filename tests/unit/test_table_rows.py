"""Wrapped lines of a table's cells become one row; rows of their own stay."""

import pytest

from pipelines.parse.cells import Cell
from pipelines.parse.rows import Row, joined


def rows(*lines: tuple[str, ...], gaps: tuple[float, ...] = (), ruled: bool = False) -> list[Row]:
    made, y = [], 0.0
    for number, texts in enumerate(lines):
        y += gaps[number] if number < len(gaps) else 4.0
        made.append(Row(tuple(Cell(text, header=number == 0) for text in texts), y, y + 10, ruled))
        y += 10
    return made


HEAD = ("Item", "2023", "2024")


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        ([("Members of", "21", "8"), ("the board", "", "")], 1),
        ([("Coffee,", "1", "2"), ("Tea", "", "")], 1),
        ([("资产、", "21", "8"), ("负债", "", "")], 1),
        ([("Coffee", "1", "2"), ("Tea", "", "")], 2),
        ([("Coffee", "1", "2"), ("of which", "3", "4")], 2),
        ([("Coffee", "", "2"), ("beans", "1", "")], 2),
        ([("Members of", "21", "8"), ("", "22", "")], 2),
    ],
)
def test_a_line_that_reads_on_belongs_to_the_row_above(lines: list[tuple[str, ...]], kept: int) -> None:
    assert len(joined(rows(HEAD, *lines), heads=1)) == 1 + kept


def test_a_rule_parts_rows_whatever_they_say() -> None:
    lines = (HEAD, ("Members of", "21", "8"), ("the board", "", ""))
    assert len(joined(rows(*lines, ruled=True), heads=1)) == 3


def test_lines_that_stand_close_belong_together() -> None:
    lines = (HEAD, ("A", "1", "2"), ("B", "one", "two"), ("", "", "Three"), ("C", "1", "2"), ("D", "1", "2"))
    made = joined(rows(*lines, gaps=(4, 8, 8, 1, 8, 8)), heads=1)
    assert [row[2].text for row in made] == ["2024", "2", "two Three", "2", "2"]
