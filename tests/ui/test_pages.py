"""Each page draws, in both languages, before and after the first release."""

from collections.abc import Callable

import pytest
from sqlalchemy import select

from sql import tables
from tests.ui.conftest import Browser, Kb

PAGES: dict[str, Callable[[str], str]] = {
    "overview": lambda _document: "/",
    "releases": lambda _document: "/releases",
    "release": lambda _document: "/releases/3",
    "compare": lambda document: f"/releases/compare?left=1&right=2&document={document}",
    "rollback": lambda _document: "/releases/1/rollback",
    "queue": lambda _document: "/releases/3/review",
    "low risk": lambda _document: "/releases/3/review?group=low",
    "documents": lambda _document: "/documents?text=leave&state=staged",
    "document": lambda document: f"/documents/{document}",
    "quarantine a document": lambda document: f"/documents/{document}/quarantine/document/{document}",
    "quarantine": lambda _document: "/quarantine",
    "audit": lambda _document: "/audit?verify=1&actor=tester",
    "change": lambda document: f"/releases/3/review/{document}?all=1",
}


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_page_draws(reviewed: Kb, admin: Browser, name: str, language: str) -> None:
    with reviewed.app.database.read() as tx:
        document = tx.execute(select(tables.release_item.c.document).where(tables.release_item.c.release == 3)).scalar()
    page = admin.get(PAGES[name](str(document)), accept_language=language)
    assert f'lang="{"zh-CN" if language == "zh" else "en"}"' in page
    assert "<main" in page


@pytest.mark.parametrize("path", ["/", "/releases", "/documents", "/quarantine", "/audit"])
def test_pages_draw_before_the_first_sync(admin: Browser, path: str) -> None:
    assert "<main" in admin.get(path)
