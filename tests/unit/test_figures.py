"""Figures of PDF pages: decoration goes, text in pictures is read, the image is kept beside its caption."""

from pathlib import Path
from typing import Any

from pipelines.chunk import ChunkSettings, chunk_document
from pipelines.parse import sink
from pipelines.parse.pdf import parse_pdf
from pipelines.parse.settings import ParseSettings
from schemas.document import Block, Document
from schemas.index import OcrLine
from tests.fakes_pdf import report


class Reader:
    name = "reader"

    def read(self, image: Any) -> tuple[OcrLine, ...]:
        return (OcrLine(text="Intake pump", quad=(10, 10, 200, 10, 200, 40, 10, 40), confidence=0.95),)


def parsed(path: Path, folder: Path | None, ocr: Reader | None = None) -> Document:
    with sink.into(folder):
        return parse_pdf(path, name=path.name, ocr=ocr, settings=ParseSettings())


def figures(document: Document) -> list[Block]:
    return [block for block in document.blocks if block.kind == "figure"]


def test_logos_and_pictures_that_come_back_are_dropped_with_their_images(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    document = parsed(report(tmp_path / "a.pdf"), tmp_path / "out", Reader())
    (figure,) = figures(document)
    assert figure.page == 4
    assert [key for key, _ in sink.taken_out(tmp_path / "out")] == [figure.artifact]


def test_a_figure_keeps_caption_text_and_place_and_its_chunk_points_to_the_image(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    document = parsed(report(tmp_path / "a.pdf"), tmp_path / "out", Reader())
    (figure,) = figures(document)
    assert (figure.text, figure.caption) == ("Intake pump", "Figure 3 Flow of water through the intake")
    assert figure.box is not None and 95 < figure.box.x0 < 105 and 535 < figure.box.y1 < 545
    assert sum("Flow of water" in block.text for block in document.blocks) == 0
    chunks = chunk_document(document, document_id="d", salt=b"s", settings=ChunkSettings())
    (chunk,) = [one for one in chunks if one.kind == "figure"]
    assert chunk.artifact == figure.artifact
    assert "Flow of water" in chunk.context


def test_without_ocr_a_figure_is_a_reference_by_its_caption(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    document = parsed(report(tmp_path / "a.pdf"), tmp_path / "out")
    chunks = chunk_document(document, document_id="d", salt=b"s", settings=ChunkSettings())
    (chunk,) = [one for one in chunks if one.kind == "figure"]
    assert chunk.text == "Figure 3 Flow of water through the intake"
    assert all(page.coverage >= 0.98 for page in document.pages)
