"""Readers beside publications, kills, and two of a kind at once: processes of their own, over a real Milvus Lite."""

import json
import os
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from pipelines.adapters.milvus_local import stop_local_server
from pipelines.ask import reader, search
from pipelines.migrate import migrate
from pipelines.publish.publish import publish
from pipelines.publish.reconcile import reconcile
from pipelines.publish.rollback import rollback
from pipelines.review.decide import approve
from pipelines.review.quarantine import quarantine
from schemas.index import FOREVER
from sql import tables
from tests.flow.conftest import SOURCES, TOPICS, Kb
from tests.flow.processes import LOCKED, Work

PUBLISHES, READERS = 20, 2
LIKE = {"alpha": "travel", "beta": "leave", "gamma": "laptop"}
ASKED = "alpha beta gamma rule written in round of the year"


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """Five documents in `docs`, nothing synced yet; the state will be in `home`."""
    made = tmp_path / "kb"
    (made / "docs").mkdir(parents=True)
    (made / "sources.yaml").write_text(SOURCES, encoding="utf-8")
    Work(made, started).result()
    yield made
    for home in tmp_path.glob("*/home"):
        stop_local_server(home)


def started(kb: Kb) -> None:
    for topic, paragraphs in TOPICS.items():
        kb.write(topic, *paragraphs)
    migrate(kb.app)


def released(kb: Kb) -> int:
    made = kb.release()
    return made.release if made else 0


def round_of(kb: Kb, number: int) -> None:
    """Every document says the round it is of, in two sections; the six texts are no duplicates of each other."""
    for topic in ("alpha", "beta", "gamma"):
        kb.write(topic, *(f"{text} {topic} rule of round {number:03d} of the year" for text in TOPICS[LIKE[topic]]))


def publish_rounds(kb: Kb, first: int, after: int) -> int:
    for number in range(first, after):
        round_of(kb, number)
        last = released(kb)
    return last


def rounds(kb: Kb) -> tuple[int, list[str]]:
    """(release, texts that say a round)"""
    answer = search(kb.app, ASKED, reader(None, ""), None, 50, False)
    return answer["release"], [one["text"] for one in answer["hits"] if "round" in one["text"]]


def hammer(kb: Kb) -> int:
    """Search until told to stop; each answer is of one round, whole, and of none before it."""
    latest = reads = 0
    while not (kb.home / "stop").exists():
        release, found = rounds(kb)
        assert len(found) == 6 and len({text.partition("round ")[2][:3] for text in found}) == 1, found
        assert max(Counter(found).values()) == 1, found
        assert release >= latest
        latest, reads = release, reads + 1
        time.sleep(0.05)  # leave the cores some room to publish
    return reads


def faults(kb: Kb) -> list[Any]:
    found: list[Any] = reconcile(kb.app, repair=False)["faults"]
    return found


@pytest.mark.slow
def test_readers_beside_twenty_publications_see_one_whole_release_each(root: Path) -> None:
    Work(root, publish_rounds, 0, 1).result()
    readers = [Work(root, hammer) for _ in range(READERS)]
    try:
        last = Work(root, publish_rounds, 1, PUBLISHES + 1).result()
    finally:
        (root / "home" / "stop").touch()
        reads = [one.result() for one in readers]
    assert last == PUBLISHES + 1
    assert min(reads) > PUBLISHES
    assert Work(root, rounds).result()[0] == last
    assert Work(root, faults).result() == []


def at_the_gate(kb: Kb, act: Callable[[Kb], Any]) -> None:
    while not (kb.home / "go").exists():
        time.sleep(0.005)
    act(kb)


def race(root: Path, *acts: Callable[[Kb], Any]) -> list[int]:
    """Start together, wait for all; exit statuses, sorted."""
    (root / "home" / "go").unlink(missing_ok=True)
    at_work = [Work(root, at_the_gate, act) for act in acts]
    (root / "home" / "go").touch()
    return sorted(one.end() for one in at_work)


def synced(kb: Kb) -> None:
    kb.sync()


def test_two_syncs_and_two_publications_at_once_double_nothing(root: Path) -> None:
    assert race(root, synced, synced) in ([0, 0], [0, LOCKED])
    assert race(root, released, released) in ([0, 0], [0, LOCKED])
    Work(root, released).result()
    assert Work(root, faults).result() == []
    texts = Work(root, all_texts).result()
    assert len(set(texts)) == len(texts) == 10


def all_texts(kb: Kb) -> list[str]:
    return sorted(one["text"] for one in kb.hits("office travel leave laptop canteen part"))


def back_to_the_first(kb: Kb) -> None:
    rollback(kb.app, 1, "wrong")


def test_a_rollback_beside_a_publication_ends_at_one_of_the_two(root: Path) -> None:
    Work(root, publish_rounds, 0, 2).result()
    Work(root, round_of, 2).result()
    ends = race(root, released, back_to_the_first)
    assert set(ends) <= {0, LOCKED} and 0 in ends
    found = Work(root, rounds).result()[1]
    assert len(found) == 6
    assert len({text.partition("round ")[2][:3] for text in found}) == 1
    assert Work(root, faults).result() == []


def edited(kb: Kb) -> None:
    """One document changed, one gone, and the release of it approved."""
    kb.write("leave", TOPICS["leave"][0], "Holidays never expire any more.")
    (kb.docs / "canteen.md").unlink()
    approve(kb.app, kb.sync().built.number or 0, "looks right")


def published(kb: Kb) -> None:
    publish(kb.app, 2)


def hidden(kb: Kb) -> None:
    """The document on visitors, in quarantine."""
    d = tables.document.c
    with kb.app.database.read() as tx:
        v = tables.version.c
        about = select(d.id).join(tables.version, v.document == d.id).where(v.title == "About the office")
        document = tx.execute(about).scalars().first()
    quarantine(kb.app, "document", str(document), "wrong")


def state(kb: Kb) -> tuple[list[str], list[tuple[Any, ...]], list[Any]]:
    """(what a reader sees, what lies open in the index, faults)"""
    with kb.app.database.read() as tx:
        collection = tx.execute(select(tables.knowledge_base.c.collection)).scalar_one()
    rows = kb.app.index().states(collection)
    return all_texts(kb), sorted((row.id, row.born) for row in rows if row.died == FOREVER), faults(kb)


def copied(root: Path, name: str) -> Path:
    """The same state at another place; its index has no server yet."""
    stop_local_server(root / "home")
    return Path(shutil.copytree(root, root.with_name(name), ignore=shutil.ignore_patterns("server.json", "go")))


def kill_server(root: Path) -> None:
    noted = json.loads((root / "home" / "index" / "server.json").read_text())
    for pid in (noted["keeper"], noted["server"]):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prepared", "act", "wanted"),
    [
        ([edited], published, {"index.batch", "publish.planned", "publish.verified", "publish.switched"}),
        ([edited, published], back_to_the_first, {"rollback.moved"}),
        ([edited, published], hidden, {"quarantine.denied"}),
    ],
)
def test_killed_at_any_step_with_its_index_server(
    root: Path, prepared: list[Callable[[Kb], None]], act: Callable[[Kb], None], wanted: set[str]
) -> None:
    Work(root, released).result()
    for step in prepared:
        Work(root, step).result()
    before = Work(root, all_texts).result()
    undisturbed = copied(root, "whole")
    whole = Work(undisturbed, act)
    whole.result()
    after = Work(undisturbed, state).result()
    assert after[2] == [] and wanted <= set(whole.places)
    for at, place in enumerate(whole.places, 1):
        trial = copied(root, f"trial{at}")
        assert Work(trial, act, kill_at=at).end() == -signal.SIGKILL, place
        if (trial / "home" / "index" / "server.json").exists():  # quarantine asks the database alone
            kill_server(trial)
        assert Work(trial, all_texts).result() in (before, after[0]), place
        Work(trial, act).result()
        assert Work(trial, state).result() == after, place
        kill_server(trial)
