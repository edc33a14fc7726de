"""What people decide about a release: approve, hold, reject, decline. Each with actor and reason, in a transaction."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select, update

from pipelines import lifecycle
from pipelines.app import App
from pipelines.errors import Code, Conflict
from pipelines.review.keep import note
from schemas.source import Source
from sql import tables


def approve(app: App, number: int, reason: str, documents: Sequence[str] = ()) -> None:
    """Approve all that is not held, and the release with it; with `documents`, only these, held or not, and the release
    when nothing in it is undecided any more."""
    with app.database.write() as tx:
        _check_four_eyes(tx, app, number)
        pending = ("pending", "held") if documents else ("pending",)
        _decide(tx, app, number, pending, "approved", reason, documents)
        state = _state(tx, app.kb, number)
        if state == "in_review":
            if not documents or not _any(tx, app.kb, number, "pending"):
                lifecycle.move_release(tx, app.kb, number, "in_review", "approved", app.actor, reason)
        elif state == "failed":
            lifecycle.move_release(tx, app.kb, number, "failed", "approved", app.actor, reason)
        elif state != "approved":
            raise Conflict(Code.RELEASE_STATE, f"release {number} is {state}; only one in review can be approved")


def hold(app: App, number: int, documents: Sequence[str], reason: str) -> None:
    """Keep these documents out of the release; later releases carry them as held until someone lets them through."""
    with app.database.write() as tx:
        state = _state(tx, app.kb, number)
        if state not in ("in_review", "approved", "failed"):
            raise Conflict(Code.RELEASE_STATE, f"release {number} is {state}; nothing can be held any more")
        _decide(tx, app, number, ("pending", "approved"), "held", reason, documents)


def decline(app: App, number: int, reason: str) -> None:
    """The whole release: its versions go into quarantine, its removals are remembered as not wanted."""
    item = tables.release_item
    with app.database.write() as tx:
        before = ("in_review", "approved", "failed")
        lifecycle.move_release(tx, app.kb, number, before, "declined", app.actor, reason)
        rows = tx.execute(select(item).where(item.c.kb == app.kb, item.c.release == number)).all()
        for row in rows:
            _turn_down(tx, app, row, reason)
        where = (item.c.kb == app.kb) & (item.c.release == number)
        tx.execute(update(item).where(where).values(decision="declined"))


def reject(app: App, number: int, documents: Sequence[str], reason: str) -> None:
    """Only these changes: what `decline` does to all."""
    item = tables.release_item
    with app.database.write() as tx:
        state = _state(tx, app.kb, number)
        if state not in ("in_review", "approved", "failed"):
            raise Conflict(Code.RELEASE_STATE, f"release {number} is {state}; nothing can be rejected any more")
        where = (item.c.kb == app.kb) & (item.c.release == number) & item.c.document.in_(documents)
        rows = tx.execute(select(item).where(where, item.c.decision != "declined")).all()
        _decide(tx, app, number, ("pending", "held", "approved"), "declined", reason, documents)
        for row in rows:
            _turn_down(tx, app, row, reason)


def _turn_down(tx: Connection, app: App, row: Any, reason: str) -> None:
    """A version goes into quarantine; a removal that nobody wants is remembered, so that the document stays."""
    if row.version is None:
        note(tx, app, "document", row.document, "keep", reason)
        return
    state = tx.execute(select(tables.version.c.state).where(tables.version.c.id == row.version)).scalar_one()
    if state == "staged":
        lifecycle.move_version(tx, row.version, "staged", "quarantined", app.actor, reason)
        reject_version(tx, app, row.version, "review", Code.REVIEW_DECLINED, reason)


def reject_version(tx: Connection, app: App, version: str, layer: str, code: Code, reason: str) -> None:
    """Store why a version is in quarantine."""
    v, d = tables.version, tables.document
    row = tx.execute(select(v.c.document, v.c.uri, d.c.source).join(d, d.c.id == v.c.document).where(v.c.id == version))
    document, uri, source = row.one()
    values = {"kb": app.kb, "subject": version, "document": document, "source": source, "uri": uri, "layer": layer}
    values |= {"code": code.value, "reason": reason, "at": app.clock(), "standing": True}
    tx.execute(tables.rejection.insert().values(**values))


def _decide(
    tx: Connection,
    app: App,
    number: int,
    before: tuple[str, ...],
    verdict: str,
    reason: str,
    documents: Sequence[str],
) -> None:
    item = tables.release_item
    where = (item.c.kb == app.kb) & (item.c.release == number)
    if documents:
        known = set(tx.execute(select(item.c.document).where(where)).scalars())
        if unknown := [one for one in documents if one not in known]:
            raise Conflict(Code.UNKNOWN_SUBJECT, f"release {number} has no document {unknown[0]}")
        where &= item.c.document.in_(documents)
    for document in tx.execute(select(item.c.document).where(where, item.c.decision.in_(before))).scalars().all():
        tx.execute(update(item).where(where, item.c.document == document).values(decision=verdict))
        note(tx, app, "item", f"{number}:{document}", verdict, reason)


def _state(tx: Connection, kb: str, number: int) -> str:
    table = tables.release
    state = tx.execute(select(table.c.state).where(table.c.kb == kb, table.c.number == number)).scalar()
    if state is None:
        raise Conflict(Code.RELEASE_UNKNOWN, f"there is no release {number}")
    return str(state)


def _any(tx: Connection, kb: str, number: int, decision: str) -> bool:
    item = tables.release_item
    where = (item.c.kb == kb) & (item.c.release == number) & (item.c.decision == decision)
    return tx.execute(select(item.c.document).where(where).limit(1)).first() is not None


def _check_four_eyes(tx: Connection, app: App, number: int) -> None:
    release = tables.release
    maker = tx.execute(select(release.c.created_by).where(release.c.kb == app.kb, release.c.number == number)).scalar()
    if maker == app.actor and any(one.review.four_eyes for one in sources_of(tx, app.kb, number)):
        raise Conflict(Code.REVIEW_FOUR_EYES, f"{app.actor} started this sync; another person has to approve it")


def sources_of(tx: Connection, kb: str, number: int) -> list[Source]:
    """The sources that a release changes."""
    item, d, s = tables.release_item, tables.document, tables.source
    query = (
        select(s.c.config)
        .join(d, (d.c.kb == s.c.kb) & (d.c.source == s.c.name))
        .join(item, item.c.document == d.c.id)
        .where(item.c.kb == kb, item.c.release == number)
    )
    found: dict[str, Any] = {config["name"]: config for config in tx.execute(query).scalars()}
    return [Source.model_validate(found[name]) for name in sorted(found)]


def approve_by_policy(app: App, number: int) -> bool:
    """Approve what the policies let through; True when the whole release is approved and no person is needed."""
    item, d, s = tables.release_item, tables.document, tables.source
    query = (
        select(item.c.document, item.c.risk, item.c.decision, s.c.config)
        .join(d, d.c.id == item.c.document)
        .join(s, (s.c.kb == d.c.kb) & (s.c.name == d.c.source))
        .where(item.c.kb == app.kb, item.c.release == number)
    )
    with app.database.read() as tx:
        rows = tx.execute(query).all()
    for row in rows:
        source = Source.model_validate(row.config)
        personal = source.scope.startswith("user:")
        free = source.review.approver == "auto" and not set(row.risk) & set(source.review.hold_on)
        if not (personal or free):
            return False
    if rows:
        approve(app, number, "the review policies of its sources let every change through")
    return bool(rows)
