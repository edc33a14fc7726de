"""Conflicts as public JSON, for the command line and the pages."""

from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, func, select

from pipelines.app import App
from pipelines.conflict.decide import _row, side, suggested
from pipelines.conflict.detect import standing
from pipelines.errors import Conflict
from pipelines.layers import load
from schemas.chunk import Masked
from sql import tables


def conflicts(
    tx: Connection, kb: str, strategy: str | None = None, limit: int = 200, documents: Any = None, of: str = ""
) -> dict[str, Any]:
    """Those between active documents, undecided and gravest first. `documents`: only where both sides are among these
    (SQL); `of`: only where this document is one side."""
    c = tables.conflict
    where = (c.c.kb == kb) & standing()
    if documents is not None:
        where &= c.c.document_a.in_(documents) & c.c.document_b.in_(documents)
    if of:
        where &= (c.c.document_a == of) | (c.c.document_b == of)
    query = select(c).where(where)
    if strategy:
        query = query.where(c.c.strategy == strategy)
    rows = tx.execute(query.order_by(c.c.decided.is_not(None), c.c.score.desc(), c.c.id).limit(limit)).all()
    counts = select(c.c.strategy, func.count()).where(where).group_by(c.c.strategy)
    return {
        "schema": "sluice.conflicts/1",
        "counts": dict(tx.execute(counts).all()),
        "conflicts": [one for one in (_entry(tx, row) for row in rows) if one],
    }


def _entry(tx: Connection, row: Any) -> dict[str, Any] | None:
    try:
        a, b = side(tx, row.a, row.document_a), side(tx, row.b, row.document_b)
    except Conflict:
        return None  # one side was erased meanwhile
    return {
        "conflict": row.id,
        "strategy": row.strategy,
        "winner": row.winner,
        "score": row.score,
        "method": row.method,
        "kinds": row.evidence["kinds"],
        "a": asdict(a),
        "b": asdict(b),
        "differences": row.evidence["differences"],
        "reason": row.evidence["reason"],
        "suggested": suggested(a, b),
        "note": row.note,
        "actor": row.actor,
        "found": row.found,
        "decided": row.decided,
    }


def conflict(app: App, id_: str) -> dict[str, Any]:
    """One conflict with both texts. Raises Conflict(UNKNOWN_SUBJECT)."""
    with app.database.read() as tx:
        row = _row(tx, app.kb, id_)
        entry = _entry(tx, row) or {"conflict": row.id}
        keys = {chunk: _artifact(tx, chunk) for chunk in (row.a, row.b)}
    texts = {chunk: _text(app, key, chunk) for chunk, key in keys.items()}
    return {"schema": "sluice.conflict/1", **entry, "text_a": texts[row.a], "text_b": texts[row.b]}


def _artifact(tx: Connection, chunk: str) -> str | None:
    vc, v = tables.version_chunk, tables.version
    query = select(v.c.artifacts).join(vc, vc.c.version == v.c.id).where(vc.c.chunk == chunk)
    artifacts = tx.execute(query.order_by(v.c.number.desc()).limit(1)).scalar()
    return artifacts.get("mask") if artifacts else None


def _text(app: App, key: str | None, chunk: str) -> str:
    if key is None or not app.artifacts.exists(key):
        return ""
    return next((one.text for one in load(app, key, Masked).chunks if one.id == chunk), "")
