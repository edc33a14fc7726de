"""Who may sync when, what ends a decision to keep, and what order and batches must not change."""

import subprocess
import sys
import time
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from pipelines import flow, lease, runner
from pipelines.ask import reader, search
from pipelines.errors import Code, Conflict
from pipelines.migrate import migrate
from pipelines.publish.publish import publish
from pipelines.review.decide import approve, decline, hold
from pipelines.review.keep import confirm_removal
from sql import tables
from tests.fakes import FakeEmbedder
from tests.fakes_index import FakeIndex
from tests.flow.conftest import SOURCES, TOPICS, Kb, open_kb, page


def uri(kb: Kb, name: str) -> str:
    with kb.app.database.read() as tx:
        return str(tx.execute(select(tables.document.c.id).where(tables.document.c.uri == name)).scalar_one())


# --- a removal that was declined ---------------------------------------------------------------------------------


def declined_removal(kb: Kb) -> None:
    kb.release()
    (kb.docs / "canteen.md").unlink()
    decline(kb.app, int(kb.sync().built.number or 0), "we still need it")


def test_a_declined_removal_is_not_proposed_again(kb: Kb) -> None:
    declined_removal(kb)
    assert kb.sync().built.number is None and kb.shows("Lunch is served")


def test_it_ends_when_the_file_has_been_back(kb: Kb) -> None:
    declined_removal(kb)
    kb.write("canteen", *TOPICS["canteen"])
    kb.sync()
    (kb.docs / "canteen.md").unlink()
    assert kb.sync().built.number is not None


@pytest.mark.parametrize("confirm", ["person", "sync"])
def test_it_ends_when_a_person_confirms(kb: Kb, confirm: str) -> None:
    declined_removal(kb)
    if confirm == "person":
        confirm_removal(kb.app, uri(kb, "canteen.md"), "not needed any more")
    report = kb.sync(confirm_deletions=confirm == "sync")
    assert report.built.number is not None


def test_a_hold_lasts_over_releases_until_someone_lets_the_document_through(kb: Kb) -> None:
    first = int(kb.sync().built.number or 0)
    document = uri(kb, "laptop.md")
    hold(kb.app, first, [document], "ask the desk")
    approve(kb.app, first, "the rest is right")
    publish(kb.app, first)
    kb.write("sports", "The swimming pool is free for members of staff.")
    second = int(kb.sync().built.number or 0)
    item = tables.release_item
    with kb.app.database.read() as tx:
        rows = tx.execute(select(item.c.document, item.c.decision).where(item.c.release == second)).all()
    assert dict(rows)[document] == "held"
    approve(kb.app, second, "all clear", [document])
    approve(kb.app, second, "the rest too")
    publish(kb.app, second)
    assert kb.shows("Laptops are replaced") and kb.shows("swimming pool")


# --- the lease ---------------------------------------------------------------------------------------------------


def test_a_run_of_several_tasks_keeps_others_out_until_it_ends(kb: Kb) -> None:
    with lease.held_by_run(kb.app, "sync", "run 1"):
        pass
    with pytest.raises(Conflict, match="run 1") as caught:
        kb.sync()
    assert caught.value.code is Code.LOCKED
    with pytest.raises(Conflict), lease.held_by_run(kb.app, "sync", "run 2"):
        pass
    with lease.held_by_run(kb.app, "sync", "run 1"):
        pass
    lease.release(kb.app, "sync", "run 1")
    kb.sync()


def test_a_run_that_shows_no_life_is_taken_as_dead(kb: Kb) -> None:
    with lease.held_by_run(kb.app, "sync", "run 1"):
        pass
    late = replace(kb.app, clock=lambda: time.time() + lease.SECONDS + 1)
    with lease.held_by_run(late, "sync", "run 2"):
        pass
    with pytest.raises(Conflict), lease.held_by_run(kb.app, "sync", "run 1"):
        pass


def test_a_run_waits_for_a_process_and_not_for_a_dead_one(kb: Kb) -> None:
    with lease.held_by_process(kb.app, "sync"):
        with pytest.raises(Conflict), lease.held_by_run(kb.app, "sync", "run 1"):
            pass
        with kb.app.database.read() as tx:
            row = tx.execute(select(tables.lease)).mappings().one()
    with kb.app.database.write() as tx:
        tx.execute(tables.lease.insert().values(**row))  # as a killed process leaves it
    with lease.held_by_run(kb.app, "sync", "run 1"):
        pass


HOLDER = """
import sys, time
from pathlib import Path
from pipelines.adapters.database import Database
from pipelines import flow, lease, runner
from types import SimpleNamespace
home = Path(sys.argv[1])
database = Database(f"sqlite:///{home}/sluice.db", home / "locks")
app = SimpleNamespace(kb="main", actor="other", clock=time.time, database=database)
with lease.held_by_process(app, "sync"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_two_syncs_in_two_processes_are_one_sync_and_a_clear_word(kb: Kb) -> None:
    other = subprocess.Popen([sys.executable, "-c", HOLDER, str(kb.home)], stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        with pytest.raises(Conflict) as caught:
            kb.sync()
        assert caught.value.code is Code.LOCKED
    finally:
        other.kill()
        other.wait()
        other.stdout.close() if other.stdout else None
    assert kb.sync().built.number == 1


# --- duplicates --------------------------------------------------------------------------------------------------

FAMILY = [
    f"The allowance for trips is {n} yuan per day, and receipts are handed in within {n} days." for n in (1, 2, 3)
]
TEXTS = (
    *FAMILY,
    FAMILY[0],
    FAMILY[1] + " Late receipts are not accepted by the accounting office of the company.",
    "Visitors sign the book at the reception counter and wear a badge.",
    "Visitors sign the book at the reception counter, and wear a badge!",
    "Visitors do not sign the book at the reception counter and wear a badge.",
)


WHOLE: dict[int, list] = {}
"""Links by the number of candidates, in one batch."""


def outcome(folder, order, batch: int, cut: int):
    """Links by the texts that they tie together, of one home that took the texts in at this order and batch size."""
    docs = folder / "docs"
    docs.mkdir(parents=True)
    (folder / "sources.yaml").write_text(SOURCES, encoding="utf-8")
    kb = open_kb(folder / "home", docs, FakeIndex(), FakeEmbedder())
    values = {
        "dedup": kb.app.settings.dedup.model_copy(update={"max_candidates": cut}),
        "runner": kb.app.settings.runner.model_copy(update={"batch": batch}),
    }
    kb.app = replace(kb.app, settings=kb.app.settings.model_copy(update=values))
    migrate(kb.app)
    for number in order:
        (docs / f"{number}.md").write_text(page("it", TEXTS[number]), encoding="utf-8")
    scans = flow.scan_sources(kb.app, "run", source=None, glob=None, full=False, confirm_deletions=False)
    assert len(scans) == 1
    batches = flow.batches(kb.app)
    waiting = sorted((version for one in batches for version in one), key=lambda one: (hash((one, *order)), one))
    for start in range(0, len(waiting), batch):
        runner.run_layers(kb.app, waiting[start : start + batch], runner.Tally())
    link, vc, v, d = tables.duplicate_link, tables.version_chunk, tables.version, tables.document
    with kb.app.database.read() as tx:
        rows = tx.execute(
            select(vc.c.chunk, d.c.uri).join(v, v.c.id == vc.c.version).join(d, d.c.id == v.c.document)
        ).all()
        shown = dict(rows)
        links = tx.execute(select(link.c.a, link.c.b, link.c.outcome, link.c.drop)).all()
    kb.app.database.engine.dispose()
    return sorted((*sorted((shown[a], shown[b])), kind, drop) for a, b, kind, drop in links)


@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.permutations(range(len(TEXTS))), batch=st.integers(1, 5), cut=st.sampled_from([2, 64]))
def test_links_depend_on_neither_order_nor_batches(tmp_path_factory, order, batch, cut) -> None:
    if cut not in WHOLE:
        WHOLE[cut] = outcome(tmp_path_factory.mktemp("whole"), range(len(TEXTS)), 100, cut)
    assert WHOLE[cut] and outcome(tmp_path_factory.mktemp("cut"), order, batch, cut) == WHOLE[cut]


def test_a_run_keeps_a_diary(kb: Kb) -> None:
    kb.sync()
    with kb.app.database.read() as tx:
        row = tx.execute(select(tables.run)).mappings().one()
        assert tx.execute(select(func.count()).select_from(tables.lease)).scalar_one() == 0
    assert row["ended"] >= row["started"] and row["report"]["sources"][0]["new"] == 5


def test_passages_that_say_the_same_come_in_one_group(kb: Kb) -> None:
    kb.write("guests", "Visitors sign the book at the reception counter!", "Guests of the board are met at the gate.")
    kb.release()
    found = search(kb.app, "visitors sign the book", reader(None, ""), None, 50, False)["hits"]
    assert sum("sign the book" in one["text"] for one in found) == 1
