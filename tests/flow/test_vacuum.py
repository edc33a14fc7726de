"""Vacuum: what no kept release shows goes; what is kept reads as before."""

from dataclasses import replace

import pytest
from sqlalchemy import func, select

from pipelines.errors import Code, Conflict
from pipelines.publish.reconcile import reconcile
from pipelines.publish.rollback import rollback, rollback_document
from pipelines.publish.vacuum import vacuum
from pipelines.settings import VacuumSettings
from sql import tables
from tests.flow.conftest import Kb

FIRST = "Unused holidays expire at the end of March."
SECOND = "Unused holidays now expire at the end of June."
THIRD = "Holidays never expire any more, whatever happens."
KEEP = "Annual leave is twenty five days for everybody."


@pytest.fixture
def aged(kb: Kb) -> Kb:
    """Four releases of which two are kept."""
    settings = kb.app.settings.model_copy(update={"vacuum": VacuumSettings(releases=2, days=0)})
    kb.app = replace(kb.app, settings=settings)
    kb.release()
    for text in (SECOND, THIRD):
        kb.write("leave", KEEP, text)
        kb.release()
    (kb.docs / "canteen.md").unlink()
    kb.release()
    return kb


def count(kb: Kb, table) -> int:
    with kb.app.database.read() as tx:
        return tx.execute(select(func.count()).select_from(table)).scalar_one()


def test_kept_releases_read_as_before_and_the_others_say_that_they_are_gone(aged: Kb) -> None:
    before = {as_of: aged.texts(as_of) for as_of in (None, 3, 4)}
    assert aged.shows(FIRST, as_of=1)
    done = vacuum(aged.app)
    assert (done["kept"], done["released"]) == ([3, 4], [1, 2])
    assert {as_of: aged.texts(as_of) for as_of in (None, 3, 4)} == before
    for act in (lambda: aged.hits("leave", as_of=1), lambda: rollback(aged.app, 2, "back")):
        with pytest.raises(Conflict) as caught:
            act()
        assert caught.value.code is Code.RELEASE_VACUUMED
    assert reconcile(aged.app, repair=False)["faults"] == []


def test_no_text_of_what_went_is_left_in_index_sql_or_store(aged: Kb) -> None:
    vacuum(aged.app)
    with aged.app.database.read() as tx:
        dump = "".join(str(tuple(row)) for t in tables.metadata.sorted_tables for row in tx.execute(select(t)))
    store = "".join(
        one.read_bytes().decode("utf-8", "replace") for one in (aged.home / "artifacts").rglob("*") if one.is_file()
    )
    for place in (dump, store):
        assert "end of March" not in place and "end of June" not in place
        assert "never expire" in place


def test_a_second_vacuum_finds_nothing_and_nothing_is_embedded_or_lost_later(aged: Kb) -> None:
    assert {"chunk", "vector", "versions", "artifacts"} <= set(vacuum(aged.app)["deleted"])
    sizes = {table.name: count(aged, table) for table in tables.metadata.sorted_tables if table.name != "audit"}
    assert vacuum(aged.app)["deleted"] == {}
    assert {t.name: count(aged, t) for t in tables.metadata.sorted_tables if t.name != "audit"} == sizes
    rollback(aged.app, 3, "the canteen is open")
    assert aged.shows("Lunch is served")
    assert aged.sync().as_json()["calls"]["embed"] == 0


def test_a_version_whose_things_are_gone_cannot_come_back_but_its_file_can(aged: Kb) -> None:
    with aged.app.database.read() as tx:
        v = tables.version.c
        document = aged.document("never expire")
        first = tx.execute(select(v.id).where(v.document == document, v.number == 1)).scalar_one()
    vacuum(aged.app)
    with pytest.raises(Conflict, match="vacuumed"):
        rollback_document(aged.app, document, first, "back to the first")
    aged.write("leave", KEEP, FIRST)
    aged.release()
    assert aged.shows(FIRST) and not aged.shows(THIRD)
    assert reconcile(aged.app, repair=False)["faults"] == []


def test_days_keep_releases_whatever_their_number(aged: Kb) -> None:
    settings = aged.app.settings.model_copy(update={"vacuum": VacuumSettings(releases=1, days=30)})
    app = replace(aged.app, settings=settings)
    assert vacuum(app)["released"] == []
    done = vacuum(replace(app, clock=lambda: aged.app.clock() + 31 * 86400))
    assert (done["kept"], done["released"]) == ([4], [1, 2, 3])


def test_old_questions_go_and_young_ones_stay(aged: Kb) -> None:
    aged.hits("leave")
    asked = count(aged, tables.query_log)
    assert vacuum(aged.app)["deleted"].get("query_log") is None
    done = vacuum(replace(aged.app, clock=lambda: aged.app.clock() + 366 * 86400))
    assert done["deleted"]["query_log"] == asked
    assert count(aged, tables.query_hit) == 0
