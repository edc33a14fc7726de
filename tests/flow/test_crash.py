"""Processes killed by SIGKILL before every commit and at every checkpoint, then run again: readers see the old or the
new state, and the end is row for row that of an undisturbed run."""

import os
import re
import shutil
import signal
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, select

from pipelines.ask import find, reader
from pipelines.flow import recover_all
from pipelines.migrate import migrate
from pipelines.publish.forget import forget
from pipelines.publish.publish import publish
from pipelines.publish.reconcile import reconcile
from pipelines.publish.reembed import reembed
from pipelines.publish.rollback import rollback, rollback_document
from pipelines.publish.vacuum import vacuum
from pipelines.review.decide import approve
from pipelines.review.quarantine import quarantine
from pipelines.settings import VacuumSettings
from sql import tables
from tests.fakes import FakeEmbedder
from tests.fakes_index import FileIndex
from tests.flow.conftest import SOURCES, TOPICS, Kb, open_kb

KEEP = "Annual leave is twenty five days for everybody."
EDITED = "Unused holidays now expire at the end of June."
VOLATILE = {"audit", "query_log", "query_hit", "lease", "run"}
CLOCKS = {"created", "published", "seen", "synced", "at", "run", "vacuumed"}
VOLATILE_COLUMNS = {
    ("document", "name_sealed"),
    ("rejection", "id"),
    ("decision", "id"),
    ("entity", "id"),
    ("relation", "id"),
}

CERTIFICATE_TIMES = {"started", "finished", "sha256"}
COPY = re.compile(r"(kb_main__[0-9a-f]{12})_\d+")


class Killer:
    """Kills its process at the n-th commit or checkpoint (0: never)."""

    def __init__(self, at: int, log: Path) -> None:
        self._at, self._calls, self._log = at, 0, log

    def __call__(self, place: str) -> None:
        self._calls += 1
        with self._log.open("a") as log:
            log.write(place + "\n")
        if self._calls == self._at:
            os.kill(os.getpid(), signal.SIGKILL)


def reopened(home: Path, docs: Path, checkpoint: Callable[[str], None] | None = None) -> Kb:
    """Index and everything else come from the home alone."""
    index = FileIndex(home / "index.pickle", purges=not (home / "lite").exists())
    kb = open_kb(home, docs, index, FakeEmbedder(), checkpoint)
    settings = kb.app.settings.model_copy(update={"vacuum": VacuumSettings(releases=1, days=0)})
    other = FakeEmbedder(dimension=16, fingerprint="fa4e00000002")
    kb.app = replace(kb.app, settings=settings, embedders={"next": lambda: other})
    return kb


def in_child(home: Path, docs: Path, act: Callable[[Kb], Any], at: int) -> tuple[bool, list[str]]:
    """Run `act` in a process of its own. (whether it was killed, the places that it passed)"""
    log = home / "places"
    log.unlink(missing_ok=True)
    child = os.fork()
    if not child:
        try:
            killer = Killer(at, log)
            kb = reopened(home, docs, killer)
            watch_commits(kb, killer)
            act(kb)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(3)
    status = os.waitpid(child, 0)[1]
    assert status in (0, signal.SIGKILL), f"the child failed: {status}"
    places = log.read_text().split() if log.exists() else []
    return status == signal.SIGKILL, places


def watch_commits(kb: Kb, killer: Killer) -> None:
    """Of transactions that write; a read ends in the same state before and after its commit."""

    def begun(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        if statement == "BEGIN IMMEDIATE":
            connection.info["writes"] = True

    def commit(connection: Any) -> None:
        if connection.info.pop("writes", False):
            killer("commit")

    event.listen(kb.app.database.engine, "before_cursor_execute", begun)
    event.listen(kb.app.database.engine, "commit", commit)


def seen(kb: Kb) -> set[str]:
    """All text that a reader can find. It leaves no line in the query log, which an erasure would count."""
    _, result = find(kb.app, "the office travel leave laptop canteen part", reader(None, ""), None, 50)
    return {one.passage.text for one in result.hits} if result else set()


def end_state(kb: Kb) -> dict[str, Any]:
    """Everything but clocks, the log of who did what when, and how a collection that was copied is called."""
    state: dict[str, Any] = {}
    with kb.app.database.read() as tx:
        for table in tables.metadata.sorted_tables:
            if table.name not in VOLATILE:
                kept = [
                    column
                    for column in table.c
                    if column.name not in CLOCKS and (table.name, column.name) not in VOLATILE_COLUMNS
                ]
                rows = (repr(_timeless(row)) for row in tx.execute(select(*kept)))
                state[table.name] = sorted(COPY.sub(r"\1", row) for row in rows)
    kb.index.ensure("none", 1)
    state["index"] = {
        COPY.sub(r"\1", name): sorted((row.id, row.born, row.died, row.acl, row.vector) for row in rows.values())
        for name, rows in kb.index.rows.items()
    }
    state["artifacts"] = sorted(kb.app.artifacts.keys(""))
    return state


def _timeless(row: Any) -> dict[str, Any]:
    """A row without what its layers cost, and a certificate without its time."""
    values = dict(row._mapping)
    if values.get("certificate"):
        values["certificate"] = {k: v for k, v in values["certificate"].items() if k not in CERTIFICATE_TIMES}
    if "facts" in values:
        values["facts"] = {name: value for name, value in values["facts"].items() if name != "seconds"}
    return values


def crash_everywhere(kb: Kb, act: Callable[[Kb], Any]) -> set[str]:
    """Kill `act` at each of its places in turn, each time on a copy of the same home. The places, by name."""
    before = seen(kb)
    kb.app.database.engine.dispose()
    after, wanted, places = undisturbed(kb, act)
    for at, place in enumerate(places, 1):
        trial_home = kb.home.with_name("trial")
        shutil.copytree(kb.home, trial_home)
        where = f"{at}: {place}"
        assert in_child(trial_home, kb.docs, act, at)[0], where
        trial = reopened(trial_home, kb.docs)
        assert seen(trial) in (before, after), where
        act(trial)
        assert seen(trial) == after, where
        found = end_state(trial)
        assert {name for name in wanted if found[name] != wanted[name]} == set(), where
        assert reconcile(trial.app, repair=False)["faults"] == [], where
        trial.app.database.engine.dispose()
        shutil.rmtree(trial_home)
    return set(places)


def undisturbed(kb: Kb, act: Callable[[Kb], Any]) -> tuple[set[str], dict[str, Any], list[str]]:
    """What readers see, everything that is stored, and the places passed, after a run that nobody kills."""
    home = kb.home.with_name("whole")
    shutil.copytree(kb.home, home)
    killed, places = in_child(home, kb.docs, act, 0)
    assert not killed and places
    whole = reopened(home, kb.docs)
    texts, state = seen(whole), end_state(whole)
    whole.app.database.engine.dispose()
    return texts, state, places


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `one` (a release) and `two` (a second one, which replaced one document)."""
    root = tmp_path_factory.mktemp("crash")
    docs = root / "one" / "docs"
    docs.mkdir(parents=True)
    (root / "one" / "sources.yaml").write_text(SOURCES, encoding="utf-8")
    (root / "one" / "home").mkdir()
    for name in ("one", "two"):
        if name == "two":
            shutil.copytree(root / "one", root / "two")
        kb = reopened(root / name / "home", root / name / "docs")
        migrate(kb.app)
        for topic, paragraphs in TOPICS.items():
            kb.write(topic, *paragraphs)
        if name == "two":
            kb.write("leave", KEEP, EDITED)
        kb.release()
        kb.app.database.engine.dispose()
    return root


def opened(made: Path, name: str, tmp_path: Path) -> Kb:
    shutil.copytree(made / name, tmp_path / "kb")
    return reopened(tmp_path / "kb" / "home", tmp_path / "kb" / "docs")


@pytest.fixture
def one(made: Path, tmp_path: Path) -> Kb:
    return opened(made, "one", tmp_path)


@pytest.fixture
def two(made: Path, tmp_path: Path) -> Kb:
    return opened(made, "two", tmp_path)


def changed(kb: Kb) -> None:
    """One document edited, one gone."""
    kb.write("leave", KEEP, "Holidays never expire any more.")
    (kb.docs / "canteen.md").unlink()


def version_of(kb: Kb, words: str, number: int) -> tuple[str, str]:
    document = kb.document(words)
    v = tables.version.c
    with kb.app.database.read() as tx:
        return document, tx.execute(select(v.id).where(v.document == document, v.number == number)).scalar_one()


@pytest.mark.slow
def test_sync_approval_and_publication(one: Kb) -> None:
    changed(one)
    places = crash_everywhere(one, lambda kb: kb.release())
    wanted = {"commit", "scanned", "staged", "build.in_review", "publish.planned", "publish.switched", "hygiene.closed"}
    assert wanted <= places


def test_approval_and_publication_of_a_standing_release(one: Kb) -> None:
    changed(one)
    number = int(one.sync().built.number or 0)
    assert crash_everywhere(one, lambda kb: approve_and_publish(kb, number)) >= {"publish.gated"}


def approve_and_publish(kb: Kb, number: int) -> None:
    with kb.app.database.read() as tx:
        where = tables.release.c.number == number
        state = tx.execute(select(tables.release.c.state).where(where)).scalar_one()
    if state == "in_review":
        approve(kb.app, number, "looks right")
    publish(kb.app, number)


def test_rollback(two: Kb) -> None:
    assert "rollback.moved" in crash_everywhere(two, lambda kb: rollback(kb.app, 1, "wrong"))


def test_quarantine(two: Kb) -> None:
    document = two.document("Lunch is served")
    act = crash_everywhere(two, lambda kb: quarantine(kb.app, "document", document, "wrong"))
    assert "quarantine.denied" in act


def test_erasure(two: Kb) -> None:
    document = two.document("now expire")
    places = crash_everywhere(two, lambda kb: forget(kb.app, "document", document, "asked for"))
    assert {"forget.started", "forget.index", "forget.artifacts", "forget.batch", "forget.certified"} <= places


@pytest.mark.parametrize("lite", [False, True])
def test_erasure_of_a_passage(two: Kb, lite: bool) -> None:
    if lite:  # this index cannot compact: what is left is copied into a new collection
        (two.home / "lite").touch()
    chunk = next(str(one["chunk"]) for one in two.hits("days for everybody") if KEEP in one["text"])
    places = crash_everywhere(two, lambda kb: forget(kb.app, "chunk", chunk, "a private matter"))
    wanted = {"forget.started", "forget.index", "forget.cut", "forget.artifacts", "forget.dropped", "forget.certified"}
    assert wanted <= places
    assert ("rebuild.switched" in places) == lite


def test_re_embedding(two: Kb) -> None:
    places = crash_everywhere(two, lambda kb: reembed(kb.app, "next", "better"))
    assert {"vectors.stored", "index.batch", "reembed.filled", "reembed.switched"} <= places


def test_vacuum(two: Kb) -> None:
    places = crash_everywhere(two, lambda kb: vacuum(kb.app))
    assert {"vacuum.released", "vacuum.index", "vacuum.rows", "vacuum.artifacts", "vacuum.facts"} <= places


def test_one_document_back_to_an_earlier_version(two: Kb) -> None:
    document, first = version_of(two, "now expire", 1)

    def back(kb: Kb) -> None:
        with kb.app.database.read() as tx:
            r = tables.release.c
            open_ = select(r.number).where(r.kind == "rollback", r.state.in_(("approved", "publishing")))
            number = tx.execute(open_).scalar()
        if number is not None:
            publish(kb.app, number)
        elif kb.shows("now expire"):
            rollback_document(kb.app, document, first, "the edit was wrong")
        else:
            recover_all(kb.app)

    assert "rollback.approved" in crash_everywhere(two, back)
