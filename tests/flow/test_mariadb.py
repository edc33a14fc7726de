"""The whole road on a real MariaDB: SQLite takes what it is given, a server has types, key lengths and lock waits."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from pipelines.backfill import Selection
from pipelines.errors import Code, Conflict
from pipelines.lifecycle import verify_audit
from pipelines.migrate import migrate
from pipelines.publish.forget import forget
from pipelines.publish.publish import publish
from pipelines.publish.reconcile import reconcile
from pipelines.publish.reembed import reembed
from pipelines.publish.rollback import rollback, rollback_document
from pipelines.publish.vacuum import vacuum
from pipelines.report import views
from pipelines.report.quality import measure
from pipelines.review.decide import approve, decline, hold
from pipelines.review.quarantine import quarantine, requeue, restore
from pipelines.settings import VacuumSettings
from sql import tables
from tests.fakes import FakeEmbedder
from tests.fakes_index import FakeIndex
from tests.flow.conftest import SOURCES, TOPICS, Kb, open_kb

OLD, NEW = "Unused holidays expire at the end of March.", "Unused holidays now expire at the end of June."
ODD = "Ask 张伟 👩‍💻 on 13812345678 about the İstanbul office of naïve Ωmega."


@pytest.fixture
def kb(tmp_path: Path, mariadb: str) -> Iterator[Kb]:
    (tmp_path / "docs").mkdir()
    (tmp_path / "sources.yaml").write_text(SOURCES, encoding="utf-8")
    made = open_kb(tmp_path / "home", tmp_path / "docs", FakeIndex(), FakeEmbedder(), database_url=mariadb)
    for topic, paragraphs in TOPICS.items():
        made.write(topic, *paragraphs)
    migrate(made.app)
    yield made
    made.app.database.dispose()


def versions(kb: Kb, document: str) -> list[str]:
    v = tables.version.c
    with kb.app.database.read() as tx:
        return list(tx.execute(select(v.id).where(v.document == document).order_by(v.number)).scalars())


@pytest.mark.slow
@pytest.mark.mariadb
def test_the_whole_road(kb: Kb) -> None:
    kb.write("odd", ODD, "A second part about the same office.")
    assert kb.release() and kb.shows("İstanbul") and not kb.shows("13812345678")
    assert kb.sync().built.number is None

    kb.write("leave", TOPICS["leave"][0], NEW)
    kb.release()
    assert kb.shows(NEW) and not kb.shows(OLD) and kb.shows(OLD, as_of=1)
    kb.embedder.embedded.clear()
    assert rollback(kb.app, 1, "the edit was wrong").live_release == 1
    assert kb.shows(OLD) and not kb.shows(NEW)
    requeue(kb.app, "document", kb.document(OLD), "it was right after all")
    kb.release()
    assert kb.shows(NEW) and kb.embedder.embedded == []
    leave = kb.document(NEW)
    rollback_document(kb.app, leave, versions(kb, leave)[0], "once more")
    assert kb.shows(OLD)

    canteen = kb.document("Lunch is served")
    quarantine(kb.app, "document", canteen, "out of date")
    assert not kb.shows("Lunch is served")
    restore(kb.app, "document", canteen, "checked")
    assert kb.shows("Lunch is served")

    kb.write("sports", "The swimming pool is free for members of staff.")
    kb.write("parking", "Parking spaces are given out by lot every spring.")
    number = int(kb.sync().built.number or 0)
    with kb.app.database.read() as tx:
        items = views.release(tx, kb.app.kb, number)["items"]
    hold(kb.app, number, [items[0]["document"]], "ask the owner")
    approve(kb.app, number, "the rest is right")
    publish(kb.app, number)
    assert kb.shows("swimming pool") != kb.shows("Parking spaces")
    kb.write("office", "The office opens at nine in the morning.")
    decline(kb.app, int(kb.sync().built.number or 0), "not agreed")
    assert kb.shows("opens at seven")

    quality = measure(kb.app, docs=False)
    assert quality["failed"]["critical"] == 0, quality["failed"]
    certificate = forget(kb.app, "document", kb.document("Lunch is served"), "asked for")["certificate"]
    assert not any(certificate["left"].values()) and not kb.shows("Lunch is served")
    kb.app = replace(kb.app, embedders={"next": lambda: FakeEmbedder(dimension=16, fingerprint="fa4e00000002")})
    reembed(kb.app, "next", "a better model")
    assert kb.shows("swimming pool") or kb.shows("Parking spaces")
    kept = kb.app.settings.model_copy(update={"vacuum": VacuumSettings(releases=1, days=0)})
    kb.app = replace(kb.app, settings=kept)
    assert vacuum(kb.app)["released"]
    assert kb.sync(again=Selection("parse", token="t1")).as_json()["files"]["parsed"] > 0
    assert reconcile(kb.app, repair=True)["faults"] == reconcile(kb.app, repair=False)["faults"] == []
    with kb.app.database.read() as tx:
        assert verify_audit(tx)[1] is None


@pytest.mark.slow
@pytest.mark.mariadb
def test_two_at_once_are_one_and_a_clear_word(kb: Kb) -> None:
    other = open_kb(kb.home, kb.docs, kb.index, FakeEmbedder(), database_url=kb.app.settings.database_url)
    with other.app.database.lock("sync-main"), pytest.raises(Conflict) as caught:
        kb.sync()
    assert caught.value.code is Code.LOCKED
    number = int(kb.sync().built.number or 0)
    approve(kb.app, number, "right")
    with other.app.database.lock("publish-main"), pytest.raises(Conflict) as caught:
        publish(kb.app, number)
    assert caught.value.code is Code.LOCKED
    assert publish(kb.app, number).live_release == number
    other.app.database.dispose()
