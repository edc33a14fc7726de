"""What is in quarantine and why: rejections by code with their trend, and what people have withheld."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, func, select

from pipelines.layers import tried
from pipelines.report.queue import Name, names
from pipelines.report.scope import Scope
from pipelines.work import works
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App

DAY = 86400
DAYS = 14


@dataclass(frozen=True)
class Group:
    """One code: how many stand now, and how many came on each of the last days, oldest first."""

    code: str
    layer: str
    standing: int
    trend: tuple[int, ...]


@dataclass(frozen=True)
class Rejected:
    """One standing rejection. `version` None: the file was never taken in."""

    document: str
    version: str | None
    name: Name
    source: str
    layer: str
    code: str
    reason: str
    at: float
    mine: bool
    fingerprint: str = ""
    """Of the layers that it went through, as they were then."""
    changed: bool = False
    """Whether the code or the settings of these layers have changed since: it may pass now."""


@dataclass(frozen=True)
class Withheld:
    """A deny entry: hidden from every reader at every release."""

    kind: str
    subject: str
    document: str | None
    name: Name | None
    actor: str
    reason: str
    at: float


def groups(tx: Connection, scope: Scope, now: float, source: str = "") -> tuple[Group, ...]:
    """Most standing first; a code that only came up in the last days is listed too."""
    x = tables.rejection
    mine = (x.c.kb == scope.kb) & x.c.source.in_([source] if source in scope.sources else scope.sources)
    recent = (x.c.at > now - DAYS * DAY) | x.c.standing
    counted: Counter[tuple[str, str]] = Counter()
    trend: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0] * DAYS)
    for code, layer, at, standing in tx.execute(select(x.c.code, x.c.layer, x.c.at, x.c.standing).where(mine, recent)):
        counted[code, layer] += bool(standing)
        day = DAYS - 1 - int((now - at) // DAY)
        if 0 <= day < DAYS:
            trend[code, layer][day] += 1
    found = counted.keys() | trend.keys()
    lines = [Group(code, layer, counted[code, layer], tuple(trend[code, layer])) for code, layer in found]
    return tuple(sorted(lines, key=lambda one: (-one.standing, one.code)))


def rejected(
    tx: Connection, scope: Scope, code: str, source: str, limit: int, start: int = 0
) -> tuple[int, tuple[Rejected, ...]]:
    """(how many, this page), newest first."""
    x, v = tables.rejection, tables.version
    where = (x.c.kb == scope.kb) & x.c.standing & x.c.source.in_([source] if source in scope.sources else scope.sources)
    if code:
        where &= x.c.code == code
    total = tx.execute(select(func.count()).select_from(x).where(where)).scalar_one()
    query = select(x, v.c.id.label("version")).outerjoin(v, v.c.id == x.c.subject).where(where)
    rows = tx.execute(query.order_by(x.c.id.desc()).limit(limit).offset(start)).all()
    known = names(tx, [row.document for row in rows])
    return total, tuple(_rejected(row, known, scope) for row in rows)


def _rejected(row: Any, known: dict[str, Name], scope: Scope) -> Rejected:
    return Rejected(
        document=row.document,
        version=row.version,
        name=known.get(row.document) or Name(row.uri, row.uri),
        source=row.source,
        layer=row.layer,
        code=row.code,
        reason=row.reason,
        at=row.at,
        mine=row.source in scope.reviews,
        fingerprint=row.fingerprint,
    )


def compared(app: "App", found: Sequence[Rejected]) -> tuple[Rejected, ...]:
    """The same, each with whether its layers have changed since. No transaction may be open around it."""
    layers = {one.version: one for one in found if one.version and one.fingerprint}
    now = {work.version: tried(app, work, layers[work.version].layer) for work in works(app, list(layers))}
    return tuple(
        replace(one, changed=bool(one.fingerprint) and now.get(str(one.version), one.fingerprint) != one.fingerprint)
        for one in found
    )


def withheld(tx: Connection, scope: Scope, limit: int = 200) -> tuple[Withheld, ...]:
    """What people took from readers, as far as it belongs to documents in scope."""
    t = tables.deny
    rows = tx.execute(select(t).where(t.c.kb == scope.kb).order_by(t.c.at.desc()).limit(limit)).all()
    homes = _homes(tx, scope, rows)
    known = names(tx, {home for home in homes.values() if home})
    return tuple(
        Withheld(
            kind=row.kind,
            subject=row.subject,
            document=homes[row.kind, row.subject] or None,
            name=known.get(homes[row.kind, row.subject]),
            actor=row.actor,
            reason=row.reason,
            at=row.at,
        )
        for row in rows
        if (row.kind, row.subject) in homes
    )


def _homes(tx: Connection, scope: Scope, rows: Any) -> dict[tuple[str, str], str]:
    """The document of each entry in scope; nothing for a source, which is named by itself."""
    d, v, vc = tables.document, tables.version, tables.version_chunk
    subjects = {kind: [row.subject for row in rows if row.kind == kind] for kind in ("document", "version", "chunk")}
    found = {("source", row.subject): "" for row in rows if row.kind == "source" and row.subject in scope.sources}
    mine = scope.covers(d)
    for one in tx.execute(select(d.c.id).where(d.c.id.in_(subjects["document"]), mine)).scalars():
        found["document", one] = one
    joined = select(v.c.id, v.c.document).join(d, d.c.id == v.c.document)
    for version, document in tx.execute(joined.where(v.c.id.in_(subjects["version"]), mine)):
        found["version", version] = document
    chunks = select(vc.c.chunk, v.c.document).join(v, v.c.id == vc.c.version).join(d, d.c.id == v.c.document)
    for chunk, document in tx.execute(chunks.where(vc.c.chunk.in_(subjects["chunk"]), mine)):
        found["chunk", chunk] = document
    return found
