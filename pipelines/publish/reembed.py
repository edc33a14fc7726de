"""Change the embedder: a second collection is filled from stored texts, then collection and embedder switch at once.

Nothing is parsed and no language model is asked. Queries and publications go on meanwhile; killed anywhere, the next
run goes on with what is missing. The old collection is kept as it is until a vacuum.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, func, select, update

from pipelines import lifecycle
from pipelines.errors import Code, Misconfigured, SluiceError
from pipelines.ports import Embedder
from pipelines.publish import vectors
from pipelines.publish.collections import Collection, add, collections
from pipelines.publish.index_rows import write_rows
from pipelines.publish.publish import recover
from pipelines.publish.rows import paged
from schemas.chunk import MaskedChunk
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App


@dataclass(frozen=True)
class Filled:
    """What one filling did: rows of the index written, rows taken out, texts embedded."""

    written: int = 0
    deleted: int = 0
    embedded: int = 0


def reembed(app: "App", wanted: str, reason: str) -> dict[str, Any]:
    """`wanted`: an embedder of the settings by its name, a bundled one, or '' for the one that the settings name first.

    Raises Misconfigured(BAD_SETTING), SluiceError(GATE_FAILED, RELEASE_READ_BACK), Conflict(LOCKED).
    """
    started = time.perf_counter()
    embedder = _named(app, wanted)
    filled, gate = [], None
    with app.database.lock(f"reembed-{app.kb}"):
        target = _begin(app, embedder, wanted, reason)
        if target is not None:
            filled.append(fill(app, target, alone=False))
            with app.database.lock(f"publish-{app.kb}", wait=True):
                recover(app)
                filled.append(fill(app, target, alone=True))  # what publications have changed meanwhile: little
                app.checkpoint("reembed.filled")
                gate = _gate(app, target)
                switch(app, target, reason, gate)
            app.checkpoint("reembed.switched")
    return {
        "schema": "sluice.reembed/1",
        "collection": target.name if target else None,
        "embedder": embedder.description.name,
        "rows": sum(one.written for one in filled),
        "calls": {"embed": sum(one.embedded for one in filled)},
        "gate": gate,
        "seconds": round(time.perf_counter() - started, 3),
    }


def _named(app: "App", wanted: str) -> Embedder:
    if not wanted:
        return app.embedder()
    make = app.embedders.get(wanted) or app.bundled.get(wanted)
    if make is None:
        known = ", ".join(sorted({*app.embedders, *app.bundled}))
        raise Misconfigured(Code.BAD_SETTING, f"there is no embedder {wanted!r}; known are {known}")
    return make()


def _begin(app: "App", embedder: Embedder, wanted: str, reason: str) -> Collection | None:
    """The collection to fill, a new one or one that was kept; None when this embedder is the live one already."""
    description, table = embedder.description, tables.index_collection
    setting = app.embedder().description.fingerprint
    with app.database.write() as tx:
        known = {one.name: one for one in collections(tx, app.kb)}
        live = next((one for one in known.values() if one.state == "live"), None)
        if live is None or live.embedder == description.fingerprint:
            return None
        # One filling at a time: another that was never finished is left to the vacuum.
        for one in known.values():
            if one.state == "filling" and one.embedder != description.fingerprint:
                _mark(tx, app, one.name, "kept")
        found = [one for one in known.values() if one.embedder == description.fingerprint]
        name = found[0].name if found else f"kb_{app.kb}__{description.fingerprint}"
        target = Collection(name, description.fingerprint, description.dimension, "filling")
        add(tx, app, target)
        where = (table.c.kb == app.kb) & (table.c.name == name)
        tx.execute(update(table).where(where).values(state="filling", named=wanted, setting=setting))
        if not (found and found[0].state == "filling"):
            lifecycle.record(tx, app.kb, app.actor, "reembed.begun", "kb", app.kb, reason, collection=name)
    return target


def fill(app: "App", target: Collection, *, alone: bool) -> Filled:
    """Bring a collection in line with SQL: what is missing or differs is written, what is too much goes.

    `alone`: nobody publishes meanwhile, so a strong read-back has to agree; else SluiceError(RELEASE_READ_BACK).
    """
    index = app.index()
    index.ensure(target.name, target.dimension)
    held = _held(app, target)
    written = embedded = 0
    seen: set[str] = set()
    for page in _pages(app):
        seen.update(row.id for row in page)
        todo = [row for row in page if held.get(row.id) != (row.born, row.died, row.acl)]
        embedded += vectors.ensure(app, map(_masked, todo), target.embedder)
        if todo:
            with app.database.lock(f"index-{app.kb}", wait=True):
                written += write_rows(app, target, todo)
        app.checkpoint("reembed.batch")
    orphans = sorted(held.keys() - seen)
    if orphans or written:
        with app.database.lock(f"index-{app.kb}", wait=True):
            index.delete(target.name, orphans)
            index.flush(target.name)
        lost = seen - _held(app, target).keys() if alone else set()
        if lost:
            raise SluiceError(Code.RELEASE_READ_BACK, f"{len(lost)} rows are not in {target.name}: {sorted(lost)[:3]}")
    return Filled(written, len(orphans), embedded)


def _held(app: "App", target: Collection) -> dict[str, tuple[int, int, int]]:
    return {one.id: (one.born, one.died, one.acl) for one in app.index().states(target.name)}


def _pages(app: "App") -> Iterator[Sequence[Any]]:
    """All rows with their documents' access sets, by id; a publication beside it may add some that this misses."""
    c, d = tables.chunk, tables.document
    query = select(c, d.c.acl).join(d, d.c.id == c.c.document).where(c.c.kb == app.kb)
    return paged(app, query, c.c.id)


def _masked(row: Any) -> MaskedChunk:
    """A row's text as it was masked and published."""
    stored = {"id": row.chunk, "ordinal": 0, "kind": row.kind, "text": row.text, "context": row.context}
    return MaskedChunk.model_validate({**stored, "content_hash": row.content_hash})


def _gate(app: "App", target: Collection) -> dict[str, Any]:
    """Counts agree, and the questions of sources.yaml are not answered worse; else SluiceError(GATE_FAILED)."""
    from pipelines.evaluate.evaluate import evaluate_collection

    with app.database.read() as tx:
        want = tx.execute(
            select(func.count()).select_from(tables.chunk).where(tables.chunk.c.kb == app.kb)
        ).scalar_one()
    have = sum(1 for _ in app.index().states(target.name))
    if want != have:
        raise SluiceError(Code.GATE_FAILED, f"{target.name} holds {have} rows, SQL {want}")
    report = evaluate_collection(app, target.name, target.embedder)
    if report and report["gate"]["verdict"] == "block":
        raise SluiceError(Code.GATE_FAILED, f"{target.name}: {'; '.join(report['gate']['reasons'][:5])}")
    compared = {key: report[key] for key in ("set", "metrics", "baseline", "interval")} if report else {}
    return {"verdict": report["gate"]["verdict"] if report else "pass", "rows": have, **compared}


def switch(app: "App", target: Collection, reason: str, gate: dict[str, Any] | None = None) -> None:
    """One transaction: readers take collection, embedder and release together. The old collection is kept."""
    kb = tables.knowledge_base
    with app.database.write() as tx:
        before = tx.execute(select(kb.c.collection).where(kb.c.name == app.kb)).scalar_one()
        _mark(tx, app, before, "kept")
        _mark(tx, app, target.name, "live")
        values = {"collection": target.name, "embedder": target.embedder}
        tx.execute(update(kb).where(kb.c.name == app.kb).values(**values))
        detail = {"before": before, "after": target.name, "gate": gate}
        lifecycle.record(tx, app.kb, app.actor, "kb.reembedded", "kb", app.kb, reason, **detail)


def _mark(tx: Connection, app: "App", name: str, state: str) -> None:
    table = tables.index_collection
    tx.execute(update(table).where(table.c.kb == app.kb, table.c.name == name).values(state=state))


def rebuild(app: "App", reason: str) -> str:
    """Copy the live collection into a fresh one and drop it: what was deleted leaves the server's files with it.

    The caller holds the locks of publishing and re-embedding. Returns the new name. Killed anywhere, done again.
    """
    with app.database.write() as tx:
        known = collections(tx, app.kb)
        live = next(one for one in known if one.state == "live")
        stem = f"kb_{app.kb}__{live.embedder}"
        names = {one.name for one in known}
        name = next(one for one in (stem, *(f"{stem}_{n}" for n in range(2, 1000))) if one not in names)
        half = [one for one in known if one.state == "filling" and one.embedder == live.embedder]
        target = half[0] if half else Collection(name, live.embedder, live.dimension, "filling")
        add(tx, app, target, *_adoption(tx, app, live.name))
    fill(app, target, alone=True)
    app.checkpoint("rebuild.filled")
    switch(app, target, reason)
    app.checkpoint("rebuild.switched")
    drop(app, [live])
    return target.name


def _adoption(tx: Connection, app: "App", name: str) -> tuple[str, str]:
    table = tables.index_collection
    row = tx.execute(select(table).where(table.c.kb == app.kb, table.c.name == name)).one()
    return row.named, row.setting


def drop(app: "App", unwanted: list[Collection]) -> None:
    """Collections that nobody reads go out of the index, then out of SQL."""
    table = tables.index_collection
    for one in unwanted:
        with app.database.lock(f"index-{app.kb}", wait=True):
            app.index().drop(one.name)
        app.checkpoint("collection.dropped")
        with app.database.write() as tx:
            tx.execute(table.delete().where(table.c.kb == app.kb, table.c.name == one.name))
