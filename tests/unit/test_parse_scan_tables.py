"""Framed tables in page images: found by their rules, wherever they stand, and read cell by cell."""

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
import pytest

from pipelines.parse.cell_lines import at_gaps
from pipelines.parse.cells import flatten, read_html
from pipelines.parse.lines import Line
from pipelines.parse.ruled import Ruled, Shape, ruled_tables
from pipelines.parse.rules import find_rules
from pipelines.parse.scan_tables import Place, table_block, table_places
from pipelines.parse.table_image import by_position, filled
from schemas.index import OcrLine

WIDE, HIGH = 120, 40
LEFT, TOP = 60, 80
ROWS = (("Region", "2023", "2024"), ("North", "1,204.5", "1,310.0"), ("South", "977.1", "1,002.4"))


def drawn(rows: int = 3, columns: int = 3, *, fall: int = 0, side: int = 500) -> Any:
    """A page with the rules of a table and no text; `fall`: pixels from its left to its right side."""
    page = np.full((side, side, 3), 250, np.uint8)
    right, foot = LEFT + columns * WIDE, TOP + rows * HIGH
    for row in range(rows + 1):
        cv2.line(page, (LEFT, TOP + row * HIGH), (right, TOP + row * HIGH + fall), (0, 0, 0), 2)
    for column in range(columns + 1):
        lower = fall * column // columns
        cv2.line(page, (LEFT + column * WIDE, TOP + lower), (LEFT + column * WIDE, foot + lower), (0, 0, 0), 2)
    return page


def written(rows: Sequence[Sequence[str]] = ROWS) -> list[Line]:
    return [
        Line(text, (LEFT + x * WIDE + 20, TOP + y * HIGH + 10, LEFT + x * WIDE + 90, TOP + y * HIGH + 30), 16.0)
        for y, row in enumerate(rows)
        for x, text in enumerate(row)
        if text
    ]


def framed(page: Any, lines: Sequence[Line]) -> list[Ruled]:
    return ruled_tables(find_rules(page, lines), lines)


class Pieces:
    """An OCR engine that sees the given texts below one another, at even steps."""

    name = "fake"

    def __init__(self, *texts: str) -> None:
        self.texts, self.asked = texts, 0

    def read(self, image: Any) -> tuple[OcrLine, ...]:
        self.asked += 1
        step = image.shape[0] / max(1, len(self.texts))
        quads = [(5, y, 50, y, 50, y + 1, 5, y + 1) for y in (step * (n + 0.5) for n in range(len(self.texts)))]
        return tuple(OcrLine(text=t, quad=q, confidence=0.9) for t, q in zip(self.texts, quads, strict=True))


@pytest.mark.parametrize("fall", [0, 6, -6])
def test_a_framed_table_is_read_as_it_is_ruled_even_if_the_page_is_turned_a_little(fall: int) -> None:
    (table,) = framed(drawn(fall=fall), written())
    grid = filled(table.shapes, written())
    assert grid and flatten(grid) == [list(row) for row in ROWS]


def test_a_missing_rule_joins_cells() -> None:
    page = drawn()
    cv2.line(page, (LEFT + 2 * WIDE, TOP + 4), (LEFT + 2 * WIDE, TOP + HIGH - 4), (250, 250, 250), 4)
    cv2.line(page, (LEFT + 4, TOP + 2 * HIGH), (LEFT + WIDE - 4, TOP + 2 * HIGH), (250, 250, 250), 4)
    (table,) = framed(page, written())
    assert [(s.row, s.rows, s.columns) for s in table.shapes if s.rows * s.columns > 1] == [(0, 1, 2), (1, 2, 1)]


def test_the_lines_and_the_margin_of_a_notebook_are_not_of_the_table() -> None:
    page = drawn()
    for y in range(0, 500, HIGH):
        cv2.line(page, (10, y), (490, y), (90, 90, 90), 1)
    cv2.line(page, (460, 0), (460, 499), (90, 90, 90), 1)
    (table,) = framed(page, [*written(), Line("Notes of today", (60, 45, 200, 65), 16.0)])
    assert table.box == pytest.approx((LEFT, TOP, LEFT + 3 * WIDE, TOP + 3 * HIGH), abs=3)


def test_a_table_that_goes_on_beyond_its_upright_rules_is_left_to_the_model() -> None:
    page = drawn(columns=2)
    for row in range(4):
        cv2.line(page, (LEFT, TOP + row * HIGH), (LEFT + 3 * WIDE, TOP + row * HIGH), (0, 0, 0), 2)
    assert not framed(page, written())


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(
            [Line(t, (0, y, 40, y + 16), 16.0) for t, y in (("10", 80), ("20", 120), ("30", 160), ("40", 200))]
        ),
        pytest.param([*written((("Form", "A"), ("7", "b"))), *(Line("w" * 80, (65, 165, 175, 185), 16.0),) * 9]),
    ],
    ids=["the grid of a chart", "the frame of a page"],
)
def test_a_grid_is_no_table(lines: list[Line]) -> None:
    assert not framed(drawn(), lines)


@pytest.mark.parametrize("label", ["picture", "text", "table"])
def test_a_framed_table_is_found_whatever_the_layout_model_takes_it_for(label: str) -> None:
    region = ((LEFT - 10.0, TOP - 40.0, 480.0, TOP + 140.0), label)
    (place,) = table_places(drawn(), written(), [region], 1.0)
    assert len(place.shapes) == 9


def test_a_table_of_which_a_part_is_framed_stays_whole() -> None:
    outside = [
        Line(f"row {n}", (LEFT + 20.0, y, LEFT + 90.0, y + 16.0), 16.0) for n, y in enumerate(range(210, 480, 20))
    ]
    box = (0.0, 0.0, 500.0, 500.0)
    assert table_places(drawn(), [*written(), *outside], [(box, "table")], 1.0) == [Place(box)]


def test_a_line_over_several_cells_is_read_once_more_in_parts() -> None:
    lines = written()
    y = TOP + HIGH
    joined = Line("North 1,204.5 1,310.0", (LEFT + 10, y + 10, LEFT + 3 * WIDE - 20, y + 30), 16.0)
    lines = [*lines[:3], joined, *lines[6:]]
    (place,) = table_places(drawn(), lines, [], 1.0)
    reader = Pieces("North", "1,204.5", "1,310.0")
    block = table_block(drawn(), lines, place, 1, 1.0, reader)
    assert flatten(read_html(block.html or "")) == [list(row) for row in ROWS]
    assert reader.asked == 1


def test_a_line_whose_parts_cannot_be_read_keeps_its_text() -> None:
    lines = [*written()[:3], Line("North 1,204.5", (LEFT + 10, TOP + 50, LEFT + 2 * WIDE - 20, TOP + 70), 16.0)]
    lines += written()[5:]
    (place,) = table_places(drawn(), lines, [], 1.0)
    assert "North 1,204.5" in table_block(drawn(), lines, place, 1, 1.0, Pieces()).text


def test_a_cell_in_which_nothing_was_seen_is_read_once_more() -> None:
    page = drawn()
    cv2.putText(page, "7", (LEFT + WIDE + 40, TOP + HIGH + 28), cv2.FONT_HERSHEY_SIMPLEX, 0.9, (0, 0, 0), 3)
    lines = written((ROWS[0], ("North", "", "1,310.0"), ROWS[2]))
    (place,) = table_places(page, lines, [], 1.0)
    block = table_block(page, lines, place, 1, 1.0, Pieces("7"))
    assert flatten(read_html(block.html or ""))[1] == ["North", "7", "1,310.0"]


def stacked(*, left: int = LEFT + WIDE) -> Any:
    """Rows between level rules, none of them upright."""
    page = np.full((500, 500, 3), 250, np.uint8)
    for row in range(4):
        cv2.line(page, (left if row == 2 else LEFT + WIDE, TOP + row * HIGH), (480, TOP + row * HIGH), (0, 0, 0), 2)
    return page


NEIGHBOUR = [Line(f"note {n}", (5.0, y, 150.0, y + 16.0), 16.0) for n, y in enumerate(range(60, 200, 24))]
REGION = ((0.0, 60.0, 500.0, 220.0), "table")


def test_the_column_beside_a_table_is_not_of_it_though_the_region_holds_both() -> None:
    lines = [one._replace(box=(one.box[0] + WIDE, one.box[1], one.box[2] + WIDE, one.box[3])) for one in written()]
    (place,) = table_places(stacked(), [*lines, *NEIGHBOUR], [REGION], 1.0)
    assert place.box == pytest.approx((LEFT + WIDE, TOP, 480, TOP + 3 * HIGH), abs=3)


def test_columns_that_a_longer_rule_ties_together_are_one_table() -> None:
    (place,) = table_places(stacked(left=5), [*written(), *NEIGHBOUR], [REGION], 1.0)
    assert place.box == REGION[0]


def test_a_frame_without_rules_between_its_rows_leaves_the_rows_to_the_model() -> None:
    page = drawn(rows=2)
    cv2.rectangle(page, (LEFT, TOP + 2 * HIGH), (LEFT + 3 * WIDE, TOP + 5 * HIGH), (0, 0, 0), 2)
    for column in range(4):
        cv2.line(page, (LEFT + column * WIDE, TOP), (LEFT + column * WIDE, TOP + 5 * HIGH), (0, 0, 0), 2)
    rows = [
        Line("7.5", (LEFT + x * WIDE + 20, y, LEFT + x * WIDE + 60, y + 16.0), 16.0)
        for x in range(3)
        for y in range(TOP + 2 * HIGH + 4, TOP + 5 * HIGH - 16, 24)
    ]
    (table,) = framed(page, [*written()[:6], *rows])
    assert table.shapes == ()


def test_a_head_over_several_columns_does_not_join_them() -> None:
    heads = [Line("Region", (0, 0, 60, 16), 16.0), Line("Turnover in millions", (90, 0, 300, 16), 16.0)]
    rows = [
        Line(text, (x, y, x + 60.0, y + 16.0), 16.0)
        for y in (30.0, 60.0, 90.0)
        for x, text in ((0.0, "North"), (100.0, "1.5"), (180.0, "2.5"), (260.0, "3.5"))
    ]
    grid = by_position([*heads, *rows])
    assert [[cell.columns for cell in row] for row in grid[:2]] == [[1, 3], [1, 1, 1, 1]]
    assert flatten(grid)[1] == ["North", "1.5", "2.5", "3.5"]


def test_of_two_texts_in_one_cell_of_the_model_the_outer_one_goes_to_the_empty_cell_beside() -> None:
    shapes = [Shape(0, 1, 1, box) for box in ((0, 0, 90, 20), (90, 0, 200, 20), (210, 0, 215, 20))]
    lines = [Line(t, (x, 2, x + 50, 18), 16.0) for t, x in (("2023E", 10), ("2024E", 90), ("2025E", 160))]
    grid = filled(shapes, lines)
    assert grid and flatten(grid) == [["2023E", "2024E", "2025E"]]


def test_a_line_over_cells_of_the_model_is_cut_at_the_gap_near_their_edge() -> None:
    page = np.full((40, 300, 3), 250, np.uint8)
    cv2.putText(page, "42.42%", (10, 30), cv2.FONT_HERSHEY_SIMPLEX, 0.9, (0, 0, 0), 2)
    cv2.putText(page, "7,055", (150, 30), cv2.FONT_HERSHEY_SIMPLEX, 0.9, (0, 0, 0), 2)
    line = Line("42.42%7,055", (8.0, 5.0, 240.0, 35.0), 24.0)
    shapes = [Shape(0, 1, 1, (0.0, 0.0, 135.0, 40.0)), Shape(0, 1, 1, (128.0, 0.0, 300.0, 40.0))]
    first, second = at_gaps(page, [line], shapes, Pieces("42.42%", "7,055"))
    assert (first.text, second.text) == ("42.42%", "7,055")
    assert 99 < first.box[2] == second.box[0] < 152
    assert at_gaps(page, [line], [Shape(0, 1, 2, (0.0, 0.0, 300.0, 40.0))], Pieces()) == [line]
