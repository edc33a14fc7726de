"""What a reviewer sees of two linked chunks, and how the machine's verdict on them is overruled."""

from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import Connection, or_, select, update

from pipelines import lifecycle
from pipelines.errors import Code, Conflict
from pipelines.work import load
from schemas.chunk import Masked
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App

Decision = Literal["same", "different"]


def partners(app: "App", chunk: str) -> list[dict[str, Any]]:
    """The links of a chunk, with the verdict that stands."""
    table = tables.duplicate_link
    columns = (table.c.a, table.c.b, table.c.outcome, table.c.drop, table.c.spare, table.c.decided)
    with app.database.read() as tx:
        rows = tx.execute(select(*columns).where(or_(table.c.a == chunk, table.c.b == chunk)).order_by(*columns[:2]))
        return [dict(row) for row in rows.mappings()]


def pair(app: "App", one: str, other: str) -> dict[str, Any]:
    """Both masked texts with the spans that differ in them: `changes` of kind, a_start, a_end, b_start, b_end.

    Raises Conflict(UNKNOWN_SUBJECT).
    """
    from pipelines.dedup.align import difference, sentences

    a, b = sorted((one, other))
    with app.database.read() as tx:
        link = _link(tx, a, b)
        keys = {chunk: _masked_key(tx, chunk) for chunk in (a, b)}
    texts = {chunk: _text(app, key, chunk) for chunk, key in keys.items()}
    found = difference(texts[a], texts[b], sentences(texts[a]), sentences(texts[b]))
    return {
        "a": {"chunk": a, "text": texts[a]},
        "b": {"chunk": b, "text": texts[b]},
        "outcome": link.outcome,
        "drop": link.drop,
        "decided": link.decided,
        "changes": [change._asdict() for change in found.changes],
    }


def overrule(app: "App", one: str, other: str, decision: Decision, reason: str) -> None:
    """`different`: both are shown, whatever later syncs find; `same`: one goes. The next publication acts on it.

    Raises Conflict(UNKNOWN_SUBJECT).
    """
    a, b = sorted((one, other))
    table = tables.duplicate_link
    with app.database.write() as tx:
        _link(tx, a, b)
        where = (table.c.a == a) & (table.c.b == b)
        tx.execute(update(table).where(where).values(decided=decision, drop=decision == "same"))
        note = {"kb": app.kb, "kind": "duplicate", "subject": f"{a}{b}", "verdict": decision}
        tx.execute(tables.decision.insert().values(**note, actor=app.actor, reason=reason, at=app.clock()))
        lifecycle.record(tx, app.kb, app.actor, f"duplicate.{decision}", "duplicate", f"{a}:{b}", reason)
        v, vc = tables.version, tables.version_chunk
        homes = select(v.c.document).join(vc, vc.c.version == v.c.id).where(v.c.kb == app.kb, vc.c.chunk.in_((a, b)))
        rows = [{"kb": app.kb, "document": home} for home in sorted(set(tx.execute(homes).scalars()))]
        if rows:
            tx.execute(tables.insert_ignore(tables.unsettled), rows)


def _link(tx: Connection, a: str, b: str) -> Any:
    table = tables.duplicate_link
    row = tx.execute(select(table).where(table.c.a == a, table.c.b == b)).first()
    if row is None:
        raise Conflict(Code.UNKNOWN_SUBJECT, f"the chunks {a} and {b} are not linked")
    return row


def _masked_key(tx: Connection, chunk: str) -> str:
    v, vc = tables.version, tables.version_chunk
    query = (
        select(v.c.artifacts).join(vc, vc.c.version == v.c.id).where(vc.c.chunk == chunk).order_by(v.c.number.desc())
    )
    artifacts = tx.execute(query.order_by(v.c.number.desc()).limit(1)).scalar()
    if artifacts is None or "mask" not in artifacts:
        raise Conflict(Code.UNKNOWN_SUBJECT, f"no version holds the chunk {chunk}")
    return str(artifacts["mask"])


def _text(app: "App", key: str, chunk: str) -> str:
    return next(one.text for one in load(app, key, Masked).chunks if one.id == chunk)
