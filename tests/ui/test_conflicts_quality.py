"""Conflicts and quality on the pages: who sees and decides what, and that nothing in them runs."""

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from pipelines.conflict.views import conflicts
from pipelines.migrate import migrate
from pipelines.report import quality
from sluice_ui.app import create_app
from tests.fakes_host import FakeHost
from tests.flow.conftest import Kb
from tests.ui.conftest import Browser, opened

RULE = "# {title}\n\n## Hotel limit\n\nFor a trip inside the country the hotel limit is {limit} euros <b>a night</b>.\n"
HOSTILE = "Guide <script>alert(1)</script>"


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kb]:
    """One conflict between a document for all and one of the staff team."""
    base = tmp_path_factory.mktemp("conflicts")
    made = opened(base)
    (base / "docs" / "rules.md").write_text(RULE.format(title="Travel rules", limit=120))
    (base / "docs" / "other.md").write_text(RULE.format(title=HOSTILE, limit=90))
    (base / "staff" / "guide.md").write_text(RULE.format(title="Staff guide", limit=150))
    migrate(made.app)
    made.release()
    yield made
    made.app.database.dispose()


@pytest.fixture
def client(kb: Kb) -> Iterator[TestClient]:
    with TestClient(create_app(FakeHost(), lambda: kb.app)) as made:
        yield made


def found(kb: Kb) -> list[dict[str, Any]]:
    with kb.app.database.read() as tx:
        listed: list[dict[str, Any]] = conflicts(tx, kb.app.kb)["conflicts"]
    return listed


def test_a_conflict_is_seen_only_by_those_who_see_both_documents(kb: Kb, client: TestClient) -> None:
    all_ = found(kb)
    hidden = next(one for one in all_ if "Staff guide" in (one["a"]["title"], one["b"]["title"]))
    page = Browser(client, "viewer").get("/conflicts")
    assert "Staff guide" not in page
    assert "Travel rules" in page
    Browser(client, "viewer").get(f"/conflicts/{hidden['conflict']}", status=404)
    assert "Staff guide" in Browser(client, "admin").get("/conflicts")


def test_script_in_a_title_or_text_is_inert(kb: Kb, client: TestClient) -> None:
    one = next(one for one in found(kb) if HOSTILE[:5] in one["a"]["title"] + one["b"]["title"])
    for path in ("/conflicts", f"/conflicts/{one['conflict']}"):
        assert "<script>alert" not in Browser(client, "admin").get(path)


def test_whoever_reviews_a_source_decides_and_nobody_else(kb: Kb, client: TestClient) -> None:
    one = next(one for one in found(kb) if "Staff guide" not in (one["a"]["title"], one["b"]["title"]))
    path = f"/conflicts/{one['conflict']}"
    form = {"strategy": "both", "reason": "two countries", "note": "120 at home, 90 abroad"}
    viewer = Browser(client, "viewer")
    assert 'name="strategy"' not in viewer.get(path)
    Browser(client, "admin").post(path, form, page=path)
    decided = next(row for row in found(kb) if row["conflict"] == one["conflict"])
    assert (decided["strategy"], decided["actor"], decided["note"]) == ("both", "admin", form["note"])
    refused = viewer.raw("POST", path, {**form, "csrf": "x"})
    assert refused.status_code == 403


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_quality_page_shows_the_report_with_files_and_data_docs(kb: Kb, client: TestClient, language: str) -> None:
    run = quality.measure(kb.app)["run"]
    admin = Browser(client, "admin", language)
    page = admin.get("/quality")
    assert page.count("<svg") >= 4
    assert f"/quality/{run}/docs/index.html" in page
    assert "<script" not in admin.get(f"/quality/{run}/report.html")
    assert '"schema":"sluice.quality/1"' in admin.get(f"/quality/{run}/report.json").replace(": ", ":")
    docs = admin.raw("GET", f"/quality/{run}/docs/index.html")
    assert docs.status_code == 200
    assert "'none'" in docs.headers["content-security-policy"]
    admin.get(f"/quality/{run}/docs/../../../../raw/x.html", status=404)
    admin.get("/quality?run=999", status=404)


def test_the_quality_page_is_for_admins_and_auditors(client: TestClient) -> None:
    Browser(client, "viewer").get("/quality", status=403)
