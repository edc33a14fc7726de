"""Turn what is staged and what is gone into one release in review. At most one release of a kb is open at a time:
a new sync folds an undecided one into its successor, with the decisions that were already taken."""

from collections.abc import Collection, Sequence
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
from pipelines.review.keep import kept
from pipelines.review.risk import big_deletions, risks
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
    _overtake(app)
    with app.database.read() as tx:
        items = _items(tx, app)
        standing = _open(tx, app.kb)
        # A release that was overtaken by a later publication can never go live: its changes need a new number.
        standing = standing if standing and standing > _newest_published(tx, app.kb) else None
        before = _stored(tx, app.kb, standing) if standing else set()
    if not items:
        if standing:
            _withdraw(app, standing)
        return Built(number=None, chunks=ChunkDelta(), embedded=0)
    delta = chunk_delta(app, [(one.version, one.previous) for one in items])
    embedded = vectors.ensure(app, _masked(app, items))
    app.checkpoint("build.embedded")
    if standing and before == {(one.document, one.version) for one in items}:
        return Built(number=standing, chunks=delta, embedded=embedded)
    found = conflicts.detect(app, {one.document: one.version for one in items})
    with app.database.write() as tx:
        conflicts.store(tx, app, found)
        number = _create(tx, app, kind, items, delta)
    app.checkpoint("build.in_review")
    if app.settings.report.at_build:
        from pipelines.report.quality import measure

        measure(app, number)
    return Built(number=number, chunks=delta, embedded=embedded)


def _overtake(app: App) -> None:
    """A staged version that is not the newest word on its document any more is not asked about."""
    with app.database.write() as tx:
        newest = _newest_staged(tx, app.kb)
        v = tables.version
        staged = select(v.c.id, v.c.document).where(v.c.kb == app.kb, v.c.state == "staged")
        for version, document in tx.execute(staged.order_by(v.c.document, v.c.number)).all():
            if newest.get(document) != version:
                lifecycle.move_version(tx, version, "staged", "superseded", app.actor, "overtaken before its review")


def _newest_staged(tx: Connection, kb: str) -> dict[str, str]:
    """Newest staged version by document, where it is of the content that the source has or that readers see."""
    v, d = tables.version, tables.document
    query = select(v.c.id, v.c.document, v.c.sha256, d.c.sha256.label("now"), d.c.present).join(
        d, d.c.id == v.c.document
    )
    rows = tx.execute(query.where(v.c.kb == kb, v.c.state == "staged").order_by(v.c.number)).all()
    live = visible_versions(tx, kb, documents={row.document for row in rows})
    rows = sorted(rows, key=lambda row: bool(row.sha256 == row.now))  # what the source has now comes last, and wins
    shown = _contents(tx, [live[row.document] for row in rows if row.document in live])
    return {
        row.document: row.id
        for row in rows
        if row.present and row.sha256 in (row.now, shown.get(live.get(row.document, "")))
    }


def _contents(tx: Connection, versions: Sequence[str]) -> dict[str, str]:
    v = tables.version
    found: dict[str, str] = {}
    for start in range(0, len(versions), 500):
        found.update(tx.execute(select(v.c.id, v.c.sha256).where(v.c.id.in_(versions[start : start + 500]))).all())
    return found


def _withdraw(app: App, number: int) -> None:
    """What the open release held has come to nothing; one that takes a single document back stands for itself."""
    r = tables.release
    with app.database.write() as tx:
        where = (r.c.kb == app.kb) & (r.c.number == number)
        if tx.execute(select(r.c.kind).where(where)).scalar_one() != "rollback":
            reason = "nothing is left of its changes"
            lifecycle.move_release(tx, app.kb, number, OPEN_STATES, "superseded", app.actor, reason)


def _items(tx: Connection, app: App) -> list[Item]:
    """Newest staged version of each document against what readers see, and what has vanished at its source."""
    d = tables.document
    gone = tx.execute(select(d.c.id).where(d.c.kb == app.kb, d.c.present.is_(False))).scalars().all()
    newest = _newest_staged(tx, app.kb)
    live = visible_versions(tx, app.kb, documents={*newest, *gone})
    leaving = _in_publication(tx, app.kb)
    items = [
        Item(document, version, live.get(document), "replace" if document in live else "add")
        for document, version in sorted(newest.items())
        if (document, version) not in leaving
    ]
    keeps = kept(tx, app.kb)
    for document in sorted(gone):
        if document in live and document not in keeps and (document, None) not in leaving:
            items.append(Item(document, None, live[document], "remove"))
    return items


def _in_publication(tx: Connection, kb: str) -> set[tuple[str, str | None]]:
    """Changes of a release that is on its way to readers: they need no review any more."""
    item, release = tables.release_item, tables.release
    query = (
        select(item.c.document, item.c.version)
        .join(release, (release.c.kb == item.c.kb) & (release.c.number == item.c.release))
        .where(item.c.kb == kb, item.c.decision == "approved", release.c.state == "publishing")
    )
    return {(row.document, row.version) for row in tx.execute(query)}


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


def _create(tx: Connection, app: App, kind: str, items: Sequence[Item], delta: ChunkDelta) -> int:
    kb = tables.knowledge_base
    decided = _decisions(tx, app.kb, items)
    mass = big_deletions(tx, app.kb, [one.document for one in items if one.version is None])
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
            "risk": sorted(_risks(tx, app, one, decided.get(one.document), mass)),
            "decision": "held" if decided.get(one.document) is True else "pending",
        }
        for one in items
    ]
    tx.execute(tables.release_item.insert(), rows)
    lifecycle.move_release(tx, app.kb, number, "building", "in_review", app.actor, kind, **counts)
    return int(number)


def _unfinished(kb: str) -> Any:
    table = tables.release
    return select(table.c.number).where(table.c.kb == kb, table.c.state.in_(OPEN_STATES))


def _risks(tx: Connection, app: App, one: Item, held: bool | None, mass: Collection[str]) -> set[str]:
    found = set(risks(tx, app.kb, one.document, one.version, one.previous))
    return found | ({"held"} if held is not None else set()) | ({"big_deletion"} if one.document in mass else set())


def _decisions(tx: Connection, kb: str, items: Sequence[Item]) -> dict[str, bool]:
    """Documents that a person holds: True where this very content was held, False where an earlier one was.

    A hold lasts over releases and over new editions of the same content, until someone lets the document through.
    """
    item, v = tables.release_item, tables.version
    query = (
        select(item.c.document, item.c.decision, item.c.version, v.c.sha256)
        .outerjoin(v, v.c.id == item.c.version)
        .where(item.c.kb == kb)
        .order_by(item.c.release)
    )
    last: dict[str, Any] = {}
    documents = [one.document for one in items]
    for start in range(0, len(documents), 500):
        part = item.c.document.in_(documents[start : start + 500])
        for row in tx.execute(query.where(part)):
            last[row.document] = row
    now = _contents(tx, [one.version for one in items if one.version])
    return {
        one.document: last[one.document].sha256 == (now[one.version] if one.version else None)
        for one in items
        if one.document in last and last[one.document].decision == "held"
    }
