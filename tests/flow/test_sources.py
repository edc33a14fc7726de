"""The whole road for each way that a source is reached, and what a source in trouble must never cost."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from pipelines.adapters.remote import Patience
from pipelines.cli import app as command
from pipelines.errors import Code
from pipelines.migrate import migrate
from pipelines.publish.publish import publish
from pipelines.review.decide import approve
from pipelines.wiring import make_reader
from tests.fakes import FakeEmbedder
from tests.fakes_index import FakeIndex
from tests.fakes_sources import PLACES, secrets_of
from tests.flow.conftest import TOPICS, open_kb, page


def opened(place, tmp_path):
    """A knowledge base whose one source is this place; `opens` grows by each item that is read."""
    entry = {"name": "notes", "breaker": {"share": 0.5}, **place.entry}
    (tmp_path / "sources.yaml").write_text(json.dumps({"sources": [entry]}), encoding="utf-8")
    kb = open_kb(tmp_path / "home", tmp_path / "none", FakeIndex(), FakeEmbedder())
    opens = []

    def reader(source):
        made = make_reader(source, tmp_path, tmp_path / "state", secrets_of(place), Patience(lambda _: None))
        read = made.open
        made.open = lambda uri: (opens.append(uri), read(uri))[1]
        return made

    kb.app = replace(kb.app, reader=reader)
    migrate(kb.app)
    return kb, opens


@pytest.fixture
def place(request, tmp_path):
    made = request.param(tmp_path)
    for topic, paragraphs in TOPICS.items():
        made.write(topic, page(topic, *paragraphs))
    yield made
    made.close()


def every(*kinds, slow=()):
    quick = [pytest.param(PLACES[name], id=name) for name in kinds]
    params = [*quick, *(pytest.param(PLACES[name], id=name, marks=pytest.mark.slow) for name in slow)]
    return pytest.mark.parametrize("place", params, indirect=True)


@every("api", "git", "pages", "sql", slow=("git behind http", "s3", "sitemap"))
def test_only_what_changed_is_fetched_and_what_is_gone_leaves_with_a_release(place, tmp_path):
    kb, opens = opened(place, tmp_path)
    kb.release()
    assert kb.shows("Annual leave is twenty five days") and sorted(opens) == sorted(map(place.uri, TOPICS))
    opens.clear()
    assert kb.sync().built.number is None and not opens

    place.write("leave", page("leave", "Annual leave is thirty days for everybody.", TOPICS["leave"][1]))
    assert kb.release() is not None
    assert opens == [place.uri("leave")]
    assert kb.shows("Annual leave is thirty days") and not kb.shows("twenty five days")

    place.remove("canteen")
    opens.clear()
    report = kb.sync()
    assert report.as_json()["documents"]["removed"] == 1 and not opens and kb.shows("Lunch is served")
    approve(kb.app, report.built.number, "right")
    publish(kb.app, report.built.number)
    assert not kb.shows("Lunch is served") and kb.shows("Trains are preferred")
    kb.app.database.engine.dispose()


@every("api", "folder", "git", slow=("pages", "s3", "sitemap", "sql"))
def test_a_source_that_is_gone_loses_nothing(place, tmp_path):
    kb, _ = opened(place, tmp_path)
    kb.sync()
    place.vanish()
    kb, _ = opened(place, tmp_path)  # where an entry of sources.yaml says where it is, the place has changed that
    scan = kb.sync(confirm_deletions=True).scans[0]
    assert scan.error.code is Code.SCAN_SOURCE_GONE and not scan.removed
    kb.app.database.engine.dispose()


@every("api")
def test_a_listing_that_fails_in_the_middle_removes_and_takes_nothing(place, tmp_path):
    kb, _ = opened(place, tmp_path)
    kb.release()
    place.remove("travel")
    place.write("garden", page("garden", "Roses are cut in spring."))
    place.site.trouble = lambda path: (500, {}, b"broken") if "start=4" in path else None
    scan = kb.sync(confirm_deletions=True).scans[0]
    assert scan.error.code is Code.SCAN_SOURCE_DOWN and not scan.removed
    assert kb.shows("Trains are preferred")
    place.site.trouble = lambda path: None
    scan = kb.sync().scans[0]
    assert len(scan.removed) == 1 and len(scan.plan.new) == 1
    kb.app.database.engine.dispose()


def test_the_command_lists_sources_and_says_which_cannot_be_listed(tmp_path, monkeypatch):
    entries = [{"name": "here", "location": "docs"}, {"name": "away", "kind": "git", "location": "nothing"}]
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A")
    (tmp_path / "sources.yaml").write_text(json.dumps({"sources": entries}))
    monkeypatch.setenv("SLUICE_SOURCES", str(tmp_path / "sources.yaml"))
    monkeypatch.setenv("SLUICE_HOME", str(tmp_path / "home"))
    plain = CliRunner().invoke(command, ["sources", "--json"])
    assert plain.exit_code == 0 and [one["kind"] for one in json.loads(plain.stdout)["sources"]] == ["folder", "git"]
    checked = CliRunner().invoke(command, ["sources", "--check", "--json"])
    here, away = json.loads(checked.stdout)["sources"]
    assert checked.exit_code == 1 and here["documents"] == 1 and away["error"].startswith("scan.source_gone: ")
