"""Go back to an earlier release: move the number. The next publish closes and opens what that implies (`rows.py`)."""

import time
from typing import TYPE_CHECKING, Any

from sqlalchemy import select, update

from pipelines import lifecycle
from pipelines.errors import Code, Conflict
from pipelines.library import check_readable
from pipelines.publish.publish import Published, publish, recover, settle_versions
from pipelines.publish.rows import live_release, visible_versions
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App


def rollback(app: "App", number: int, reason: str) -> Published:
    """Readers are at `number` (0: the empty knowledge base) when this returns. No embedding, no index write."""
    started = time.perf_counter()
    with app.database.lock(f"publish-{app.kb}"):
        recover(app)
        with app.database.write() as tx:
            live = live_release(tx, app.kb)
            target = _target(tx, app.kb, number)
            if live != number:
                _move(tx, app, live, number, target, reason)
        app.checkpoint("rollback.moved")
        if live != number:
            _note_impact(app, live, reason)
    return Published(number, number, seconds=time.perf_counter() - started)


def _note_impact(app: "App", left: int, reason: str) -> None:
    """Who was answered with what the release that was left had brought: after the move, which must not wait for it."""
    from pipelines.review.quarantine import impact

    with app.database.write() as tx:
        used = impact(tx, app.kb, "release", str(left))
        counts = {"chunks": used.chunks, "queries": used.queries, "users": used.users}
        lifecycle.record(tx, app.kb, app.actor, "kb.rollback_impact", "release", str(left), reason, **counts)


def _target(tx: Any, kb: str, number: int) -> Any:
    table = tables.release
    row = tx.execute(select(table).where(table.c.kb == kb, table.c.number == number)).first()
    if number and row is None:
        raise Conflict(Code.RELEASE_UNKNOWN, f"there is no release {number}")
    if row is not None and row.published is None:
        raise Conflict(Code.RELEASE_STATE, f"release {number} was never live; it is {row.state}")
    check_readable(tx, kb, number)
    return row


def _move(tx: Any, app: "App", live: int, number: int, target: Any, reason: str) -> None:
    kb, table = tables.knowledge_base, tables.release
    where = (kb.c.name == app.kb) & (kb.c.live_release == live)
    if tx.execute(update(kb).where(where).values(live_release=number)).rowcount != 1:
        raise Conflict(Code.STATE_LOST_RACE, f"the live release is no longer {live}")
    undone = select(table.c.number, table.c.state).where(
        table.c.kb == app.kb, table.c.number > number, table.c.number <= live, table.c.published.is_not(None)
    )
    for row in tx.execute(undone.order_by(table.c.number.desc())).all():
        if row.state in ("live", "superseded"):
            lifecycle.move_release(tx, app.kb, row.number, row.state, "reverted", app.actor, reason, to=number)
    if number > live and live:
        lifecycle.move_release(tx, app.kb, live, "live", "superseded", app.actor, reason, to=number)
    if target is not None:
        lifecycle.move_release(tx, app.kb, number, ("superseded", "reverted"), "live", app.actor, reason, rollback=True)
    lifecycle.record(tx, app.kb, app.actor, "kb.rollback", "kb", app.kb, reason, before=live, after=number)
    settle_versions(tx, app, live, number, reason)


def rollback_document(app: "App", document: str, version: str, reason: str) -> Published:
    """One document goes back to one of its versions, as a release of its own, from stored vectors.

    Raises Conflict (UNKNOWN_SUBJECT) when the document has no such version that was ever staged.
    """
    with app.database.write() as tx:
        number = _restoring_release(tx, app, document, version, reason)
    app.checkpoint("rollback.approved")
    return publish(app, number, reason)


def _restoring_release(tx: Any, app: "App", document: str, version: str, reason: str) -> int:
    v, kb = tables.version, tables.knowledge_base
    row = tx.execute(select(v.c.state, v.c.artifacts).where(v.c.id == version, v.c.document == document)).first()
    if row is None or row.state not in ("superseded", "removed", "staged") or not row.artifacts:
        found = (
            "no such version of it" if row is None else f"that version is {row.state if row.artifacts else 'vacuumed'}"
        )
        raise Conflict(Code.UNKNOWN_SUBJECT, f"document {document} cannot go back: {found}")
    previous = visible_versions(tx, app.kb).get(document)
    number = tx.execute(select(kb.c.last_release).where(kb.c.name == app.kb).with_for_update()).scalar_one() + 1
    tx.execute(update(kb).where(kb.c.name == app.kb).values(last_release=number))
    release = {"kb": app.kb, "number": number, "state": "building", "kind": "rollback", "base": 0, "hygiene": True}
    release |= {"created": app.clock(), "created_by": app.actor, "counts": {"restore": 1}}
    tx.execute(tables.release.insert().values(**release))
    item = {"kb": app.kb, "release": number, "document": document, "version": version, "previous": previous}
    tx.execute(tables.release_item.insert().values(**item, change="restore", risk=[], decision="approved"))
    for before, after in (("building", "in_review"), ("in_review", "approved")):
        lifecycle.move_release(tx, app.kb, number, before, after, app.actor, reason)
    return int(number)
