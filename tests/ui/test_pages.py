"""Each page draws, in both languages."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from pipelines.app import App
from pipelines.migrate import migrate
from sluice_ui.app import create_app
from tests.fakes import FakeEmbedder
from tests.fakes_host import FakeHost
from tests.fakes_index import FakeIndex
from tests.flow.conftest import open_kb
from tests.ui.conftest import SOURCES, Browser, Kb, document


def with_setting(app: App, part: str, **values: Any) -> App:
    made = getattr(app.settings, part).model_copy(update=values)
    return replace(app, settings=app.settings.model_copy(update={part: made}))


PAGES: dict[str, Callable[[str], str]] = {
    "overview": lambda _document: "/",
    "releases": lambda _document: "/releases",
    "release": lambda _document: "/releases/3",
    "compare": lambda document: f"/releases/compare?left=1&right=2&document={document}",
    "rollback": lambda _document: "/releases/1/rollback",
    "queue": lambda _document: "/releases/3/review",
    "low risk": lambda _document: "/releases/3/review?group=low",
    "change": lambda document: f"/releases/3/review/{document}?all=1",
    "preview": lambda _document: "/releases/3/preview?q=annual+leave+days",
    "documents": lambda _document: "/documents?text=leave&state=staged",
    "document": lambda document: f"/documents/{document}",
    "quarantine a document": lambda document: f"/documents/{document}/quarantine/document/{document}",
    "quarantine": lambda _document: "/quarantine",
    "conflicts": lambda _document: "/conflicts",
    "quality": lambda _document: "/quality",
    "audit": lambda _document: "/audit?verify=1&actor=tester",
}


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_page_draws(built: Kb, looking: TestClient, name: str, language: str) -> None:
    page = Browser(looking, "admin", language).get(PAGES[name](document(built, "leave")))
    assert f'lang="{"zh-CN" if language == "zh" else "en"}"' in page
    assert "<main" in page


def test_pages_draw_before_the_first_sync(tmp_path) -> None:
    (tmp_path / "sources.yaml").write_text(SOURCES, encoding="utf-8")
    kb = open_kb(tmp_path / "home", tmp_path / "docs", FakeIndex(), FakeEmbedder())
    migrate(kb.app)
    with TestClient(create_app(FakeHost(), lambda: kb.app)) as client:
        for path in ("/", "/releases", "/documents", "/quarantine", "/conflicts", "/quality", "/audit"):
            assert "<main" in Browser(client, "admin").get(path)
    kb.app.database.engine.dispose()


def test_the_words_that_changed_are_marked(built: Kb, looking: TestClient) -> None:
    page = Browser(looking, "admin").get(f"/releases/3/review/{document(built, 'leave')}")
    assert "<del>twenty five</del><ins>thirty</ins>" in page


def test_personal_data_is_named_by_its_kind_and_never_shown(built: Kb, looking: TestClient) -> None:
    page = Browser(looking, "admin").get(f"/releases/3/review/{document(built, 'hostile')}")
    assert "PHONE ×1" in page
    assert "13812345678" not in page


def test_the_preview_shows_what_a_release_would_change_before_it_is_published(looking: TestClient) -> None:
    page = Browser(looking, "admin").get("/releases/3/preview?q=annual+leave+days")
    now, then = page.split("With release 3")
    assert "twenty five days" in now and "thirty days" not in now
    assert "thirty days" in then and "twenty five days" not in then


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (lambda app: app, False),
        (lambda app: replace(app, parser_version="next"), True),
        # A file that no parser could read never came to the mask.
        (lambda app: with_setting(app, "mask", names=False), False),
        (lambda app: with_setting(app, "chunk", max_characters=99), True),
    ],
)
def test_quarantine_says_where_a_parser_or_rule_has_changed_since(built: Kb, changed: Any, told: bool) -> None:
    with TestClient(create_app(FakeHost(), lambda: changed(built.app))) as client:
        page = Browser(client, "admin").get("/quarantine?code=parse.empty")
    assert "empty.md" in page
    assert ("parser or rule changed since" in page) is told


def test_a_reader_switches_the_language_and_comes_back_to_a_page_of_ours(looking: TestClient) -> None:
    browser = Browser(looking, "viewer")
    back = browser.raw("GET", "/language/zh?back=/releases")
    assert (back.status_code, back.headers["location"]) == (303, "/releases")
    assert "sluice_language=zh" in back.headers["set-cookie"]
    for elsewhere in ("//evil.example/", "https://evil.example/", "/\\evil.example"):
        assert browser.raw("GET", f"/language/en?back={elsewhere}").headers["location"] == "/"
    looking.cookies.clear()
