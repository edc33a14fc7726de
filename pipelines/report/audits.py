"""The audit: who did what, when, to what, and why."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Select, func, select

from sql import tables


@dataclass(frozen=True)
class Event:
    """One row of the chain."""

    sequence: int
    at: float
    actor: str
    action: str
    kind: str
    subject: str
    reason: str
    detail: Mapping[str, Any]
    hash: str


@dataclass(frozen=True)
class Wanted:
    """A filter; empty fields do not filter. Days are UTC, `until` is inclusive."""

    actor: str = ""
    action: str = ""
    kind: str = ""
    subject: str = ""
    since: str = ""
    until: str = ""


def events(tx: Connection, kb: str, wanted: Wanted, limit: int, before: int | None = None) -> tuple[Event, ...]:
    """Newest first. Raises ValueError for a day that is none."""
    a = tables.audit
    query = _filtered(kb, wanted).order_by(a.c.sequence.desc()).limit(limit)
    if before is not None:
        query = query.where(a.c.sequence < before)
    return tuple(_event(row) for row in tx.execute(query))


def all_events(tx: Connection, kb: str, wanted: Wanted) -> Iterator[Event]:
    """Oldest first, streamed."""
    for row in tx.execute(_filtered(kb, wanted).order_by(tables.audit.c.sequence)):
        yield _event(row)


def trail(tx: Connection, kb: str, kind: str, subject: str, limit: int = 50) -> tuple[Event, ...]:
    """What happened to one thing, newest first."""
    return events(tx, kb, Wanted(kind=kind, subject=subject), limit)


def actions(tx: Connection, kb: str) -> dict[str, int]:
    """How often each action stands in the audit."""
    a = tables.audit
    query = select(a.c.action, func.count()).where(a.c.kb == kb).group_by(a.c.action).order_by(a.c.action)
    return dict(tx.execute(query).all())


def _filtered(kb: str, wanted: Wanted) -> Select[Any]:
    a = tables.audit
    query = select(a).where(a.c.kb == kb)
    for column, value in (
        (a.c.actor, wanted.actor),
        (a.c.action, wanted.action),
        (a.c.kind, wanted.kind),
        (a.c.subject, wanted.subject),
    ):
        if value:
            query = query.where(column == value)
    if wanted.since:
        query = query.where(a.c.at >= _day(wanted.since))
    if wanted.until:
        query = query.where(a.c.at < _day(wanted.until) + 86400)
    return query


def _day(text: str) -> float:
    return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()


def _event(row: Any) -> Event:
    return Event(
        sequence=row.sequence,
        at=row.at,
        actor=row.actor,
        action=row.action,
        kind=row.kind,
        subject=row.subject,
        reason=row.reason,
        detail=json.loads(row.detail),
        hash=row.hash,
    )
