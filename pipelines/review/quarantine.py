"""Take something from readers at once, and give it back: one SQL write that every read obeys, at every release."""

from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, delete, func, select, update

from pipelines import lifecycle
from pipelines.app import App
from pipelines.editions import again
from pipelines.errors import Code, Conflict
from pipelines.inside import held_by
from sql import tables

Kind = Literal["document", "source", "version", "chunk"]


@dataclass(frozen=True)
class Impact:
    """What used the subject: rows that show it, logged questions that hit it, and the people who asked them."""

    chunks: int
    queries: int
    users: int


def rows_of(kb: str, kind: str, subject: str) -> Any:
    table = tables.chunk
    if kind == "release":
        opened = select(tables.release_row.c.row).where(
            tables.release_row.c.kb == kb,
            tables.release_row.c.release == int(subject),
            tables.release_row.c.operation.in_(("open", "close")),
        )
        return (table.c.kb == kb) & table.c.id.in_(opened)
    if kind == "document":
        return (table.c.kb == kb) & ((table.c.document == subject) | table.c.document.in_(held_by(subject)))
    column = {
        "source": table.c.source,
        "version": table.c.version,
        "chunk": table.c.chunk,
    }
    return (table.c.kb == kb) & (column[kind] == subject)


def impact(tx: Connection, kb: str, kind: str, subject: str, since: float = 0, until: float = 0) -> Impact:
    """From the query log, between two times (seconds since the epoch; `until` 0: to now)."""
    rows = rows_of(kb, kind, subject)
    chunks = tx.execute(select(func.count(tables.chunk.c.chunk.distinct())).where(rows)).scalar_one()
    hit, log = tables.query_hit, tables.query_log
    used = hit.c.chunk.in_(select(tables.chunk.c.chunk).where(rows))
    query = select(func.count(log.c.id.distinct()), func.count(log.c.user.distinct())).join(
        hit, hit.c.query == log.c.id
    )
    query = query.where(log.c.kb == kb, used, log.c.at >= since)
    queries, users = tx.execute(query.where(log.c.at < until) if until else query).one()
    return Impact(chunks=chunks, queries=queries, users=users)


def quarantine(app: App, kind: Kind, subject: str, reason: str) -> Impact:
    """Readers do not see it, nor what is inside of it, from the end of this call on. Doing it twice is harmless."""
    with app.database.write() as tx:
        check_known(tx, app.kb, kind, subject)
        found = impact(tx, app.kb, kind, subject)
        values = {"kb": app.kb, "kind": kind, "subject": subject, "actor": app.actor, "reason": reason}
        done = tx.execute(tables.insert_ignore(tables.deny), {**values, "at": app.clock()})
        if done.rowcount:
            detail = {"chunks": found.chunks, "queries": found.queries, "users": found.users}
            lifecycle.record(tx, app.kb, app.actor, "quarantine", kind, subject, reason, **detail)
    app.checkpoint("quarantine.denied")
    return found


def restore(app: App, kind: Kind, subject: str, reason: str) -> Impact:
    """The reverse of quarantine."""
    table = tables.deny
    with app.database.write() as tx:
        check_known(tx, app.kb, kind, subject)
        where = (table.c.kb == app.kb) & (table.c.kind == kind) & (table.c.subject == subject)
        if not tx.execute(delete(table).where(where)).rowcount:
            raise Conflict(Code.UNKNOWN_SUBJECT, f"{kind} {subject} is not in quarantine")
        lifecycle.record(tx, app.kb, app.actor, "restore", kind, subject, reason)
        return impact(tx, app.kb, kind, subject)


def requeue(app: App, kind: Kind, subject: str, reason: str) -> list[str]:
    """Rejected versions of the subject go through the layers again at the next sync. Returns their ids."""
    v, d = tables.version, tables.document
    column = {"version": v.c.id, "document": v.c.document, "source": d.c.source}
    if kind not in column:
        raise Conflict(Code.UNKNOWN_SUBJECT, f"a {kind} cannot be requeued; name a document, version or source")
    with app.database.write() as tx:
        check_known(tx, app.kb, kind, subject)
        query = select(v.c.id).join(d, d.c.id == v.c.document)
        where = (v.c.kb == app.kb) & (v.c.state == "quarantined") & (column[kind] == subject)
        versions = list(tx.execute(query.where(where).order_by(v.c.number)).scalars())
        for version in versions:
            again(tx, app, version, reason)
            rejected = tables.rejection.c.subject == version
            tx.execute(update(tables.rejection).where(rejected).values(standing=False))
    return versions


def check_known(tx: Connection, kb: str, kind: str, subject: str) -> None:
    """Raises Conflict(UNKNOWN_SUBJECT)."""
    known = {
        "document": select(tables.document.c.id).where(tables.document.c.id == subject),
        "version": select(tables.version.c.id).where(tables.version.c.id == subject),
        "source": select(tables.source.c.name).where(tables.source.c.kb == kb, tables.source.c.name == subject),
        "chunk": select(tables.version_chunk.c.chunk).where(tables.version_chunk.c.chunk == subject).limit(1),
        "release": select(tables.release.c.number).where(
            tables.release.c.kb == kb, tables.release.c.number == (int(subject) if subject.isdigit() else -1)
        ),
    }
    if tx.execute(known[kind]).first() is None:
        raise Conflict(Code.UNKNOWN_SUBJECT, f"there is no {kind} {subject}")
