"""Reading order on boxes as OCR draws them: gutters that touch, numbers and bullets beside their lines."""

import pytest

from pipelines.parse.furniture import come_back, is_page_number
from pipelines.parse.lines import Line
from pipelines.parse.order import Rectangle, reading_order
from schemas.document import Block, Box


def column(x0: float, x1: float, count: int, top: float = 0.0) -> list[Rectangle]:
    """Lines of ten points, two apart."""
    return [(x0, top + 12 * n, x1, top + 12 * n + 10) for n in range(count)]


TITLE = (0.0, 0.0, 300.0, 20.0)
CASES: dict[str, list[Rectangle]] = {
    "columns under a title": [TITLE, *column(0, 140, 8, 30), *column(160, 300, 8, 30)],
    "a gutter of half a line": [*column(0, 147, 9), *column(153, 300, 9)],
    "columns that touch where OCR draws a line too wide": [
        *column(0, 148, 9),
        (0, 108, 151, 118),
        *column(150, 300, 9),
    ],
    "three columns that touch": [*column(0, 99, 9), *column(98, 199, 9), *column(199, 300, 9)],
    "a table beside text that ends where the table begins": [
        *column(0, 140, 3),
        (0, 40, 140, 240),
        *column(160, 300, 4),
        *column(160, 300, 15, 54),
    ],
}


@pytest.mark.parametrize("name", CASES)
def test_columns_are_read_one_after_the_other(name: str) -> None:
    boxes = CASES[name]
    assert reading_order(boxes, 10.0) == list(range(len(boxes)))


@pytest.mark.parametrize(
    ("marks", "text"),
    [
        ((280.0, 300.0), (0.0, 200.0)),  # equation numbers at the right edge
        ((0.0, 8.0), (20.0, 300.0)),  # bullets
    ],
)
def test_numbers_and_bullets_are_read_with_the_line_that_they_mark(
    marks: tuple[float, float], text: tuple[float, float]
) -> None:
    lines, beside = column(*text, 6), column(*marks, 6)
    pairs = [box for pair in zip(lines, beside, strict=True) for box in sorted(pair)]
    assert reading_order(pairs, 10.0) == list(range(12))


def test_bullets_of_one_column_leave_the_other_whole() -> None:
    bullets, text = column(160, 168, 5), column(180, 330, 5)
    right = [box for pair in zip(bullets, text, strict=True) for box in pair]
    boxes = [*column(0, 140, 5), *right]
    assert reading_order(boxes, 10.0) == list(range(len(boxes)))


def line(text: str, y: float, x: float = 100.0) -> Line:
    return Line(text, (x, y, x + 80, y + 10), 10)


@pytest.mark.parametrize(
    ("text", "y", "number"),
    [("174", 780, True), ("- 3 -", 15, True), ("第 12 页", 780, True), ("174", 400, False), ("1740 units", 780, False)],
)
def test_a_number_alone_at_the_edge_of_a_scan_is_its_page_number(text: str, y: float, number: bool) -> None:
    one = line(text, y)
    assert is_page_number(one, [line("A paragraph.", 300), one], 800) is number


def test_a_number_with_text_beyond_or_beside_it_is_text() -> None:
    one = line("12", 760)
    assert not is_page_number(one, [line("above", 300), one, line("below", 785)], 800)
    assert not is_page_number(one, [line("above", 300), one, line("beside", 762, 300)], 800)
    assert not is_page_number(one, [one], 800), "a page may hold one number and nothing else"


def test_a_line_that_ocr_reads_at_the_edge_of_three_pages_is_furniture_and_a_paragraph_is_not() -> None:
    def block(text: str, page: int, y: float) -> Block:
        return Block(kind="text", text=text, page=page, box=Box(x0=50, y0=y, x1=300, y1=y + 12))

    blocks = [block(f"Annual report, part {n}", n, 20 + n) for n in (1, 2, 3)]
    blocks += [block("All the same words.", n, 400) for n in (1, 2, 3)] + [block("Twice only", n, 770) for n in (1, 2)]
    assert come_back(blocks, dict.fromkeys((1, 2, 3), 800.0)) == {0, 1, 2}
    assert come_back(blocks, {1: 800.0, 2: 800.0}) == frozenset()
