"""Tables over page breaks, and contents pages."""

from pathlib import Path

import pytest

from pipelines.parse import sink
from pipelines.parse.joins import is_contents, join_tables
from pipelines.parse.pdf import parse_pdf
from pipelines.parse.settings import ParseSettings
from schemas.document import Block, Box, PageVerdict

PAGES = [PageVerdict(page=number, route="rich", height=800.0) for number in (1, 2, 3)]
HEAD = "<tr><th>Item</th><th>2024</th></tr>"


def table(page: int, y0: float, y1: float, rows: str, x1: float = 500.0) -> Block:
    return Block(kind="table", text="", html=f"<table>{rows}</table>", page=page, box=Box(x0=50, y0=y0, x1=x1, y1=y1))


def row(item: str, value: str, tag: str = "td") -> str:
    return f"<tr><{tag}>{item}</{tag}><{tag}>{value}</{tag}></tr>"


def test_a_table_over_three_pages_is_one_and_its_head_is_not_repeated() -> None:
    parts = [
        table(1, 300, 760, HEAD + row("Rent", "1.5")),
        table(2, 60, 760, HEAD + row("Light", "2.5")),
        table(3, 60, 200, row("Water", "3.5", "th")),
    ]
    (made,) = join_tables(parts, PAGES)
    assert made.html == f"<table>{HEAD}{row('Rent', '1.5')}{row('Light', '2.5')}{row('Water', '3.5')}</table>"
    assert [place.page for place in made.parts] == [1, 2, 3]


@pytest.mark.parametrize(
    "below",
    [
        table(2, 60, 200, row("Light", "2.5"), x1=400),
        table(2, 400, 500, row("Light", "2.5")),
        table(3, 60, 200, row("Light", "2.5")),
        table(2, 60, 200, "<tr><td>a</td><td>b</td><td>c</td></tr>"),
    ],
)
def test_when_unsure_both_tables_stay(below: Block) -> None:
    assert len(join_tables([table(1, 300, 760, HEAD + row("Rent", "1.5")), below], PAGES)) == 2


def test_text_between_parts_keeps_them_apart() -> None:
    text = Block(kind="text", text="Another year", page=2)
    parts = [table(1, 300, 760, HEAD), text, table(2, 60, 200, row("Light", "2.5"))]
    assert len(join_tables(parts, PAGES)) == 3


def test_a_contents_page_is_told_from_text_with_dots() -> None:
    entries = " ".join(f"{n} Chapter about something {'.' * 30} {n * 7}" for n in range(1, 9))
    assert is_contents([Block(kind="heading", text="Contents", level=1), Block(kind="text", text=entries)])
    chinese = " ".join(f"第{n}章 总体情况……………………{n * 3}" for n in "12345678" for n in [int(n)])
    assert is_contents([Block(kind="heading", text="目录", level=1), Block(kind="text", text=chinese)])
    assert not is_contents([Block(kind="text", text="And so on... 3 items were found. " * 10 + "Plain text. " * 40)])


def test_files_inside_a_pdf_are_taken_out_under_the_name_of_their_content(tmp_path: Path) -> None:
    import pymupdf

    pdf = pymupdf.open()
    pdf.new_page().insert_text((72, 100), "See the attached list.")
    pdf.embfile_add("list", b"a,b\n1,2\n", filename="list.csv", ufilename="list.csv")
    pdf.save(tmp_path / "a.pdf")
    (tmp_path / "out").mkdir()
    with sink.into(tmp_path / "out"):
        read = parse_pdf(tmp_path / "a.pdf", name="a.pdf", ocr=None, settings=ParseSettings())
    (one,) = read.attachments
    assert (one.name, one.size) == ("list.csv", 8)
    assert [key for key, _ in sink.taken_out(tmp_path / "out")] == [one.key]
