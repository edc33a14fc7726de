"""Plain reads for the command line and the pages: one function, one public JSON object."""

from typing import Any

from sqlalchemy import Connection, func, select

from pipelines import lifecycle
from pipelines.errors import Code, Conflict
from pipelines.library import check_readable
from pipelines.publish.rows import live_release, visible_versions
from pipelines.review.edit import overlays
from schemas.index import FOREVER
from sql import tables


def status(tx: Connection, kb: str) -> dict[str, Any]:
    """Live release, documents by state, visible chunks, what waits."""
    v, c, r = tables.version, tables.chunk, tables.release
    live = live_release(tx, kb)
    states = select(v.c.state, func.count()).where(v.c.kb == kb).group_by(v.c.state)
    visible = select(func.count()).select_from(c).where(c.c.kb == kb, c.c.born <= live, c.c.died > live)
    waiting = select(r.c.number, r.c.state).where(r.c.kb == kb, r.c.state.in_(("in_review", "approved", "publishing")))
    unfinished = select(r.c.number).where(r.c.kb == kb, r.c.hygiene.is_(False))
    return {
        "schema": "sluice.status/1",
        "kb": kb,
        "live_release": live,
        "documents": dict(tx.execute(states).all()),
        "chunks": tx.execute(visible).scalar_one(),
        "waiting": [{"release": number, "state": state} for number, state in tx.execute(waiting)],
        "drift": {"unfinished": list(tx.execute(unfinished).scalars())},
    }


def releases(tx: Connection, kb: str) -> dict[str, Any]:
    r = tables.release
    rows = tx.execute(select(r).where(r.c.kb == kb).order_by(r.c.number.desc())).all()
    return {
        "schema": "sluice.releases/1",
        "releases": [
            {"release": row.number, "state": row.state, "created": row.created, "counts": row.counts, "kind": row.kind}
            for row in rows
        ],
    }


def release(tx: Connection, kb: str, number: int) -> dict[str, Any]:
    """One release with its items."""
    r, item, v, d = tables.release, tables.release_item, tables.version, tables.document
    row = tx.execute(select(r).where(r.c.kb == kb, r.c.number == number)).first()
    if row is None:
        raise Conflict(Code.RELEASE_UNKNOWN, f"there is no release {number}")
    query = (
        select(item, v.c.title, d.c.source)
        .join(d, d.c.id == item.c.document)
        .outerjoin(v, v.c.id == func.coalesce(item.c.version, item.c.previous))
        .where(item.c.kb == kb, item.c.release == number)
        .order_by(item.c.document)
    )
    return {
        "schema": "sluice.release/1",
        "release": number,
        "state": row.state,
        "counts": row.counts,
        "gate": row.gate,
        "items": [
            {
                "document": one.document,
                "title": one.title,
                "source": one.source,
                "version": one.version,
                "change": one.change,
                "risk": one.risk,
                "decision": one.decision,
            }
            for one in tx.execute(query)
        ],
    }


def log(tx: Connection, kb: str, limit: int = 50) -> dict[str, Any]:
    """What moved the live release, newest first."""
    a = tables.audit
    moves = ("release.live", "kb.rollback", "release.reverted", "release.failed", "release.declined")
    rows = tx.execute(
        select(a).where(a.c.kb == kb, a.c.action.in_(moves)).order_by(a.c.sequence.desc()).limit(limit)
    ).all()
    return {
        "schema": "sluice.log/1",
        "entries": [
            {"at": row.at, "action": row.action, "subject": row.subject, "actor": row.actor, "reason": row.reason}
            for row in rows
        ],
    }


def audit(tx: Connection, kb: str, verify: bool, limit: int = 100) -> dict[str, Any]:
    a = tables.audit
    rows = tx.execute(select(a).where(a.c.kb == kb).order_by(a.c.sequence.desc()).limit(limit)).mappings()
    entries = [{key: row[key] for key in row if key not in ("previous",)} for row in rows]
    result: dict[str, Any] = {"schema": "sluice.audit/1", "entries": entries, "verified": None}
    if verify:
        count, broken = lifecycle.verify_audit(tx)
        result |= {"verified": broken is None, "rows": count, "broken_at": broken}
    return result


def diff(tx: Connection, kb: str, left: int, right: int, document: str | None = None) -> dict[str, Any]:
    """Chunks that readers see at one release and not at the other; documents whose version differs."""
    for number in (left, right):
        check_readable(tx, kb, number)
    before, after = _chunks(tx, kb, left, document), _chunks(tx, kb, right, document)
    old, new = visible_versions(tx, kb, left), visible_versions(tx, kb, right)
    changed = [one for one in old.keys() & new.keys() if old[one] != new[one]]
    return {
        "schema": "sluice.diff/1",
        "from": left,
        "to": right,
        "added": [after[key] for key in after if key not in before],
        "removed": [before[key] for key in before if key not in after],
        "replaced": [
            {"document": one, "from": old[one], "to": new[one]}
            for one in sorted(changed)
            if document is None or one == document
        ],
    }


def _chunks(tx: Connection, kb: str, number: int, document: str | None) -> dict[tuple[str, str], dict[str, Any]]:
    c = tables.chunk
    query = select(c.c.chunk, c.c.content_hash, c.c.document, c.c.section, c.c.text)
    o = tables.overlay
    edited = {tuple(row) for row in tx.execute(select(o.c.chunk, o.c.text).where(o.c.kb == kb, o.c.kind == "edit"))}
    query = query.where(c.c.kb == kb, c.c.born <= number, c.c.died > number)
    if document:
        query = query.where(c.c.document == document)
    return {
        (row.chunk, row.content_hash): {
            "chunk": row.chunk,
            "document": row.document,
            "section": row.section,
            "text": row.text,
            "edited": (row.chunk, row.text) in edited,
        }
        for row in tx.execute(query.order_by(c.c.id))
    }


def show(tx: Connection, kb: str, subject: str) -> dict[str, Any]:
    """A document, version or chunk by its id."""
    d, v, c, x = tables.document, tables.version, tables.chunk, tables.rejection
    home = tx.execute(select(v.c.document).where(v.c.id == subject)).scalar()
    home = home or tx.execute(select(c.c.document).where(c.c.chunk == subject).limit(1)).scalar() or subject
    row = tx.execute(select(d).where(d.c.id == home, d.c.kb == kb)).mappings().first()
    if row is None:
        raise Conflict(Code.UNKNOWN_SUBJECT, f"there is no document, version or chunk {subject}")
    versions = tx.execute(select(v).where(v.c.document == home).order_by(v.c.number)).mappings()
    live = live_release(tx, kb)
    visible = (c.c.document == home) & (c.c.born <= live) & (c.c.died > live)
    if subject != home:
        visible &= (c.c.chunk == subject) | (c.c.version == subject)
    chunks = tx.execute(select(c).where(visible).order_by(c.c.id)).mappings()
    rejections = tx.execute(select(x).where(x.c.document == home).order_by(x.c.id)).mappings()
    keep = ("id", "number", "state", "layer", "title", "sha256", "created", "ingested_by", "parent")
    return {
        "schema": "sluice.show/1",
        "document": {key: row[key] for key in ("id", "source", "present", "size")},
        "versions": [{key: one[key] for key in keep} for one in versions],
        "chunks": [
            {key: one[key] for key in ("chunk", "section", "kind", "born", "text", "quality")}
            | {"died": None if one["died"] == FOREVER else one["died"]}
            for one in chunks
        ],
        "overlays": overlays(tx, kb, home),
        "rejections": [{key: one[key] for key in ("layer", "code", "reason", "at", "standing")} for one in rejections],
    }
