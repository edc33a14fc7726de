"""What people decide about a release: approve, hold, reject, decline. Each with actor and reason, in a transaction."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select, update

from pipelines import lifecycle
from pipelines.app import App
from pipelines.errors import Code, Conflict
from pipelines.review import policy
from pipelines.review.keep import note
from schemas.source import Source
from sql import tables


def approve(app: App, number: int, reason: str, documents: Sequence[str] = ()) -> bool:
    """Approve all that is not held, and the release with it; with `documents`, only these, held or not, and the release
    when nothing in it is undecided any more. False where the policy asks for more people than have approved so far.
    """
    with app.database.write() as tx:
        state = _state(tx, app.kb, number)
        if state not in ("in_review", "failed", "approved"):
            raise Conflict(Code.RELEASE_STATE, f"release {number} is {state}; only one in review can be approved")
        if not _enough(tx, app, number, reason, documents):
            return False
        pending = ("pending", "held") if documents else ("pending",)
        _decide(tx, app, number, pending, "approved", reason, documents)
        if state == "failed" or (state == "in_review" and not (documents and _any(tx, app.kb, number, "pending"))):
            lifecycle.move_release(tx, app.kb, number, state, "approved", app.actor, reason)
        return True


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


def _enough(tx: Connection, app: App, number: int, reason: str, documents: Sequence[str]) -> bool:
    """Whether with this one enough different people have approved. Raises Conflict(REVIEW_FOUR_EYES)."""
    if app.actor == policy.POLICY:
        return True
    asked = _asked(tx, app.kb, number, documents)
    if app.actor in policy.barred(tx, app.kb, number, asked):
        raise Conflict(Code.REVIEW_FOUR_EYES, f"{app.actor} had a hand in it; another person has to approve it")
    needed = max((source.review.approvers for source in asked.values()), default=1)
    if needed > 1:
        note(tx, app, "release", str(number), "approve", reason)
    return needed == 1 or len(policy.approvals(tx, app.kb, number)) >= needed


def _asked(tx: Connection, kb: str, number: int, documents: Sequence[str]) -> dict[str, Source]:
    """Source by document of the changes that an approval decides on: these, else what is pending; all, where nothing
    is pending any more (a failed release is approved once more)."""
    item, d, s = tables.release_item, tables.document, tables.source
    query = (
        select(item.c.document, item.c.decision, s.c.config)
        .join(d, item.c.document == d.c.id)
        .join(s, (d.c.kb == s.c.kb) & (d.c.source == s.c.name))
        .where(item.c.kb == kb, item.c.release == number)
    )
    rows = tx.execute(query).all()
    named = set(documents) or {row.document for row in rows if row.decision == "pending"}
    return {row.document: Source.model_validate(row.config) for row in rows if row.document in named or not named}


def approve_by_policy(app: App, number: int) -> tuple[bool, int | None]:
    """Let through what needs no person: (whether the release is approved, the release that the rest has left for).

    `app` acts as the policy. Where everything needs a person, nothing changes.
    """
    with app.database.read() as tx:
        items = policy.undecided(tx, app.kb, number)
    free = [one.document for one in items if policy.passes(one)]
    reason = "the review policies of their sources let these changes through"
    if not free:
        return False, None
    if len(free) == len(items):
        return approve(app, number, reason), None
    return approve_part(app, number, free, reason)


def approve_part(app: App, number: int, documents: Sequence[str], reason: str) -> tuple[bool, int | None]:
    """Approve these, and the release with them; what is left undecided goes into a release of its own, whose number is
    returned. Nothing of it (False) where the policy asks for more people than have approved so far."""
    with app.database.write() as tx:
        if not _enough(tx, app, number, reason, documents):
            return False, None
        _decide(tx, app, number, ("pending",), "approved", reason, documents)
        rest = policy.split(tx, app, number)
        lifecycle.move_release(tx, app.kb, number, "in_review", "approved", app.actor, reason)
    return True, rest
