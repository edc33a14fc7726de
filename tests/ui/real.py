"""A real Airflow with a small real knowledge base, for the tests in a browser."""

import json
import os
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import select

from pipelines import standalone
from pipelines.airflow_api import SETTLE_SECONDS, Airflow, Question, Run
from pipelines.app import App
from pipelines.errors import Transient
from pipelines.flow import sync
from pipelines.migrate import migrate
from pipelines.publish.publish import publish
from pipelines.review.decide import approve
from pipelines.wiring import wire
from sql import tables
from tests.sample.make_sample import travel_pdf

SOURCES = """
knowledge_base: main
sources:
  - {name: policies, location: policies, authority: L1, breaker: {share: 0.9}}
  - {name: wiki, location: wiki, scope: "team:staff", owner: reviewer, review: {approver: owner}}
"""
DAGS = ("kb_release", "kb_quarantine", "kb_rollback", "kb_forget")
PAGES = {
    "leave": ("Annual leave is twenty five days.", "Unused days expire in March."),
    "backup": ("Backups are kept for thirty days.", "They are made every night."),
    "canteen": ("Lunch is served from noon to two.", "There is a vegetarian dish every day."),
}


@dataclass(frozen=True)
class Site:
    """The running installation."""

    home: Path
    airflow: Airflow
    app: App

    def write(self, name: str, *paragraphs: str) -> None:
        parts = "\n".join(f"## Part {number}\n\n{text}\n" for number, text in enumerate(paragraphs, 1))
        (self.home / "policies" / f"{name}.md").write_text(f"# About {name}\n\n{parts}", encoding="utf-8")

    def sync(self) -> int:
        """As the nightly run does, without its overhead; returns the number of the release in review."""
        number = sync(self.app).built.number
        assert number is not None
        return number

    def release(self) -> int:
        number = self.sync()
        approve(replace(self.app, actor="boss"), number, "first look")
        publish(self.app, number)
        return number

    def asked(self, number: int) -> tuple[Run, Question]:
        """Start the release's run and wait for its question."""
        run = self.airflow.trigger("kb_release", {"release": number})
        return run, self.question(run)

    def question(self, run: Run) -> Question:
        """What the run asks, once an answer would be taken. A busy machine may not answer for a while."""
        end = time.monotonic() + 300
        while time.monotonic() < end:
            try:
                found = self.airflow.pending(run.dag, run.id)
            except Transient:
                found = []
            if found and time.time() > found[0].asked + SETTLE_SECONDS:
                return found[0]
            time.sleep(0.5)
        raise AssertionError(f"{run.id} asked nothing")

    def live(self) -> int:
        kb = tables.knowledge_base
        with self.app.database.read() as tx:
            return int(tx.execute(select(kb.c.live_release)).scalar_one())

    def document(self, name: str) -> str:
        d = tables.document
        with self.app.database.read() as tx:
            return str(tx.execute(select(d.c.id).where(d.c.uri.like(f"{name}%"))).scalar_one())

    def password(self, user: str) -> str:
        return str(json.loads((self.home / "home" / "airflow" / "passwords.json").read_text())[user])


@contextmanager
def site(folder: Path, dags: tuple[str, ...] = DAGS, sources: str = "") -> Iterator[Site]:
    """Release 1 is live when Airflow is up. Everything is stopped at the end."""
    from pipelines.adapters.milvus_local import stop_local_server

    home = folder / "home"
    home.mkdir(parents=True)
    os.environ |= {"SLUICE_HOME": str(home), "SLUICE_SOURCES": str(folder / "sources.yaml")}
    for part in ("policies", "wiki"):
        (folder / part).mkdir()
    (folder / "sources.yaml").write_text(SOURCES + sources, encoding="utf-8")
    (folder / "policies" / "travel.pdf").write_bytes(travel_pdf(2024))
    (folder / "wiki" / "wages.md").write_text("# Wages\n\nWages are paid on the last day of the month.\n")
    app = wire(actor="tester")
    migrate(app)
    try:
        # Airflow takes its time to start: the first release is made meanwhile.
        with ThreadPoolExecutor(1) as starting:
            up = starting.submit(standalone.up, home, _environment(folder, dags), timeout=600)
            made = Site(folder, Airflow("", "", ""), app)
            for name, paragraphs in PAGES.items():
                made.write(name, *paragraphs)
            made.release()
            made = replace(made, airflow=up.result())
        yield made
    finally:
        standalone.down(home)
        stop_local_server(home.resolve())
        app.database.dispose()
        shutil.rmtree(folder, ignore_errors=True)


def _environment(folder: Path, dags: tuple[str, ...]) -> dict[str, str]:
    """Only the DAGs that the tests run: parsing one takes four CPU seconds."""
    (folder / "dags").mkdir()
    for dag in dags:
        shutil.copy(standalone.ROOT / "dags" / f"{dag}.py", folder / "dags")
    return {
        "SLUICE_PAGES__TEAMS": json.dumps({"staff": ["reviewer"]}),
        "AIRFLOW__CORE__DAGS_FOLDER": str(folder / "dags"),
    }


def wait_for(what: str, check: Any, seconds: float = 240) -> None:
    """Until `check()` holds."""
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, f"{what} did not happen within {seconds:.0f} s"
        time.sleep(0.5)
