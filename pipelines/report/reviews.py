"""One change of a release, as it stands in the database."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from pipelines.report.scope import Scope
from schemas.source import Source
from sql import tables


@dataclass(frozen=True)
class UnderReview:
    """`version` None: the document is to be removed; `previous` None: readers do not have it yet."""

    document: str
    source: Source
    title: str
    uri: str
    change: str
    risks: tuple[str, ...]
    decision: str
    version: str | None
    number: int | None
    previous: str | None
    previous_number: int | None
    created: float
    ingested_by: str
    artifacts: Mapping[str, str]
    previous_artifacts: Mapping[str, str]
    pages: bool
    """Whether its format has pages that can be shown."""


def under_review(tx: Connection, scope: Scope, number: int, document: str) -> UnderReview | None:
    """None where the release has no such document, or it is out of scope."""
    item, d, s = tables.release_item, tables.document, tables.source
    query = (
        select(item, d.c.source, s.c.config)
        .join(d, d.c.id == item.c.document)
        .join(s, (s.c.kb == d.c.kb) & (s.c.name == d.c.source))
        .where(item.c.kb == scope.kb, item.c.release == number, item.c.document == document, scope.covers(d))
    )
    row = tx.execute(query).first()
    if row is None:
        return None
    v = tables.version
    versions = {one.id: one for one in tx.execute(select(v).where(v.c.id.in_([row.version, row.previous])))}
    new, old = versions.get(row.version), versions.get(row.previous)
    shown: Any = new or old
    return UnderReview(
        document=document,
        source=Source.model_validate(row.config),
        title=shown.title or shown.uri,
        uri=shown.uri,
        change=row.change,
        risks=tuple(row.risk),
        decision=row.decision,
        version=row.version,
        number=new.number if new else None,
        previous=row.previous,
        previous_number=old.number if old else None,
        created=shown.created,
        ingested_by=shown.ingested_by,
        artifacts=new.artifacts if new else {},
        previous_artifacts=old.artifacts if old else {},
        pages=shown.uri.lower().endswith((".pdf", ".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp")),
    )
