"""What the DAGs' tasks do, without Airflow."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from pipelines import airflow_tasks
from pipelines.errors import Code, Conflict, Systemic, Transient
from pipelines.layers import LAYERS
from pipelines.migrate import migrate
from pipelines.wiring import wire
from sql import tables


@pytest.fixture
def app(tmp_path, monkeypatch):
    monkeypatch.setenv("SLUICE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SLUICE_SOURCES", str(tmp_path / "none.yaml"))
    wired = wire(actor="maker")
    migrate(wired)
    return wired


def _release(app, number, state):
    row = {"kb": app.kb, "number": number, "state": state, "kind": "sync", "base": 0, "created": 0.0}
    with app.database.write() as tx:
        tx.execute(tables.release.insert().values(**row, created_by="maker", counts={}, hygiene=True))


def _version(app, name, state):
    row = {
        "id": name,
        "kb": app.kb,
        "document": name,
        "number": 1,
        "sha256": "",
        "uri": name,
        "state": state,
        "layer": "scan",
    }
    with app.database.write() as tx:
        tx.execute(
            tables.version.insert().values(**row, artifacts={}, facts={}, ingested_by="maker", run="1", created=0.0)
        )


def _state(app, number):
    with app.database.read() as tx:
        return tx.execute(select(tables.release.c.state).where(tables.release.c.number == number)).scalar_one()


def _answer(option, reason="seen", user="ann"):
    by = {"id": user, "name": user} if user else None
    return {"chosen_options": [option], "params_input": {"reason": reason}, "responded_by_user": by}


@given(st.lists(st.lists(st.text(max_size=2), max_size=3), max_size=40), st.integers(1, 12))
def test_batches_beyond_airflows_limit_join_without_loss(batches, most):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(airflow_tasks, "MAX_BATCHES", most)
        joined = airflow_tasks._bounded(batches)
    assert len(joined) <= most
    assert list(chain.from_iterable(joined)) == list(chain.from_iterable(batches))


def test_a_vacuum_or_reconciliation_beside_another_run_is_tried_again(app):
    with app.database.lock("publish-main"):
        for work in (lambda: airflow_tasks.vacuum("ann"), lambda: airflow_tasks.reconcile(False, "ann")):
            with pytest.raises(Transient) as caught:
                work()
            assert caught.value.code is Code.LOCKED


def test_a_sync_without_a_scan_is_red(app):
    with pytest.raises(Systemic):
        airflow_tasks.check(None, "run", "ann")


def test_a_sync_with_a_batch_that_is_not_through_is_red(app):
    _version(app, "done", "staged")
    assert airflow_tasks.check([["done"], []], "run", "ann") == 1
    _version(app, "stuck", "in_progress")
    with pytest.raises(Systemic, match="1 of 2"):
        airflow_tasks.check([["done"], ["stuck"]], "run", "ann")


def test_a_sync_whose_release_could_not_be_checked_is_red(app):
    with pytest.raises(Systemic, match="quality report crashed"):
        airflow_tasks.check([], "run", "ann", unchecked=True)


def test_a_missing_source_turns_the_sync_red_although_the_rest_was_staged(app, tmp_path, monkeypatch):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# About visits\n\nVisitors sign the book at the reception counter.")
    sources = "sources: [{name: here, location: docs}, {name: gone, location: nowhere}]"
    (tmp_path / "sources.yaml").write_text(sources)
    monkeypatch.setenv("SLUICE_SOURCES", str(tmp_path / "sources.yaml"))
    batches = airflow_tasks.plan({}, "run", "ann")
    for layer in LAYERS:
        for batch in batches:
            airflow_tasks.run_layer(layer.name, batch, "run", "ann")
    with pytest.raises(Systemic, match=r"gone: scan\.source_gone"):
        airflow_tasks.check(batches, "run", "ann")
    with app.database.read() as tx:
        assert tx.execute(select(tables.version.c.state)).scalars().all() == ["staged"]
        assert tx.execute(select(tables.lease)).all() == []


@pytest.mark.parametrize(("option", "state"), [("Approve", "approved"), ("Decline", "declined"), ("Hold", "in_review")])
def test_the_answer_becomes_the_decision_of_the_person_who_gave_it(app, option, state):
    _release(app, 1, "in_review")
    assert airflow_tasks.decide(1, _answer(option))["actor"] == "ann"
    assert _state(app, 1) == state
    with app.database.read() as tx:
        last = tx.execute(select(tables.audit).order_by(tables.audit.c.sequence.desc()).limit(1)).one()
    assert (last.actor, last.reason) == ("ann", "seen")


def test_no_answer_in_time_decides_nothing(app):
    _release(app, 1, "in_review")
    assert airflow_tasks.decide(1, _answer("Hold", reason=None, user=None))["actor"] == "policy"
    assert _state(app, 1) == "in_review"


@pytest.mark.parametrize("state", ["in_review", "declined", "superseded"])
def test_publish_asks_our_database_and_not_airflow(app, state):
    _release(app, 1, state)
    assert airflow_tasks.publish(1, "ann") is None
    assert _state(app, 1) == state


def test_a_decided_release_is_not_asked_about(app):
    _release(app, 1, "approved")
    assert airflow_tasks.prepare(1)["ask"] is False
    _release(app, 2, "declined")
    with pytest.raises(Conflict):
        airflow_tasks.prepare(2)
