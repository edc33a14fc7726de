"""Compare SQL with what the index really holds, and mend the index: SQL is the authority."""

from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from pipelines import lifecycle
from pipelines.publish.collections import Collection, collections
from pipelines.publish.index_rows import write_rows
from pipelines.publish.publish import recover
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App


def reconcile(app: "App", *, repair: bool) -> dict[str, Any]:
    """Faults: missing, orphan, wrong_interval, wrong_acl, each with the row's id. Also finishes what a crash left."""
    with app.database.lock(f"publish-{app.kb}"):
        if repair:
            recover(app)
        with app.database.read() as tx:
            live = [one for one in collections(tx, app.kb) if one.state == "live"]
        if not live:
            return {"schema": "sluice.reconcile/1", "checked": 0, "faults": [], "repaired": 0}
        app.index().ensure(live[0].name, live[0].dimension)
        want = _expected(app)
        have = {one.id: one for one in app.index().states(live[0].name)}
        faults = _faults(want, have)
        repaired = _repair(app, live[0], want, faults) if repair and faults else 0
    return {"schema": "sluice.reconcile/1", "checked": len(want), "faults": faults, "repaired": repaired}


def _expected(app: "App") -> dict[str, Any]:
    c, d = tables.chunk, tables.document
    query = select(c, d.c.acl).join(d, d.c.id == c.c.document).where(c.c.kb == app.kb)
    with app.database.read() as tx:
        return {row.id: row for row in tx.execute(query)}


def _faults(want: dict[str, Any], have: dict[str, Any]) -> list[dict[str, str]]:
    faults = [{"kind": "missing", "subject": one} for one in sorted(want.keys() - have.keys())]
    faults += [{"kind": "orphan", "subject": one} for one in sorted(have.keys() - want.keys())]
    for id_ in sorted(want.keys() & have.keys()):
        if (want[id_].born, want[id_].died) != (have[id_].born, have[id_].died):
            faults.append({"kind": "wrong_interval", "subject": id_})
        elif want[id_].acl != have[id_].acl:
            faults.append({"kind": "wrong_acl", "subject": id_})
    return faults


def _repair(app: "App", collection: Collection, want: dict[str, Any], faults: list[dict[str, str]]) -> int:
    orphans = [one["subject"] for one in faults if one["kind"] == "orphan"]
    others = [want[one["subject"]] for one in faults if one["kind"] != "orphan"]
    with app.database.lock(f"index-{app.kb}", wait=True):
        if orphans:
            app.index().delete(collection.name, orphans)
        write_rows(app, collection, others)
        app.index().flush(collection.name)
    with app.database.write() as tx:
        kinds = sorted({one["kind"] for one in faults})
        lifecycle.record(tx, app.kb, app.actor, "reconcile", "kb", app.kb, "repair", faults=len(faults), kinds=kinds)
    return len(faults)
