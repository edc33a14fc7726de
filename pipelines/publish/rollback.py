"""Go back to an earlier release: move the number. The next publish closes and opens what that implies (`rows.py`)."""

import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from sqlalchemy import select, update

from pipelines import lifecycle
from pipelines.errors import Code, Conflict
from pipelines.layers import load
from pipelines.library import check_readable
from pipelines.publish.publish import Published, publish, recover, settle_versions
from pipelines.publish.rows import live_release, visible_versions
from schemas.chunk import Parsed
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
    """One document goes back to one of its versions, with the files that this held, as a release of its own, from
    stored vectors.

    Raises Conflict (UNKNOWN_SUBJECT) when the document has no such version that was ever staged.
    """
    with app.database.read() as tx:
        inside = _inside(tx, app, document, version)
    with app.database.write() as tx:
        number = _restoring_release(tx, app, document, version, inside, reason)
    app.checkpoint("rollback.approved")
    return publish(app, number, reason)


def _inside(tx: Any, app: "App", document: str, version: str) -> dict[str, str | None]:
    """What each file in a document goes back to with it: its version of that content; None where there was none."""
    d, v = tables.document, tables.version
    key = (tx.execute(select(v.c.artifacts).where(v.c.id == version)).scalar() or {}).get("parse")
    now = set(tx.execute(select(d.c.id).where(d.c.parent == document)).scalars())
    if not now or not key or not app.artifacts.exists(key):
        return {}
    held = {one.key.rpartition("/")[2] for one in load(app, key, Parsed).document.attachments}
    wanted: dict[str, str | None] = dict.fromkeys(sorted(now))
    states = ("published", "superseded", "removed", "staged")
    query = select(v.c.document, v.c.id, v.c.sha256).where(v.c.document.in_(now), v.c.state.in_(states))
    wanted |= {row.document: row.id for row in tx.execute(query.order_by(v.c.number)) if row.sha256 in held}
    deeper = [_inside(tx, app, one, to) for one, to in wanted.items() if to]
    return wanted | {one: to for part in deeper for one, to in part.items()}


def _restoring_release(
    tx: Any, app: "App", document: str, version: str, inside: dict[str, str | None], reason: str
) -> int:
    v, kb = tables.version, tables.knowledge_base
    row = tx.execute(select(v.c.state, v.c.artifacts).where(v.c.id == version, v.c.document == document)).first()
    if row is None or row.state not in ("superseded", "removed", "staged") or not row.artifacts:
        found = (
            "no such version of it" if row is None else f"that version is {row.state if row.artifacts else 'vacuumed'}"
        )
        raise Conflict(Code.UNKNOWN_SUBJECT, f"document {document} cannot go back: {found}")
    seen = visible_versions(tx, app.kb, documents=[document, *inside])
    number = tx.execute(select(kb.c.last_release).where(kb.c.name == app.kb).with_for_update()).scalar_one() + 1
    tx.execute(update(kb).where(kb.c.name == app.kb).values(last_release=number))
    common = {"kb": app.kb, "release": number, "risk": [], "decision": "approved"}
    items = [
        {**common, "document": one, "version": to, "previous": seen.get(one), "change": "restore" if to else "remove"}
        for one, to in [(document, version), *inside.items()]
        if one == document or seen.get(one) != to
    ]
    release = {"kb": app.kb, "number": number, "state": "building", "kind": "rollback", "base": 0, "hygiene": True}
    release |= {
        "created": app.clock(),
        "created_by": app.actor,
        "counts": dict(Counter(one["change"] for one in items)),
    }
    tx.execute(tables.release.insert().values(**release))
    tx.execute(tables.release_item.insert(), items)
    back = [one for one, to in inside.items() if to]
    tx.execute(update(tables.document).where(tables.document.c.id.in_(back)).values(present=True))
    for before, after in (("building", "in_review"), ("in_review", "approved")):
        lifecycle.move_release(tx, app.kb, number, before, after, app.actor, reason)
    return int(number)
