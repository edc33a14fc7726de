"""The whole road on the sample, in a real Airflow: sync, review, publish, ask, edit, publish by policy, roll back.

`python -m pipelines.demo`; the sample comes from `python -m tests.sample.make_sample .sluice/sample`. It works in a
home of its own, `.sluice/demo`, made anew on each run.
"""

import os
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import func, select

from pipelines import standalone
from pipelines.airflow_api import Airflow, Question, Run
from pipelines.app import App
from pipelines.errors import Code, SluiceError, Systemic
from sql import tables

HOME = Path(".sluice/demo")
SAMPLE = Path(".sluice/sample")
EDITED = SAMPLE / "wiki" / "数据库备份.md"
EDIT = ("35天", "90天")
QUESTIONS = ("遗失公司电脑要在多长时间内报告？", "数据库备份保留多少天？")
LOOK_SECONDS = 10.0
"""How long the reviewer looks at the question. Airflow may lose an answer within two seconds of it."""


def main() -> None:
    """Prints the story; exit 1 with the error's code when a step fails. Nothing is left running."""
    sources = SAMPLE / "sources.yaml"
    if not sources.exists():
        sys.exit(f"there is no {sources}: run `make sample` first")
    standalone.down(HOME)
    shutil.rmtree(HOME, ignore_errors=True)
    environment = {"SLUICE_HOME": str(HOME.resolve()), "SLUICE_SOURCES": str(sources.resolve())}
    os.environ.update(environment)
    original = EDITED.read_text(encoding="utf-8")
    try:
        _say("Starting Airflow; this takes a minute or two.")
        airflow = standalone.up(HOME, environment)
        _say(f"Airflow is at {airflow.url}; logins are in {HOME / 'airflow' / 'passwords.json'}.")
        _story(airflow, original)
    except SluiceError as error:
        sys.exit(f"{error.code.value}: {error.reason}")
    finally:
        from pipelines.wiring import stop_local_index

        EDITED.write_text(original, encoding="utf-8")
        standalone.down(HOME)
        stop_local_index(HOME)
        _say("Airflow and the index server are stopped.")


def _story(airflow: Airflow, original: str) -> None:
    from pipelines.wiring import wire

    for dag in ("kb_sync", "kb_release", "kb_rollback"):
        airflow.unpause(dag)
    first = _sync(airflow)
    app = wire(actor="demo")
    _tell_sync(app)
    first = _release(airflow, first)
    _tell_live(app)
    for question in QUESTIONS:
        _ask(app, question)

    _step(f"Edit {EDITED.name}: {EDIT[0]} becomes {EDIT[1]}. Sync again: only what changed is read.")
    EDITED.write_text(original.replace(*EDIT), encoding="utf-8")
    _release(airflow, _sync(airflow))
    _tell_live(app)
    _ask(app, QUESTIONS[1])

    _step(f"Roll back to release {first}")
    _finish(airflow, airflow.trigger("kb_rollback", {"release": first, "reason": "the edit was wrong"}))
    _tell_live(app)
    _ask(app, QUESTIONS[1])


def _sync(airflow: Airflow) -> int:
    """The number of the release that a sync builds."""
    _step("Sync: scan, then the layers in batches, then a release in review")
    from pipelines.migrate import migrate
    from pipelines.wiring import wire

    app = wire(actor="demo")
    migrate(app)
    with app.database.read() as tx:
        last = tx.execute(select(func.max(tables.release.c.number)).where(tables.release.c.kb == app.kb)).scalar()
    _finish(airflow, airflow.trigger("kb_sync"))
    # Not the highest number now: the release's own run may already have split it.
    return (last or 0) + 1


def _release(airflow: Airflow, number: int) -> int:
    """Follow the release's own run, which the sync has started; answer its question, if it has one. What the policies
    let through does not wait for the rest, which is asked about in a release of its own. Returns the last one's number.
    """
    _step(f"Release {number}")
    run = Run("kb_release", f"release-{number}")
    question = _question(airflow, run)
    if question is None:
        _say("The policies of its sources let these changes through: no person was asked.")
    else:
        _say(f"Airflow asks: {question.subject}\n{question.body}")
        time.sleep(LOOK_SECONDS)
        airflow.answer(question, ["Approve"], {"reason": "looked at every change"})
        _say(f"{airflow.user} answers: Approve.")
    _finish(airflow, run)
    from pipelines.wiring import wire

    app = wire(actor="demo")
    r = tables.release
    with app.database.read() as tx:
        waits = select(func.max(r.c.number)).where(r.c.kb == app.kb, r.c.state == "in_review", r.c.number > number)
        rest = tx.execute(waits).scalar()
    return _release(airflow, int(rest)) if rest else number


def _question(airflow: Airflow, run: Run, timeout: float = 600) -> Question | None:
    """What the run asks; None when it ends without a question."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if asked := airflow.pending(run.dag, run.id):
            return asked[0]
        if airflow.state(run) in ("success", "failed"):
            return None
        time.sleep(1)
    raise Systemic(Code.SYSTEMIC, f"{run.dag} neither asks nor ends")


def _finish(airflow: Airflow, run: Run) -> None:
    if airflow.wait(run) != "success":
        failed = [task for task, state in airflow.tasks(run).items() if state in ("failed", "upstream_failed")]
        raise Systemic(Code.SYSTEMIC, f"run {run.id} of {run.dag} failed in {', '.join(failed)}")


def _tell_sync(app: App) -> None:
    """What the layers did, from the database."""
    rejected, found, link = tables.rejection, tables.pii_finding, tables.duplicate_link
    with app.database.read() as tx:
        documents = tx.execute(select(func.count()).select_from(tables.document)).scalar_one()
        reasons = tx.execute(select(rejected.c.uri, rejected.c.code).where(rejected.c.standing)).all()
        masked = tx.execute(
            select(found.c.type, func.sum(found.c.count)).group_by(found.c.type).order_by(found.c.type)
        ).all()
        merged = tx.execute(select(link.c.outcome, func.count()).group_by(link.c.outcome)).all()
    _say(f"scanned   {documents} documents")
    for uri, code in reasons:
        _say(f"rejected  {uri}: {code}")
    _say("masked    " + (", ".join(f"{count} {kind}" for kind, count in masked) or "nothing"))
    _say("duplicate passages  " + (", ".join(f"{count} {outcome}" for outcome, count in merged) or "none"))


def _tell_live(app: App) -> None:
    from pipelines.report import views

    with app.database.read() as tx:
        status: Mapping[str, Any] = views.status(tx, app.kb)
    _say(f"live      release {status['live_release']}, {status['chunks']} passages")


def _ask(app: App, question: str) -> None:
    """As someone of the teams staff and engineering."""
    from pipelines import ask

    answer = ask.ask(app, question, ask.reader("reader", "staff,engineering"))
    _say(f"\nQ  {question}\nA  {answer['answer']}")
    for one in answer["citations"]:
        place = " > ".join([one["title"], *one["section"]])
        _say(f"   [{one['n']}] {place}" + (f", page {one['page']}" if one["page"] else ""))


def _step(text: str) -> None:
    _say(f"\n== {text}")


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
