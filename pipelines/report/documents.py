"""Documents: found by filter and words, and one with all that has happened to it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, func, or_, select

from pipelines.inside import holders
from pipelines.publish.rows import visible_versions
from pipelines.report.audits import Event, Wanted, events
from pipelines.report.scope import Scope
from schemas.source import Source
from sql import tables


@dataclass(frozen=True)
class Filter:
    """Empty fields do not filter. `text`: part of title or path; or an id, whole."""

    text: str = ""
    source: str = ""
    state: str = ""


@dataclass(frozen=True)
class Line:
    """One document in a list, as its newest version."""

    document: str
    source: str
    title: str
    uri: str
    state: str
    number: int
    created: float
    present: bool
    denied: bool


def lines(tx: Connection, scope: Scope, wanted: Filter, limit: int, start: int = 0) -> tuple[int, tuple[Line, ...]]:
    """(how many there are, this page of them), the newest change first."""
    query = _query(scope, wanted)
    total = tx.execute(select(func.count()).select_from(query.subquery())).scalar_one()
    v = tables.version
    rows = tx.execute(query.order_by(v.c.created.desc(), v.c.document).limit(limit).offset(start)).all()
    denied = _denied(tx, scope.kb, "document", [row.document for row in rows])
    return total, tuple(
        Line(
            **_common(row),
            document=row.document,
            source=row.source,
            present=row.present,
            denied=row.document in denied,
        )
        for row in rows
    )


def _common(row: Any) -> dict[str, Any]:
    """What a list shows of any version."""
    shown = {name: getattr(row, name) for name in ("uri", "state", "number", "created")}
    return shown | {"title": row.title or row.uri}


def _query(scope: Scope, wanted: Filter) -> Select[Any]:
    v, d = tables.version, tables.document
    newest = select(func.max(v.c.number)).where(v.c.document == d.c.id).correlate(d).scalar_subquery()
    query = (
        select(v.c.document, v.c.title, v.c.uri, v.c.state, v.c.number, v.c.created, d.c.source, d.c.present)
        .join(d, d.c.id == v.c.document)
        .where(scope.covers(d), v.c.number == newest)
    )
    if wanted.source:
        query = query.where(d.c.source == wanted.source)
    if wanted.state:
        query = query.where(v.c.state == wanted.state)
    if wanted.text:
        text = wanted.text.strip().lower()
        matches = [func.lower(column).contains(text, autoescape=True) for column in (v.c.title, v.c.uri)]
        chunk = tables.version_chunk
        holds = select(chunk.c.version).where(chunk.c.chunk == text)
        query = query.where(or_(*matches, d.c.id == text, v.c.id == text, v.c.id.in_(holds)))
    return query


def _denied(tx: Connection, kb: str, kind: str, subjects: list[str]) -> dict[str, Any]:
    t = tables.deny
    query = select(t).where(t.c.kb == kb, t.c.kind == kind, t.c.subject.in_(subjects))
    return {row.subject: row for row in tx.execute(query)}


@dataclass(frozen=True)
class VersionLine:
    """One version with where it came from and what made it."""

    id: str
    number: int
    state: str
    title: str
    uri: str
    sha256: str
    created: float
    ingested_by: str
    run: str
    live: bool
    denied: str | None
    artifacts: Mapping[str, str]
    releases: tuple[tuple[int, int | None], ...]
    """Intervals in which readers saw it: from this release, up to before that one (None: still)."""


@dataclass(frozen=True)
class Whole:
    """A document with its history. `denied`: (kind, reason) of each deny entry that covers it or part of it."""

    id: str
    source: Source
    title: str
    uri: str
    size: int
    present: bool
    seen: float
    versions: tuple[VersionLine, ...]
    denied: tuple[tuple[str, str, str, str], ...]
    """(kind, subject, actor, reason)."""
    rejections: tuple[Any, ...]
    changes: tuple[tuple[int, str, str], ...]
    """(release, change, decision), newest first."""
    events: tuple[Event, ...]
    holder: tuple[str, str] | None = None
    """Id and title of the document that it is a file of."""
    inside: tuple[tuple[str, str, bool], ...] = ()
    """Id, title and whether it is still there, of each file in it."""

    @property
    def live(self) -> VersionLine | None:
        return next((one for one in self.versions if one.live), None)

    def held_back(self, kind: str, subject: str) -> bool:
        return any((one[0], one[1]) == (kind, subject) for one in self.denied)


def whole(tx: Connection, scope: Scope, document: str) -> Whole | None:
    """None where there is no such document, or it is out of scope."""
    d, s = tables.document, tables.source
    query = select(d, s.c.config).join(s, (s.c.kb == d.c.kb) & (s.c.name == d.c.source))
    row = tx.execute(query.where(d.c.id == document, scope.covers(d))).first()
    if row is None:
        return None
    versions = _versions(tx, scope.kb, document)
    x, item = tables.rejection, tables.release_item
    rejections = tx.execute(select(x).where(x.c.document == document).order_by(x.c.id.desc())).all()
    changes = tx.execute(
        select(item.c.release, item.c.change, item.c.decision)
        .where(item.c.kb == scope.kb, item.c.document == document)
        .order_by(item.c.release.desc())
    ).all()
    newest = versions[0] if versions else None
    return Whole(
        id=document,
        source=Source.model_validate(row.config),
        title=newest.title if newest else row.uri,
        uri=newest.uri if newest else row.uri,
        size=row.size,
        present=row.present,
        seen=row.seen,
        versions=versions,
        denied=_all_denied(tx, scope.kb, document, row.source, [one.id for one in versions]),
        rejections=tuple(rejections),
        changes=tuple((number, change, decision) for number, change, decision in changes),
        events=_events(tx, scope.kb, document, versions),
        holder=next(((id_, title) for id_, title, _ in _titled(tx, d.c.id == row.parent)), None),
        inside=_titled(tx, d.c.parent == document),
    )


def _titled(tx: Connection, where: Any) -> tuple[tuple[str, str, bool], ...]:
    """Id, newest title and presence of documents; of one source, so of one scope."""
    d, v = tables.document, tables.version
    newest = select(func.max(v.c.number)).where(v.c.document == d.c.id).correlate(d).scalar_subquery()
    query = select(d.c.id, func.coalesce(func.nullif(v.c.title, ""), d.c.uri), d.c.present)
    query = query.outerjoin(v, (v.c.document == d.c.id) & (v.c.number == newest))
    return tuple((id_, title, present) for id_, title, present in tx.execute(query.where(where).order_by(d.c.uri)))


def _versions(tx: Connection, kb: str, document: str) -> tuple[VersionLine, ...]:
    v, shown = tables.version, tables.document_release
    live = visible_versions(tx, kb, documents=[document]).get(document)
    rows = tx.execute(select(v).where(v.c.document == document).order_by(v.c.number.desc())).all()
    denied = _denied(tx, kb, "version", [row.id for row in rows])
    seen = tx.execute(select(shown).where(shown.c.document == document).order_by(shown.c.born)).all()
    return tuple(
        VersionLine(
            **_common(row),
            id=row.id,
            sha256=row.sha256,
            ingested_by=row.ingested_by,
            run=row.run,
            live=row.id == live,
            denied=denied[row.id].reason if row.id in denied else None,
            artifacts=row.artifacts,
            releases=tuple((one.born, one.died if one.died < 2**31 else None) for one in seen if one.version == row.id),
        )
        for row in rows
    )


def _all_denied(
    tx: Connection, kb: str, document: str, source: str, versions: list[str]
) -> tuple[tuple[str, str, str, str], ...]:
    t, vc = tables.deny, tables.version_chunk
    chunks = select(vc.c.chunk).where(vc.c.version.in_(versions))
    mine = or_(
        (t.c.kind == "document") & t.c.subject.in_((document, *holders(document))),
        (t.c.kind == "source") & (t.c.subject == source),
        (t.c.kind == "version") & t.c.subject.in_(versions),
        (t.c.kind == "chunk") & t.c.subject.in_(chunks),
    )
    rows = tx.execute(select(t).where(t.c.kb == kb, mine).order_by(t.c.at))
    return tuple((row.kind, row.subject, row.actor, row.reason) for row in rows)


def _events(tx: Connection, kb: str, document: str, versions: tuple[VersionLine, ...]) -> tuple[Event, ...]:
    found = list(events(tx, kb, Wanted(subject=document), 50))
    for version in versions[:20]:
        found += events(tx, kb, Wanted(subject=version.id), 20)
    return tuple(sorted(found, key=lambda one: -one.sequence))
