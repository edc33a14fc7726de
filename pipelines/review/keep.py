"""Documents whose removal was declined: they stay although their file is gone, until the file is back or a person
confirms the removal."""

from typing import TYPE_CHECKING

from sqlalchemy import Connection, func, select

from pipelines import lifecycle
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App


def kept(tx: Connection, kb: str) -> set[str]:
    """Documents whose newest decision says keep and was taken since they vanished: one that comes back and vanishes
    again is asked about again."""
    table, d = tables.decision, tables.document
    mine = (table.c.kb == kb) & (table.c.kind == "document") & table.c.verdict.in_(("keep", "remove"))
    newest = select(func.max(table.c.id)).where(mine).group_by(table.c.subject)
    query = (
        select(table.c.subject)
        .join(d, d.c.id == table.c.subject)
        .where(table.c.id.in_(newest), table.c.verdict == "keep", d.c.present.is_(False), table.c.at >= d.c.seen)
    )
    return set(tx.execute(query).scalars())


def note(tx: Connection, app: "App", kind: str, subject: str, verdict: str, reason: str) -> None:
    """Store a decision with its audit row."""
    values = {"kb": app.kb, "kind": kind, "subject": subject, "verdict": verdict, "actor": app.actor}
    tx.execute(tables.decision.insert().values(**values, reason=reason, at=app.clock()))
    lifecycle.record(tx, app.kb, app.actor, f"{kind}.{verdict}", kind, subject, reason)


def confirm_removal(app: "App", document: str, reason: str) -> None:
    """End a decision to keep: the next sync proposes the removal again."""
    with app.database.write() as tx:
        note(tx, app, "document", document, "remove", reason)
