"""What readers see at one release and not at another."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from pipelines.publish.rows import visible_versions
from pipelines.report.compare import ChunkChange, changes
from pipelines.report.scope import Scope
from schemas.chunk import MaskedChunk
from sql import tables


@dataclass(frozen=True)
class DocumentDiff:
    """One document that differs. `change`: add, remove, replace (another version), or same (only what is shown)."""

    document: str
    source: str
    title: str
    uri: str
    change: str
    added: int
    removed: int


def compare(tx: Connection, scope: Scope, left: int, right: int) -> tuple[DocumentDiff, ...]:
    """Documents in scope whose visible chunks or version differ, by source and title."""
    old, new = visible_versions(tx, scope.kb, left), visible_versions(tx, scope.kb, right)
    added, removed = _counts(tx, scope.kb, right, left), _counts(tx, scope.kb, left, right)
    differ = {one for one in old.keys() | new.keys() if old.get(one) != new.get(one)} | added.keys() | removed.keys()
    found = []
    for row in _described(tx, scope, {one: new.get(one) or old.get(one) or "" for one in differ}):
        one = row.document
        change = _change(old.get(one), new.get(one))
        found.append(
            DocumentDiff(one, row.source, row.title or row.uri, row.uri, change, added.get(one, 0), removed.get(one, 0))
        )
    return tuple(sorted(found, key=lambda one: (one.source, one.title, one.document)))


def _change(old: str | None, new: str | None) -> str:
    if old == new:
        return "same"
    return "add" if old is None else "remove" if new is None else "replace"


def _counts(tx: Connection, kb: str, at: int, not_at: int) -> dict[str, int]:
    c = tables.chunk
    hidden = (c.c.born > not_at) | (c.c.died <= not_at)
    query = select(c.c.document, func.count()).where(c.c.kb == kb, c.c.born <= at, c.c.died > at, hidden)
    return dict(tx.execute(query.group_by(c.c.document)).all())


def _described(tx: Connection, scope: Scope, versions: Mapping[str, str]) -> list[Any]:
    v, d = tables.version, tables.document
    wanted = [one for one in versions.values() if one]
    query = select(v.c.document, v.c.title, v.c.uri, d.c.source).join(d, d.c.id == v.c.document).where(scope.covers(d))
    rows: list[Any] = []
    for start in range(0, len(wanted), 500):
        rows += tx.execute(query.where(v.c.id.in_(wanted[start : start + 500]))).all()
    return rows


def document_between(
    tx: Connection, scope: Scope, document: str, left: int, right: int
) -> tuple[ChunkChange, ...] | None:
    """One document's chunks as readers see them at the two releases; None out of scope."""
    if not scope.sees(tx, document):
        return None
    return changes(_visible(tx, document, left), _visible(tx, document, right))


def _visible(tx: Connection, document: str, at: int) -> list[MaskedChunk]:
    c, vc, shown = tables.chunk, tables.version_chunk, tables.document_release
    query = (
        select(c, vc.c.ordinal, vc.c.page_start, vc.c.page_end)
        .join(shown, (shown.c.document == c.c.document) & (shown.c.born <= at) & (shown.c.died > at))
        .outerjoin(vc, (vc.c.version == shown.c.version) & (vc.c.chunk == c.c.chunk))
        .where(c.c.document == document, c.c.born <= at, c.c.died > at)
    )
    rows: dict[str, list[Any]] = defaultdict(list)
    for row in tx.execute(query):
        rows[row.chunk].append(row)
    newest = [max(some, key=lambda row: row.born) for some in rows.values()]
    return [_chunk(row) for row in sorted(newest, key=lambda row: (row.ordinal is None, row.ordinal or 0, row.id))]


def _chunk(row: Any) -> MaskedChunk:
    return MaskedChunk(
        id=row.chunk,
        ordinal=row.ordinal or 0,
        kind=row.kind,
        text=row.text,
        context=row.context,
        section=tuple(row.section),
        page_start=row.page_start,
        page_end=row.page_end,
        html=row.html,
        language=row.language,
        content_hash=row.content_hash,
    )
