"""Readers beside publications, and two of a kind at once, in processes of their own."""

import os
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipelines.ask import reader, search
from pipelines.errors import Code, Conflict
from pipelines.publish.reconcile import reconcile
from pipelines.publish.rollback import rollback
from tests.fakes import FakeEmbedder
from tests.fakes_index import FileIndex
from tests.flow.conftest import TOPICS, Kb, open_kb

PUBLISHES = 20
LIKE = {"alpha": "travel", "beta": "leave", "gamma": "laptop"}
READERS = 3


def fork(home: Path, docs: Path, act: Callable[[Kb], Any]) -> int:
    """Runs `act` in a child on the same home: exit status 0 when it went through, 7 on LOCKED, else 3."""
    child = os.fork()
    if child:
        return child
    try:
        act(open_kb(home, docs, FileIndex(home / "index.pickle"), FakeEmbedder()))
        os._exit(0)
    except Conflict as error:
        os._exit(7 if error.code is Code.LOCKED else 3)
    except BaseException:
        traceback.print_exc()
        os._exit(3)


def on_file(kb: Kb) -> Kb:
    kb.app.database.engine.dispose()
    return open_kb(kb.home, kb.docs, FileIndex(kb.home / "index.pickle"), FakeEmbedder())


def round_of(kb: Kb, number: int) -> None:
    """Every document says the round it is of, in two sections; the six texts are no duplicates of each other."""
    for topic in ("alpha", "beta", "gamma"):
        kb.write(topic, *(f"{text} {topic} rule of round {number:03d} of the year" for text in TOPICS[LIKE[topic]]))


def hammer(kb: Kb) -> None:
    """Search until told to stop; each answer is of one round, whole, and of none before it."""
    latest = 0
    reads = 0
    while not (kb.home / "stop").exists():
        hits = search(kb.app, "alpha beta gamma rule written in round of the year", reader(None, ""), None, 50, False)
        found = [one["text"] for one in hits["hits"] if "round" in one["text"]]
        rounds = {text.partition("round ")[2][:3] for text in found}
        assert len(found) == 6 and len(rounds) == 1, found
        assert max(Counter(found).values()) == 1, found
        assert hits["release"] >= latest
        latest, reads = hits["release"], reads + 1
        time.sleep(0.05)  # leave the two cores some room to publish
    assert reads > 3


@pytest.mark.slow
def test_readers_beside_twenty_publications_see_one_whole_release_each(kb: Kb) -> None:
    made = on_file(kb)
    round_of(made, 0)
    made.release()
    made.app.database.engine.dispose()
    children = [fork(made.home, made.docs, hammer) for _ in range(READERS)]
    try:
        for number in range(1, PUBLISHES + 1):
            round_of(made, number)
            made.release()
    finally:
        (made.home / "stop").touch()
        ends = [os.waitpid(child, 0)[1] for child in children]
    assert ends == [0] * READERS
    assert made.hits("alpha rule round")[0]["release"] == PUBLISHES + 1
    assert reconcile(made.app, repair=False)["faults"] == []


def race(kb: Kb, act: Callable[[Kb], Any], processes: int = 2) -> list[int]:
    """Start together, wait for all; exit statuses, sorted."""
    gate = kb.home / "go"
    gate.unlink(missing_ok=True)

    def run(one: Kb) -> None:
        while not gate.exists():
            time.sleep(0.005)
        act(one)

    children = [fork(kb.home, kb.docs, run) for _ in range(processes)]
    gate.touch()
    return sorted(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)


def test_two_syncs_and_two_publications_at_once_double_nothing(kb: Kb) -> None:
    made = on_file(kb)
    made.app.database.engine.dispose()
    assert race(made, lambda one: one.sync()) in ([0, 0], [0, 7])
    made.app.database.engine.dispose()
    assert race(made, lambda one: one.release()) in ([0, 0], [0, 7])
    made.release()
    assert reconcile(made.app, repair=False)["faults"] == []
    hits = made.hits("office travel leave laptop canteen part")
    assert len({one["text"] for one in hits}) == len(hits) == 10


def test_a_rollback_beside_a_publication_ends_at_one_of_the_two(kb: Kb) -> None:
    made = on_file(kb)
    for number in (0, 1):
        round_of(made, number)
        made.release()
    round_of(made, 2)
    made.app.database.engine.dispose()
    first = fork(made.home, made.docs, lambda one: one.release())
    second = fork(made.home, made.docs, lambda one: rollback(one.app, 1, "back"))
    ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in (first, second)]
    assert set(ends) <= {0, 7} and 0 in ends
    found = [one["text"] for one in made.hits("alpha beta gamma rule written in round") if "round" in one["text"]]
    assert len(found) == 6
    assert len({text.partition("round ")[2][:3] for text in found}) == 1
    assert reconcile(made.app, repair=False)["faults"] == []
