"""How a knowledge base stands, as far as one person may see it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from pipelines.publish.rows import live_release
from pipelines.report.queue import queue
from pipelines.report.scope import Scope
from pipelines.review.policy import reviewers
from schemas.source import Source
from sql import tables

RELEASES = 20
"""So many releases the trends go back."""
SHIFTED = 0.25
"""Population stability index from which on a distribution has shifted (the usual convention)."""
OPEN = ("in_review", "approved", "publishing", "failed")


@dataclass(frozen=True)
class Waiting:
    """A release that is not live yet."""

    number: int
    state: str
    since: float
    items: int
    pending: int
    risky: int
    """Undecided, and a person should look at them."""
    reviewers: tuple[str, ...]
    overdue: bool


@dataclass(frozen=True)
class SourceLine:
    """One source in one line."""

    source: Source
    synced: float | None
    documents: int
    rejected: int


@dataclass(frozen=True)
class Alert:
    """Something that a person should act on. `code` is stable; `subject` and `count` fill its sentence."""

    code: str
    subject: str = ""
    count: int = 0


@dataclass(frozen=True)
class Checks:
    """The newest quality report, and how the live releases moved."""

    run: int
    release: int
    at: float
    critical: int
    warning: int
    drift: tuple[tuple[int, float], ...]
    """(release, the largest PSI of what is watched, at most 1), oldest first."""

    @property
    def moved(self) -> bool:
        return bool(self.drift) and self.drift[-1][1] >= SHIFTED


@dataclass(frozen=True)
class Overview:
    """`documents`: by state of the newest version; `rejected`: standing, by code."""

    live: int
    published: float | None
    chunks: int
    documents: Mapping[str, int]
    rejected: Mapping[str, int]
    waiting: tuple[Waiting, ...]
    sources: tuple[SourceLine, ...]
    alerts: tuple[Alert, ...]
    quality: tuple[tuple[int, float], ...]
    """(release, mean quality of what it opened), oldest first."""
    checks: Checks | None = None
    """Of the whole knowledge base, so only for those who may see that."""


def overview(tx: Connection, scope: Scope, now: float, whole: bool = False) -> Overview:
    """`whole`: with what the quality report says of the whole knowledge base."""
    live = live_release(tx, scope.kb)
    r, c = tables.release, tables.chunk
    published = tx.execute(select(r.c.published).where(r.c.kb == scope.kb, r.c.number == live)).scalar()
    visible = (c.c.kb == scope.kb) & (c.c.born <= live) & (c.c.died > live) & c.c.document.in_(scope.documents())
    waiting = _waiting(tx, scope, now)
    sources = _sources(tx, scope)
    rejected = _rejected(tx, scope)
    checks = _checks(tx, scope.kb) if whole else None
    return Overview(
        live=live,
        published=published,
        chunks=tx.execute(select(func.count()).select_from(c).where(visible)).scalar_one(),
        documents=_states(tx, scope),
        rejected=rejected,
        waiting=waiting,
        sources=sources,
        alerts=(*_alerts(tx, scope, waiting), *_of_checks(checks)),
        quality=_quality(tx, scope),
        checks=checks,
    )


def _states(tx: Connection, scope: Scope) -> dict[str, int]:
    v = tables.version
    newest = (
        select(v.c.document, func.max(v.c.number).label("number"))
        .where(v.c.kb == scope.kb, v.c.document.in_(scope.documents()))
        .group_by(v.c.document)
        .subquery()
    )
    query = select(v.c.state, func.count()).join(
        newest, (newest.c.document == v.c.document) & (newest.c.number == v.c.number)
    )
    return dict(tx.execute(query.group_by(v.c.state)).all())


def _rejected(tx: Connection, scope: Scope) -> dict[str, int]:
    x = tables.rejection
    where = (x.c.kb == scope.kb) & x.c.standing & x.c.source.in_(scope.sources)
    counted = tx.execute(select(x.c.code, func.count()).where(where).group_by(x.c.code)).all()
    return dict(sorted(counted, key=lambda one: (-one[1], one[0])))


def _waiting(tx: Connection, scope: Scope, now: float) -> tuple[Waiting, ...]:
    r = tables.release
    rows = tx.execute(select(r).where(r.c.kb == scope.kb, r.c.state.in_(OPEN)).order_by(r.c.number.desc())).all()
    return tuple(_one_waiting(tx, scope, row, now) for row in rows)


def _one_waiting(tx: Connection, scope: Scope, row: Any, now: float) -> Waiting:
    waiting = queue(tx, scope, row.number)
    s = tables.source
    configs = tx.execute(select(s.c.config).where(s.c.kb == scope.kb, s.c.name.in_(waiting.sources))).scalars()
    sources = [Source.model_validate(config) for config in configs]
    deadline = min((one.review.deadline_hours for one in sources), default=72) * 3600
    return Waiting(
        number=row.number,
        state=row.state,
        since=row.created,
        items=waiting.size,
        pending=waiting.pending,
        risky=waiting.of("look").size,
        reviewers=tuple(sorted({who for one in sources for who in reviewers(one)})),
        overdue=row.state == "in_review" and now - row.created > deadline,
    )


def _sources(tx: Connection, scope: Scope) -> tuple[SourceLine, ...]:
    s, d, x = tables.source, tables.document, tables.rejection
    counts = select(d.c.source, func.count()).where(d.c.present, scope.covers(d)).group_by(d.c.source)
    documents: Counter[str] = Counter(dict(tx.execute(counts).all()))
    standing = select(x.c.source, func.count()).where(x.c.kb == scope.kb, x.c.standing).group_by(x.c.source)
    rejected: Counter[str] = Counter(dict(tx.execute(standing).all()))
    rows = tx.execute(select(s).where(s.c.kb == scope.kb, s.c.name.in_(scope.sources)).order_by(s.c.name)).all()
    return tuple(
        SourceLine(Source.model_validate(row.config), row.synced, documents[row.name], rejected[row.name])
        for row in rows
    )


def _alerts(tx: Connection, scope: Scope, waiting: tuple[Waiting, ...]) -> tuple[Alert, ...]:
    r, x = tables.release, tables.rejection
    found = [Alert("release_failed", str(one.number)) for one in waiting if one.state == "failed"]
    found += [Alert("review_overdue", str(one.number)) for one in waiting if one.overdue]
    unfinished = select(r.c.number).where(r.c.kb == scope.kb, r.c.hygiene.is_(False)).order_by(r.c.number)
    found += [Alert("unfinished", str(number)) for number in tx.execute(unfinished).scalars()]
    lost = select(x.c.source, x.c.code).where(
        x.c.kb == scope.kb, x.c.standing, x.c.source.in_(scope.sources), x.c.layer == "scan"
    )
    trouble = Counter((row.source, row.code) for row in tx.execute(lost))
    found += [Alert(code, source, count) for (source, code), count in sorted(trouble.items())]
    return tuple(found)


def _checks(tx: Connection, kb: str) -> Checks | None:
    from pipelines.report.quality import history, latest

    newest = latest(tx, kb)
    if newest is None:
        return None
    past = history(tx, kb, RELEASES)
    drift = tuple((one["release"], min(1.0, max(_indices(one["shift"]), default=0.0))) for one in past)
    failed = newest["failed"]
    return Checks(newest["run"], newest["release"], newest["at"], failed["critical"], failed["warning"], drift)


def _indices(shift: Mapping[str, float]) -> list[float]:
    return [value for name, value in shift.items() if name.startswith("psi_")]


def _of_checks(checks: Checks | None) -> list[Alert]:
    if checks is None:
        return []
    found = [Alert("quality_failed", str(checks.release), checks.critical)] if checks.critical else []
    return found + ([Alert("drift", str(checks.drift[-1][0]))] if checks.moved else [])


def _quality(tx: Connection, scope: Scope, limit: int = RELEASES) -> tuple[tuple[int, float], ...]:
    c = tables.chunk
    where = (c.c.kb == scope.kb) & c.c.document.in_(scope.documents())
    query = select(c.c.born, func.avg(c.c.quality)).where(where).group_by(c.c.born).order_by(c.c.born.desc())
    return tuple((int(born), float(mean)) for born, mean in reversed(tx.execute(query.limit(limit)).all()))
