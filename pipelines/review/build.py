"""Turn what is staged and what is gone into one release in review. At most one release of a kb is open at a time:
a new sync folds an undecided one into its successor, with the decisions that were already taken."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select, update

from pipelines import lifecycle
from pipelines.app import App
from pipelines.conflict import detect as conflicts
from pipelines.layers import load
from pipelines.publish import vectors
from pipelines.publish.rows import visible_versions
from pipelines.review.delta import ChunkDelta, chunk_delta
from pipelines.review.risk import risks
from schemas.chunk import Masked
from sql import tables

OPEN_STATES = ("in_review", "approved", "failed")


@dataclass(frozen=True)
class Item:
    """One change of a release."""

    document: str
    version: str | None
    previous: str | None
    change: str


@dataclass(frozen=True)
class Built:
    """What building made: `number` is None when there is nothing to review."""

    number: int | None
    chunks: ChunkDelta
    embedded: int


def build(app: App, kind: str = "sync") -> Built:
    """Idempotent: with nothing new, the open release (if any) is returned as it is."""
    with app.database.read() as tx:
        items = _items(tx, app)
        standing = _open(tx, app.kb)
        # A release that was overtaken by a later publication can never go live: its changes need a new number.
        standing = standing if standing and standing > _newest_published(tx, app.kb) else None
        before = _stored(tx, app.kb, standing) if standing else set()
    if not items:
        return Built(number=None, chunks=ChunkDelta(), embedded=0)
    delta = chunk_delta(app, [(one.version, one.previous) for one in items])
    embedded = vectors.ensure(app, _masked(app, items))
    app.checkpoint("build.embedded")
    if standing and before == {(one.document, one.version) for one in items}:
        return Built(number=standing, chunks=delta, embedded=embedded)
    found = conflicts.detect(app, {one.document: one.version for one in items})
    with app.database.write() as tx:
        conflicts.store(tx, app, found)
        number = _create(tx, app, kind, items, standing, delta)
    app.checkpoint("build.in_review")
    return Built(number=number, chunks=delta, embedded=embedded)


def _items(tx: Connection, app: App) -> list[Item]:
    """Newest staged version of each document against what readers see, and what has vanished at its source."""
    v, d = tables.version, tables.document
    live = visible_versions(tx, app.kb)
    newest: dict[str, str] = {}
    staged = select(v.c.id, v.c.document).where(v.c.kb == app.kb, v.c.state == "staged").order_by(v.c.number)
    for version, document in tx.execute(staged):
        newest[document] = version
    items = [
        Item(document, version, live.get(document), "replace" if document in live else "add")
        for document, version in sorted(newest.items())
    ]
    gone = select(d.c.id).where(d.c.kb == app.kb, d.c.present.is_(False))
    kept = _decided_to_keep(tx, app.kb)
    for document in sorted(tx.execute(gone).scalars()):
        if document in live and document not in newest and document not in kept:
            items.append(Item(document, None, live[document], "remove"))
    return items


def _decided_to_keep(tx: Connection, kb: str) -> set[str]:
    table = tables.decision
    query = select(table.c.subject).where(table.c.kb == kb, table.c.kind == "document", table.c.verdict == "keep")
    return set(tx.execute(query).scalars())


def _open(tx: Connection, kb: str) -> int | None:
    table = tables.release
    return tx.execute(select(func.max(table.c.number)).where(table.c.kb == kb, table.c.state.in_(OPEN_STATES))).scalar()


def _newest_published(tx: Connection, kb: str) -> int:
    table = tables.release
    newest = select(func.max(table.c.number)).where(table.c.kb == kb, table.c.published.is_not(None))
    return tx.execute(newest).scalar() or 0


def _stored(tx: Connection, kb: str, number: int) -> set[tuple[str, str | None]]:
    table = tables.release_item
    rows = tx.execute(select(table.c.document, table.c.version).where(table.c.kb == kb, table.c.release == number))
    return {(row.document, row.version) for row in rows}


def _masked(app: App, items: Sequence[Item]) -> Any:
    versions = [one.version for one in items if one.version]
    for start in range(0, len(versions), 100):
        with app.database.read() as tx:
            where = tables.version.c.id.in_(versions[start : start + 100])
            keys = [row["mask"] for row in tx.execute(select(tables.version.c.artifacts).where(where)).scalars()]
        for key in keys:
            yield from load(app, key, Masked).chunks


def _create(tx: Connection, app: App, kind: str, items: Sequence[Item], standing: int | None, delta: ChunkDelta) -> int:
    kb = tables.knowledge_base
    decided = _decisions(tx, app.kb, standing)
    number = tx.execute(select(kb.c.last_release).where(kb.c.name == app.kb).with_for_update()).scalar_one() + 1
    tx.execute(update(kb).where(kb.c.name == app.kb).values(last_release=number))
    for old in tx.execute(_unfinished(app.kb)).scalars().all():
        reason = f"its changes are part of release {number}"
        lifecycle.move_release(tx, app.kb, old, OPEN_STATES, "superseded", app.actor, reason)
    changes = [one.change for one in items]
    counts = {change: changes.count(change) for change in sorted(set(changes))} | delta.counts()
    tx.execute(
        tables.release.insert().values(
            kb=app.kb,
            number=number,
            state="building",
            kind=kind,
            base=0,
            created=app.clock(),
            created_by=app.actor,
            counts=counts,
            hygiene=True,
        )
    )
    rows = [
        {
            "kb": app.kb,
            "release": number,
            "document": one.document,
            "version": one.version,
            "previous": one.previous,
            "change": one.change,
            "risk": list(risks(tx, app.kb, one.document, one.version, one.previous)),
            "decision": decided.get((one.document, one.version), "pending"),
        }
        for one in items
    ]
    tx.execute(tables.release_item.insert(), rows)
    lifecycle.move_release(tx, app.kb, number, "building", "in_review", app.actor, kind, **counts)
    return int(number)


def _unfinished(kb: str) -> Any:
    table = tables.release
    return select(table.c.number).where(table.c.kb == kb, table.c.state.in_(OPEN_STATES))


def _decisions(tx: Connection, kb: str, number: int | None) -> dict[tuple[str, str | None], str]:
    if number is None:
        return {}
    table = tables.release_item
    rows = tx.execute(select(table).where(table.c.kb == kb, table.c.release == number, table.c.decision == "held"))
    return {(row.document, row.version): row.decision for row in rows}
