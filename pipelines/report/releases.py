"""Releases as a list, and one of them with its numbers."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from pipelines.publish.rows import live_release
from pipelines.report.scope import Scope
from sql import tables


@dataclass(frozen=True)
class ReleaseLine:
    """One release. `counts` are of the whole release: numbers, no documents."""

    number: int
    state: str
    kind: str
    created: float
    created_by: str
    published: float | None
    counts: Mapping[str, int]
    gate: Mapping[str, Any] | None
    live: bool
    evaluation: Mapping[str, Any] | None = None
    quality: Mapping[str, Any] | None = None

    @property
    def can_return(self) -> bool:
        """Whether readers could go (back) to it."""
        return self.published is not None and not self.live


def release_lines(tx: Connection, scope: Scope, limit: int = 50, before: int | None = None) -> tuple[ReleaseLine, ...]:
    """Newest first."""
    r = tables.release
    query = select(r).where(r.c.kb == scope.kb).order_by(r.c.number.desc()).limit(limit)
    if before is not None:
        query = query.where(r.c.number < before)
    live = live_release(tx, scope.kb)
    rows = tx.execute(query).all()
    numbers = [row.number for row in rows]
    evaluated = _latest(tx, tables.eval_run, scope.kb, numbers)
    measured = _latest(tx, tables.quality_run, scope.kb, numbers)
    return tuple(_line(row, live, evaluated.get(row.number), measured.get(row.number)) for row in rows)


def release_line(tx: Connection, scope: Scope, number: int) -> ReleaseLine | None:
    found = release_lines(tx, scope, limit=1, before=number + 1)
    return found[0] if found and found[0].number == number else None


def _line(row: Any, live: int, evaluated: Any, measured: Any) -> ReleaseLine:
    return ReleaseLine(
        number=row.number,
        state=row.state,
        kind=row.kind,
        created=row.created,
        created_by=row.created_by,
        published=row.published,
        counts=row.counts or {},
        gate=row.gate,
        live=row.number == live,
        evaluation=evaluated,
        quality=measured,
    )


def _latest(tx: Connection, table: Any, kb: str, numbers: list[int]) -> dict[int, Any]:
    newest = (
        select(func.max(table.c.id)).where(table.c.kb == kb, table.c.release.in_(numbers)).group_by(table.c.release)
    )
    return dict(tx.execute(select(table.c.release, table.c.report).where(table.c.id.in_(newest))).all())


def hidden_items(tx: Connection, scope: Scope, number: int) -> int:
    """How many documents of a release are outside of the scope."""
    item, d = tables.release_item, tables.document
    mine = (item.c.kb == scope.kb) & (item.c.release == number)
    total = tx.execute(select(func.count()).select_from(item).where(mine)).scalar_one()
    seen = select(func.count()).select_from(item).join(d, d.c.id == item.c.document).where(mine, scope.covers(d))
    return int(total - tx.execute(seen).scalar_one())


def decisions(tx: Connection, scope: Scope, number: int) -> Counter[str]:
    """Items in scope by decision."""
    item, d = tables.release_item, tables.document
    query = (
        select(item.c.decision, func.count())
        .join(d, d.c.id == item.c.document)
        .where(item.c.kb == scope.kb, item.c.release == number, scope.covers(d))
        .group_by(item.c.decision)
    )
    return Counter(dict(tx.execute(query).all()))


@dataclass(frozen=True)
class Item:
    """One change of a release, named."""

    document: str
    source: str
    title: str
    uri: str
    change: str
    risks: tuple[str, ...]
    decision: str


def release_items(tx: Connection, scope: Scope, number: int, limit: int) -> tuple[Item, ...]:
    item, d, v = tables.release_item, tables.document, tables.version
    query = (
        select(item, d.c.source, v.c.title, v.c.uri)
        .join(d, d.c.id == item.c.document)
        .join(v, v.c.id == func.coalesce(item.c.version, item.c.previous))
        .where(item.c.kb == scope.kb, item.c.release == number, scope.covers(d))
        .order_by(d.c.source, v.c.title, item.c.document)
        .limit(limit)
    )
    return tuple(
        Item(row.document, row.source, row.title or row.uri, row.uri, row.change, tuple(row.risk), row.decision)
        for row in tx.execute(query)
    )
