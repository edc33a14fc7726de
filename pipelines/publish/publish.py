"""Publish a release: write rows that nobody sees, verify them, then move one number.

approved --plan--> publishing --stage--> --verify--> --gate--> --switch (the only visible moment)--> live --hygiene-->
Killed anywhere, `recover` finishes it; every step may be done twice.
"""

import time
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, delete, select, update

from pipelines import lifecycle
from pipelines.errors import Code, Conflict, SluiceError
from pipelines.layers import load
from pipelines.publish import vectors
from pipelines.publish.collections import Collection, written
from pipelines.publish.index_rows import rows_of, verify, write_rows
from pipelines.publish.rows import AUTHORITY, RowPlan, Wanted, live_release, plan_rows
from schemas.chunk import Masked, MaskedChunk
from schemas.index import FOREVER
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App


@dataclass(frozen=True)
class Published:
    """Report of one publication."""

    release: int
    live_release: int
    embedded: int = 0
    gate: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


def publish(app: "App", number: int, reason: str = "") -> Published:
    """Raises Conflict (RELEASE_STATE, RELEASE_OUTDATED, LOCKED), SluiceError(GATE_FAILED, RELEASE_READ_BACK)."""
    started = time.perf_counter()
    with app.database.lock(f"publish-{app.kb}"):
        recover(app)
        with app.database.read() as tx:
            if _release(tx, app.kb, number).state == "live":
                return Published(number, live_release(tx, app.kb), seconds=time.perf_counter() - started)
        targets = written(app)
        embedded = _plan(app, number, reason, targets)
        app.checkpoint("publish.planned")
        gate = _finish(app, number, targets)
    return Published(number, number, embedded, gate, time.perf_counter() - started)


def recover(app: "App") -> list[int]:
    """Finish what a crash left. The caller holds the publish lock. Returns the releases that were finished."""
    table = tables.release
    with app.database.read() as tx:
        rows = tx.execute(
            select(table.c.number, table.c.state)
            .where(table.c.kb == app.kb, (table.c.state == "publishing") | (table.c.hygiene.is_(False)))
            .order_by(table.c.number)
        ).all()
    for row in rows:
        if row.state == "publishing":
            _finish(app, row.number, written(app))
        else:
            _hygiene(app, row.number, written(app))
    return [row.number for row in rows]


def _release(tx: Connection, kb: str, number: int) -> Any:
    table = tables.release
    row = tx.execute(select(table).where(table.c.kb == kb, table.c.number == number)).first()
    if row is None:
        raise Conflict(Code.RELEASE_UNKNOWN, f"there is no release {number}")
    return row


# --- plan --------------------------------------------------------------------------------------------------------


def _plan(app: "App", number: int, reason: str, targets: list[Collection]) -> int:
    """One transaction: approved -> publishing, with the rows to open (invisible, born = number) and to close."""
    with app.database.read() as tx:
        items, plan = _planned(tx, app, number)
    contents = _contents(app, plan.open)
    embedded = sum(vectors.ensure(app, contents.values(), one.embedder) for one in targets)
    with app.database.write() as tx:
        again = _planned(tx, app, number)
        if again != (items, plan):
            raise Conflict(Code.STATE_LOST_RACE, f"release {number} changed while it was planned; try again")
        live = live_release(tx, app.kb)
        lifecycle.move_release(tx, app.kb, number, "approved", "publishing", app.actor, reason, base=live)
        _write_plan(tx, app, number, live, plan, contents)
    return embedded


def _planned(tx: Connection, app: "App", number: int) -> tuple[dict[str, str | None], RowPlan]:
    row = _release(tx, app.kb, number)
    if row.state != "approved":
        raise Conflict(Code.RELEASE_STATE, f"release {number} is {row.state}; only an approved one can be published")
    newest = _newest_published(tx, app.kb)
    if number < newest:
        raise Conflict(Code.RELEASE_OUTDATED, f"release {newest} was published after {number} was built; sync again")
    item, version = tables.release_item, tables.version
    query = (
        select(item.c.document, item.c.version)
        .outerjoin(version, version.c.id == item.c.version)
        .where(
            item.c.kb == app.kb,
            item.c.release == number,
            item.c.decision == "approved",
            # Whatever was answered anywhere: a version that is in quarantine by now is not published.
            (item.c.version.is_(None)) | (version.c.state.in_(("staged", "superseded", "published", "removed"))),
        )
    )
    items = dict(tx.execute(query).all())
    if not items:
        raise Conflict(Code.RELEASE_EMPTY, f"release {number} has no approved change")
    return items, plan_rows(tx, app, live_release(tx, app.kb), items)


def _newest_published(tx: Connection, kb: str) -> int:
    table = tables.release
    query = select(table.c.number).where(table.c.kb == kb, table.c.published.is_not(None))
    return int(tx.execute(query.order_by(table.c.number.desc()).limit(1)).scalar() or 0)


def _contents(app: "App", wanted: tuple[Wanted, ...]) -> dict[str, MaskedChunk]:
    """The masked chunks of the rows to open, by chunk id."""
    versions = sorted({one.version for one in wanted})
    ids = {one.chunk for one in wanted}
    found: dict[str, MaskedChunk] = {}
    for version in versions:
        with app.database.read() as tx:
            where = tables.version.c.id == version
            key = tx.execute(select(tables.version.c.artifacts).where(where)).scalar_one()["mask"]
        found.update({one.id: one for one in load(app, key, Masked).chunks if one.id in ids})
    return found


def _write_plan(
    tx: Connection, app: "App", number: int, live: int, plan: RowPlan, contents: dict[str, MaskedChunk]
) -> None:
    release = tables.release
    where = (release.c.kb == app.kb) & (release.c.number == number)
    tx.execute(update(release).where(where).values(base=live))
    facts = _facts(tx, plan)
    rows = [_row(app.kb, number, one, contents[one.chunk], facts[one.version]) for one in plan.open]
    shown = [
        {"kb": app.kb, "document": document, "born": number, "died": FOREVER, "version": version}
        for document, version in plan.documents.items()
        if version
    ]
    listed = [{"operation": "open", "row": row["id"]} for row in rows]
    listed += [{"operation": "close", "row": row} for row in plan.close]
    listed += [{"operation": "document", "row": document} for document in plan.documents]
    for table, values in (
        (tables.chunk, rows),
        (tables.document_release, shown),
        (tables.release_row, [{"kb": app.kb, "release": number, **one} for one in listed]),
    ):
        if values:
            tx.execute(table.insert(), values)


def _facts(tx: Connection, plan: RowPlan) -> dict[str, Any]:
    v, d, s = tables.version, tables.document, tables.source
    query = (
        select(v.c.id, v.c.dated, v.c.language, d.c.source, s.c.config)
        .join(d, d.c.id == v.c.document)
        .join(s, (s.c.kb == d.c.kb) & (s.c.name == d.c.source))
    )
    found: dict[str, Any] = {}
    versions = sorted({one.version for one in plan.open})
    for start in range(0, len(versions), 500):
        found.update({row.id: row for row in tx.execute(query.where(v.c.id.in_(versions[start : start + 500])))})
    return found


def _row(kb: str, number: int, one: Wanted, content: MaskedChunk, facts: Any) -> dict[str, Any]:
    return {
        "id": f"{one.chunk}@{number}",
        "kb": kb,
        "chunk": one.chunk,
        "document": one.document,
        "version": one.version,
        "source": facts.source,
        "born": number,
        "died": FOREVER,
        "content_hash": one.content_hash,
        "kind": content.kind,
        "language": content.language,
        "authority": AUTHORITY[facts.config["authority"]],
        "dated": days(facts.dated),
        "section": list(content.section),
        "context": content.context,
        "text": content.text,
        "html": content.html,
        "parent": content.parent,
        "quality": one.quality,
    }


def days(dated: str | None) -> int:
    """Days since 1970-01-01 of an ISO date; 0 when there is none."""
    try:
        return (date.fromisoformat((dated or "")[:10]) - date(1970, 1, 1)).days
    except ValueError:
        return 0


# --- stage, verify, gate, switch, hygiene ------------------------------------------------------------------------


def _finish(app: "App", number: int, targets: list[Collection]) -> dict[str, Any]:
    from pipelines.publish.gate import run_gate

    try:
        for one in targets:
            with app.database.lock(f"index-{app.kb}", wait=True):
                write_rows(app, one, rows_of(app, number, "open"))
            app.checkpoint("publish.staged")
            verify(app, one, rows_of(app, number, "open"), f"release {number}")
        app.checkpoint("publish.verified")
        gate = run_gate(app, number, rows_of(app, number, "open"))
    except SluiceError as error:
        if error.code in (Code.RELEASE_READ_BACK, Code.GATE_FAILED):
            abort(app, number, targets, error)
        raise
    app.checkpoint("publish.gated")
    with app.database.write() as tx:
        _switch(tx, app, number, gate)
    app.checkpoint("publish.switched")
    _hygiene(app, number, targets)
    return gate


def _switch(tx: Connection, app: "App", number: int, gate: dict[str, Any]) -> None:
    """The one transaction that readers notice."""
    kb, release, row = tables.knowledge_base, tables.release, tables.chunk
    listed, shown = tables.release_row, tables.document_release
    mine = (listed.c.kb == app.kb) & (listed.c.release == number)
    base = _release(tx, app.kb, number).base
    moved = tx.execute(
        update(kb).where(kb.c.name == app.kb, kb.c.live_release == base).values(live_release=number)
    ).rowcount
    if moved != 1:
        raise Conflict(Code.STATE_LOST_RACE, f"the live release is no longer {base}")
    closed = select(listed.c.row).where(mine, listed.c.operation == "close").scalar_subquery()
    tx.execute(update(row).where(row.c.id.in_(closed)).values(died=number))
    documents = select(listed.c.row).where(mine, listed.c.operation == "document").scalar_subquery()
    tx.execute(
        update(shown)
        .where(shown.c.document.in_(documents), shown.c.died == FOREVER, shown.c.born < number)
        .values(died=number)
    )
    tx.execute(
        delete(tables.unsettled).where(tables.unsettled.c.kb == app.kb, tables.unsettled.c.document.in_(documents))
    )
    if base:
        before = tx.execute(
            select(release.c.state).where(release.c.kb == app.kb, release.c.number == base)
        ).scalar_one()
        if before == "live":
            lifecycle.move_release(tx, app.kb, base, "live", "superseded", app.actor, f"release {number} is live")
    lifecycle.move_release(tx, app.kb, number, "publishing", "live", app.actor, "published", gate=gate)
    where = (release.c.kb == app.kb) & (release.c.number == number)
    tx.execute(update(release).where(where).values(published=app.clock(), gate=gate, hygiene=False))
    settle_versions(tx, app, base, number, f"release {number} is live")


def settle_versions(tx: Connection, app: "App", before: int, after: int, reason: str) -> None:
    """Bring version states in line with what readers see after the number moved from `before` to `after`."""
    from pipelines.publish.rows import visible_versions

    old, new = visible_versions(tx, app.kb, before), visible_versions(tx, app.kb, after)
    forward = after > before
    states = tables.version.c
    for document in old.keys() | new.keys():
        left, right = old.get(document), new.get(document)
        if left == right:
            continue
        if right is not None:
            held = tx.execute(select(states.state).where(states.id == right)).scalar_one()
            if held != "published":
                lifecycle.move_version(tx, right, held, "published", app.actor, reason)
        if left is not None:
            held = tx.execute(select(states.state).where(states.id == left)).scalar_one()
            if held != "published":
                continue
            after_state = ("superseded" if right else "removed") if forward else "quarantined"
            lifecycle.move_version(tx, left, "published", after_state, app.actor, reason)


def _hygiene(app: "App", number: int, targets: list[Collection]) -> None:
    """Tell the index which rows are closed, so that it stops offering them. Readers never depend on it."""
    for one in targets:
        if one.state == "live":  # the filling of another compares all intervals before it switches
            with app.database.lock(f"index-{app.kb}", wait=True):
                write_rows(app, one, rows_of(app, number, "close"))
    app.checkpoint("hygiene.closed")
    where = (tables.release.c.kb == app.kb) & (tables.release.c.number == number)
    with app.database.write() as tx:
        tx.execute(update(tables.release).where(where).values(hygiene=True))


def abort(app: "App", number: int, targets: list[Collection], error: SluiceError) -> None:
    """Take back a publication that may not go live: out of the index by the ids that SQL knows, then out of SQL."""
    opened = [row.id for row in rows_of(app, number, "open")]
    with app.database.lock(f"index-{app.kb}", wait=True):
        for one in targets:
            app.index().delete(one.name, opened)
    listed, shown, row = tables.release_row, tables.document_release, tables.chunk
    with app.database.write() as tx:
        tx.execute(delete(row).where(row.c.kb == app.kb, row.c.born == number))
        tx.execute(delete(shown).where(shown.c.kb == app.kb, shown.c.born == number))
        tx.execute(delete(listed).where(listed.c.kb == app.kb, listed.c.release == number))
        lifecycle.move_release(tx, app.kb, number, "publishing", "failed", app.actor, str(error))
