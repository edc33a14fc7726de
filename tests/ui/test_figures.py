"""What a reviewer sees of pages and pictures of a PDF."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from pipelines.migrate import migrate
from pipelines.parse import sink
from pipelines.parse.dispatch import parse_file
from schemas.document import Document
from sluice_ui.app import create_app
from tests.fakes import FakeEmbedder
from tests.fakes_host import FakeHost
from tests.fakes_index import FakeIndex
from tests.fakes_pdf import report, with_bad_page
from tests.flow.conftest import Kb, open_kb
from tests.ui.conftest import SOURCES, Browser


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    """Release 1 in review, of two PDF files."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "sources.yaml").write_text(SOURCES, encoding="utf-8")
    report(tmp_path / "docs" / "flow.pdf")
    with_bad_page(tmp_path / "docs" / "bad.pdf")
    kb = open_kb(tmp_path / "home", tmp_path / "docs", FakeIndex(), FakeEmbedder())

    def parse(path: Path, name: str, folder: Path) -> Document:
        with sink.into(folder):
            return parse_file(path, name=name, ocr=None, settings=kb.app.settings.parse)

    kb = Kb(kb.home, kb.docs, kb.index, kb.embedder, replace(kb.app, parse=parse))
    migrate(kb.app)
    kb.sync()
    with TestClient(create_app(FakeHost(), lambda: kb.app)) as client:
        yield Browser(client, "admin")
    kb.app.database.engine.dispose()


def reviewed(browser: Browser, words: str) -> str:
    """The page of the change whose text holds the words."""
    queue = browser.get("/releases/1/review")
    documents = dict.fromkeys(re.findall(r"/releases/1/review/([0-9a-f]{32})", queue))
    return next(page for one in documents if words in (page := browser.get(f"/releases/1/review/{one}?all=1")))


def test_a_figure_is_shown_beside_its_chunk(browser: Browser) -> None:
    page = reviewed(browser, "Flow of water")
    (source,) = set(re.findall(r'src="([^"]*/figures/[0-9a-f]{32}[.]png)"', page))
    answer = browser.raw("GET", source[source.index("/documents/") :])
    assert answer.headers["content-type"] == "image/png"
    assert answer.content.startswith(b"\x89PNG")


def test_a_page_that_no_route_reads_is_a_rejection_that_the_reviewer_sees(browser: Browser) -> None:
    page = reviewed(browser, "parse.page_failed")
    assert "Page 2" in page
    assert "OCR is off" in page
