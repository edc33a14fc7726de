"""Page images for review."""

import io
from pathlib import Path

import pytest

from pipelines.errors import Code, Rejected
from pipelines.parse.page_image import MAX_SIDE, page_image
from pipelines.parse.settings import ParseSettings
from schemas.document import Box

SETTINGS = ParseSettings()


@pytest.fixture
def report(tmp_path: Path) -> Path:
    import pymupdf

    pdf = pymupdf.open()
    pdf.new_page(width=595, height=842).insert_text((72, 100), "Minutes of the meeting")
    pdf.save(tmp_path / "a.pdf")
    return tmp_path / "a.pdf"


def test_a_page_is_shown_in_bounded_size_with_the_places_marked(report: Path) -> None:
    from PIL import Image

    box = Box(x0=70, y0=85, x1=200, y1=105)
    plain, marked = (
        Image.open(io.BytesIO(page_image(report, name="a.pdf", page=1, boxes=boxes, settings=SETTINGS))).convert("RGB")
        for boxes in ((), (box,))
    )
    assert max(plain.size) == MAX_SIDE and marked.size == plain.size
    scale = MAX_SIDE / 842
    inside, outside = (int(195 * scale), int(88 * scale)), (int(400 * scale), int(400 * scale))
    assert marked.getpixel(inside) != plain.getpixel(inside)
    assert marked.getpixel(outside) == plain.getpixel(outside)


def test_pages_that_are_not_there_and_formats_without_pages_are_refused(report: Path, tmp_path: Path) -> None:
    with pytest.raises(Rejected) as caught:
        page_image(report, name="a.pdf", page=2, boxes=(), settings=SETTINGS)
    assert caught.value.code is Code.UNKNOWN_SUBJECT
    (tmp_path / "a.md").write_text("# Title")
    with pytest.raises(Rejected) as caught:
        page_image(tmp_path / "a.md", name="a.md", page=1, boxes=(), settings=SETTINGS)
    assert caught.value.code is Code.PARSE_UNSUPPORTED
