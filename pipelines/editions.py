"""New rows of the version table. A version never changes what it says once it is staged: when its content comes back,
or is processed anew, that is another *edition* of it, staged beside the one that readers see."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, func, select, update

from pipelines import ids, lifecycle
from pipelines.app import App
from schemas.base import Record
from sql import tables


class Rerun(Record):
    """How an edition is made: layers before `layer` keep their artifacts; `token` makes the others work again although
    their fingerprints are known."""

    layer: str
    token: str = ""


def discover(tx: Connection, app: App, document: str, sha256: str, uri: str, run: str, why: str) -> str | None:
    """A version of content that the source has now; None where it is known and nothing is to be done.

    A version that a person declined or that a rollback took back stays in quarantine until it is requeued.
    """
    v = tables.version
    same = select(v).where(v.c.document == document, v.c.sha256 == sha256)
    held = tx.execute(same.order_by(v.c.number.desc()).limit(1)).first()
    if held is None:
        return _insert(tx, app, document, sha256, uri, run, why)
    if held.state in ("superseded", "removed"):
        return renew(tx, app, held, run, "the content has come back")
    return None


def leave(tx: Connection, app: App, documents: Sequence[str], reason: str) -> None:
    """Documents that are gone, and what was inside of them."""
    d = tables.document
    for document in documents:
        tx.execute(update(d).where(d.c.id == document).values(present=False, seen=app.clock()))
        lifecycle.record(tx, app.kb, app.actor, "document.gone", "document", document, reason)
        inside = select(d.c.id).where(d.c.parent == document, d.c.present.is_(True)).order_by(d.c.id)
        leave(tx, app, list(tx.execute(inside).scalars()), "its file is gone")


def renew(
    tx: Connection,
    app: App,
    old: Any,
    run: str,
    why: str,
    *,
    artifacts: Mapping[str, str] | None = None,
    rerun: Rerun | None = None,
) -> str:
    """Another edition of the version row `old`. A person's quarantine of the version holds for it as well."""
    values = {"artifacts": dict(artifacts or {}), "rerun": rerun.model_dump() if rerun else None}
    fresh = _insert(tx, app, old.document, old.sha256, old.uri, run, why, title=old.title, parent=old.id, **values)
    deny = tables.deny
    mine = (deny.c.kb == app.kb) & (deny.c.kind == "version") & (deny.c.subject == old.id)
    for row in tx.execute(select(deny).where(mine)).mappings().all():
        tx.execute(tables.insert_ignore(deny), {**row, "subject": fresh})
    return fresh


def _insert(tx: Connection, app: App, document: str, sha256: str, uri: str, run: str, why: str, **values: Any) -> str:
    v = tables.version
    mine = v.c.document == document
    newest = tx.execute(select(v.c.id, v.c.number).where(mine).order_by(v.c.number.desc()).limit(1)).first()
    edition = tx.execute(select(func.count()).select_from(v).where(mine, v.c.sha256 == sha256)).scalar_one()
    version = ids.version_id(document, sha256, edition)
    row: dict[str, Any] = {
        "id": version,
        "kb": app.kb,
        "document": document,
        "number": newest.number + 1 if newest else 1,
        "parent": newest.id if newest else None,
        "sha256": sha256,
        "uri": uri,
        "state": "discovered",
        "layer": "scan",
        "artifacts": {},
        "facts": {},
        "ingested_by": app.actor,
        "run": run,
        "created": app.clock(),
    }
    tx.execute(v.insert().values(**{**row, **values}))
    lifecycle.record(tx, app.kb, app.actor, "version.discovered", "version", version, why)
    return version


def again(tx: Connection, app: App, version: str, why: str) -> None:
    """A version in quarantine gets another try: itself where no release had it, else as another edition."""
    v = tables.version
    row = tx.execute(select(v).where(v.c.id == version)).one()
    item = tables.release_item
    if tx.execute(select(item.c.release).where(item.c.version == version).limit(1)).first() is None:
        lifecycle.move_version(tx, version, "quarantined", "discovered", app.actor, why)
        return
    lifecycle.move_version(tx, version, "quarantined", "superseded", app.actor, why)
    renew(tx, app, row, row.run, why)
