"""The diary of runs: when a sync began and ended, what it met at its sources. Numbers and codes only."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import select, update

from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App


def start(app: "App", run: str, kind: str) -> None:
    """Doing it twice (a retried task) is harmless."""
    row = {"id": run, "kb": app.kb, "kind": kind, "actor": app.actor, "started": app.clock(), "report": {}}
    with app.database.write() as tx:
        tx.execute(tables.insert_ignore(tables.run), row)


def report(app: "App", run: str, sources: Sequence[dict[str, Any]]) -> None:
    """What the scan met: see `Scan.report`."""
    with app.database.write() as tx:
        tx.execute(update(tables.run).where(tables.run.c.id == run).values(report={"sources": list(sources)}))


def end(app: "App", run: str) -> None:
    with app.database.write() as tx:
        tx.execute(update(tables.run).where(tables.run.c.id == run).values(ended=app.clock()))


def troubles(app: "App", run: str) -> list[str]:
    """Sources that were missing or tripped their breaker in this run, as `source: code: reason`."""
    with app.database.read() as tx:
        found = tx.execute(select(tables.run.c.report).where(tables.run.c.id == run)).scalar() or {}
    told = []
    for one in found.get("sources", ()):
        if one["error"]:
            told.append(f"{one['source']}: {one['error']['code']}: {one['error']['reason']}")
        elif one["trip"]:
            told.append(f"{one['source']}: scan.breaker: {one['trip']['reason']}")
    return told
