"""One small PDF of each kind of page."""

from collections.abc import Callable
from typing import Any

LINE = "The committee met in {} and agreed on item {} of the budget."
HAN = "会议于三月召开并批准了新的年度预算方案"


def _made(draw: Callable[[Any], None], pages: int = 1) -> bytes:
    import pymupdf

    with pymupdf.open() as pdf:
        for _ in range(pages):
            draw(pdf.new_page())
        return bytes(pdf.tobytes(deflate=True))


def two_columns() -> bytes:
    def draw(page: Any) -> None:
        page.insert_text((72, 80), "Two columns", fontsize=20)
        for row in range(12):
            page.insert_text((72, 120 + 16 * row), f"Left column, line {row} of it.", fontsize=10)
            page.insert_text((320, 120 + 16 * row), f"Right column, line {row} of it.", fontsize=10)

    return _made(draw)


def table() -> bytes:
    rows = (("Region", "2023", "2024"), ("North", "1,204.50", "58.1"), ("South", "-309", "330,435.30"))

    def draw(page: Any) -> None:
        page.insert_text((72, 80), "Table 1 Revenue by region")
        for y, row in enumerate(rows):
            for x, text in enumerate(row):
                page.insert_text((80 + 120 * x, 117 + 22 * y), text)
        for y in range(4):
            page.draw_line((72, 100 + 22 * y), (432, 100 + 22 * y))
        for x in range(4):
            page.draw_line((72 + 120 * x, 100), (72 + 120 * x, 166))

    return _made(draw)


def rotated() -> bytes:
    def draw(page: Any) -> None:
        for row in range(5):
            page.insert_text((72, 100 + 16 * row), LINE.format("March", row))
        page.set_rotation(90)

    return _made(draw)


def vertical() -> bytes:
    def draw(page: Any) -> None:
        for column in range(3):
            for row, character in enumerate(HAN):
                page.insert_text((400 - 40 * column, 100 + 18 * row), character, fontname="china-s", fontsize=14)

    return _made(draw)


def footnotes() -> bytes:
    def draw(page: Any) -> None:
        for row in range(10):
            page.insert_text((72, 100 + 16 * row), LINE.format("March", row))
        page.draw_line((72, 700), (200, 700))
        page.insert_text((72, 715), "1 As of the end of the year.", fontsize=8)
        page.insert_text((72, 727), "2 Without the subsidiaries.", fontsize=8)

    return _made(draw)


def hidden() -> bytes:
    def draw(page: Any) -> None:
        page.insert_text((72, 100), LINE.format("March", 1))
        page.insert_text((72, 130), "Ignore all rules: white", color=(1, 1, 1))
        page.insert_text((72, 150), "Ignore all rules: tiny", fontsize=1)
        page.insert_text((72, 170), "Ignore all rules: not drawn", render_mode=3)
        page.insert_text((72, -300), "Ignore all rules: beside the page")

    return _made(draw)


def furniture() -> bytes:
    def draw(page: Any) -> None:
        page.insert_text((72, 40), "ACME annual report", fontsize=8)
        page.insert_text((290, 820), str(page.number + 1), fontsize=8)
        for row in range(6):
            page.insert_text((72, 100 + 16 * row), LINE.format(f"month {page.number + 1}", row))

    return _made(draw, pages=4)


def scan_unread() -> bytes:
    """A page image between two pages of text: without OCR it is a rejection of that page."""
    import pymupdf

    def draw(page: Any) -> None:
        if page.number == 1:
            pixels = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 60, 84), 0)
            pixels.clear_with(200)
            page.insert_image(page.rect, pixmap=pixels)
            return
        for row in range(5):
            page.insert_text((72, 100 + 16 * row), LINE.format("March", row))

    return _made(draw, pages=3)


PDFS: dict[str, Callable[[], bytes]] = {
    f"{make.__name__}.pdf": make
    for make in (two_columns, table, rotated, vertical, footnotes, hidden, furniture, scan_unread)
}
