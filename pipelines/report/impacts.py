"""Who was answered with it: the logged questions that used the chunks of a subject."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from pipelines.review.quarantine import rows_of
from sql import tables


@dataclass(frozen=True)
class Asked:
    """One logged question; masked as it was logged."""

    at: float
    user: str
    query: str
    release: int
    chunks: int
    cited: bool


def asked(
    tx: Connection, kb: str, kind: str, subject: str, *, since: float = 0, until: float = 0, limit: int | None = 50
) -> tuple[Asked, ...]:
    """Newest first; `until` 0 means now."""
    hit, log = tables.query_hit, tables.query_log
    used = hit.c.chunk.in_(select(tables.chunk.c.chunk).where(rows_of(kb, kind, subject)))
    query: Any = (
        select(log.c.at, log.c.user, log.c.query, log.c.release, func.count(), func.max(hit.c.cited))
        .join(hit, hit.c.query == log.c.id)
        .where(log.c.kb == kb, used, log.c.at >= since)
        .group_by(log.c.id, log.c.at, log.c.user, log.c.query, log.c.release)
        .order_by(log.c.at.desc())
    )
    if until:
        query = query.where(log.c.at < until)
    rows = tx.execute(query.limit(limit) if limit else query)
    return tuple(Asked(at, user, text, release, n, bool(cited)) for at, user, text, release, n, cited in rows)
