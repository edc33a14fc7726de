"""Which rows a release opens and closes: the difference between what readers should see and what is open.

Because it compares with what is *open* (not with the release before), the first publish after a rollback also takes
back whatever the rolled-back releases had opened or closed, and history only grows.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection, or_, select

from schemas.index import FOREVER
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App

T = TypeVar("T")
PAGE = 500
HIDDEN = ("quarantine", "held")
"""Bands of chunks that readers do not see."""
AUTHORITY = {"L1": 1, "L2": 2, "L3": 3, "L4": 4}


@dataclass(frozen=True)
class Wanted:
    """A chunk that readers should see after the release."""

    chunk: str
    content_hash: str
    document: str
    version: str
    quality: float


@dataclass(frozen=True)
class RowPlan:
    """What publishing will do."""

    open: tuple[Wanted, ...]
    close: tuple[str, ...]
    documents: Mapping[str, str | None]
    """Target version of every document whose entry changes."""


def live_release(tx: Connection, kb: str) -> int:
    table = tables.knowledge_base
    return int(tx.execute(select(table.c.live_release).where(table.c.name == kb)).scalar_one())


def visible_versions(
    tx: Connection, kb: str, release: int | None = None, documents: Iterable[str] | None = None
) -> dict[str, str]:
    """Version by document as readers see them at `release` (None: live); of `documents` only, where they are given."""
    if release is None:
        release = live_release(tx, kb)
    shown = tables.document_release
    query = select(shown.c.document, shown.c.version)
    query = query.where(shown.c.kb == kb, shown.c.born <= release, shown.c.died > release).order_by(shown.c.born)
    if documents is None:
        return dict(tx.execute(query).all())
    found: dict[str, str] = {}
    for some in batches(documents):
        found.update(tx.execute(query.where(shown.c.document.in_(some))).all())
    return found


def plan_rows(tx: Connection, app: "App", live: int, items: Mapping[str, str | None]) -> RowPlan:
    """`items`: target version by document (None: removed) on top of the live release."""
    targets: dict[str, str | None] = {**visible_versions(tx, app.kb, live)}
    rolled_back = _strayed(tx, app.kb, live)
    targets.update(items)
    changed = set(items) | rolled_back | _unsettled(tx, app.kb)
    affected = linked(tx, changed)
    wanted = _wanted(tx, {one: version for one in affected if (version := targets.get(one))})
    open_rows = _open_rows(tx, affected)
    have = {(row.chunk, row.content_hash) for row in open_rows}
    keep = {(one.chunk, one.content_hash) for one in wanted}
    return RowPlan(
        open=tuple(one for one in wanted if (one.chunk, one.content_hash) not in have),
        close=tuple(row.id for row in open_rows if (row.chunk, row.content_hash) not in keep),
        documents={one: targets.get(one) for one in sorted(changed)},
    )


def _strayed(tx: Connection, kb: str, live: int) -> set[str]:
    """Documents that differ between the live release and what is open: a rollback lies between the two."""
    shown, row = tables.document_release, tables.chunk
    moved = or_(shown.c.born > live, (shown.c.died > live) & (shown.c.died != FOREVER))
    strayed = set(tx.execute(select(shown.c.document).where(shown.c.kb == kb, moved)).scalars())
    shifted = or_(row.c.born > live, (row.c.died > live) & (row.c.died != FOREVER))
    return strayed | set(tx.execute(select(row.c.document).where(row.c.kb == kb, shifted).distinct()).scalars())


def _unsettled(tx: Connection, kb: str) -> set[str]:
    table = tables.unsettled
    return set(tx.execute(select(table.c.document).where(table.c.kb == kb)).scalars())


def linked(tx: Connection, documents: Iterable[str]) -> set[str]:
    """The documents, and all that a chain of drop links ties to them: a duplicate shows again when its twin goes."""
    vc, v, link = tables.version_chunk, tables.version, tables.duplicate_link
    found, frontier = set(documents), set(documents)
    while frontier:
        chunks = select_in(tx, select(vc.c.chunk).join(v, v.c.id == vc.c.version), v.c.document, frontier)
        twins = select_in(tx, select(link.c.b).where(link.c.drop.is_(True)), link.c.a, chunks)
        twins |= select_in(tx, select(link.c.a).where(link.c.drop.is_(True)), link.c.b, chunks)
        homes = select_in(tx, select(v.c.document).join(vc, v.c.id == vc.c.version), vc.c.chunk, twins)
        frontier = homes - found
        found |= frontier
    return found


def paged(app: "App", query: Any, key: Any, size: int = PAGE) -> Iterator[Sequence[Any]]:
    """Pages of a query in the order of a unique text column. No transaction is open while a page is worked on; what is
    added meanwhile may be missed."""
    after = ""
    while True:
        with app.database.read() as tx:
            page = tx.execute(query.where(key > after).order_by(key).limit(size)).all()
        if page:
            yield page
        if len(page) < size:
            return
        after = page[-1]._mapping[key]


def batches(rows: Iterable[T], size: int = PAGE) -> Iterator[list[T]]:
    rest = iter(rows)
    while batch := list(islice(rest, size)):
        yield batch


def select_in(tx: Connection, query: Any, column: Any, values: Iterable[str]) -> set[str]:
    """First column of the query, restricted to these values of a column, in bounded parts."""
    wanted = list(values)
    result: set[str] = set()
    for start in range(0, len(wanted), 500):
        part = query.where(column.in_(wanted[start : start + 500]))
        result.update(tx.execute(part).scalars())
    return result


def _wanted(tx: Connection, targets: Mapping[str, str]) -> list[Wanted]:
    """Chunks of the target versions, less noise, held chunks and duplicates of a better chunk."""
    vc, v, d, s = tables.version_chunk, tables.version, tables.document, tables.source
    query = (
        select(vc.c.chunk, vc.c.content_hash, vc.c.version, vc.c.quality, v.c.document, v.c.dated, s.c.config)
        .join(v, v.c.id == vc.c.version)
        .join(d, d.c.id == v.c.document)
        .join(s, (s.c.kb == d.c.kb) & (s.c.name == d.c.source))
        .where(vc.c.band.not_in(HIDDEN))
    )
    rows: list[Any] = []
    versions = list(targets.values())
    for start in range(0, len(versions), 500):
        rows += tx.execute(query.where(vc.c.version.in_(versions[start : start + 500]))).all()
    held = set(tx.execute(select(tables.overlay.c.chunk).where(tables.overlay.c.kind == "hold")).scalars())
    rows = [row for row in rows if row.chunk not in held]
    # Best first: the most authoritative, then the newest by the document's own date, then by id, which is content.
    rows.sort(key=lambda row: row.chunk)
    rows.sort(key=lambda row: row.dated or "", reverse=True)
    rows.sort(key=lambda row: AUTHORITY[row.config["authority"]])
    dropped = _dropped(tx, [row.chunk for row in rows])
    return [
        Wanted(row.chunk, row.content_hash, row.document, row.version, row.quality)
        for row in rows
        if row.chunk not in dropped
    ]


def _dropped(tx: Connection, best_first: Sequence[str]) -> set[str]:
    """Greedy over chunks, best first: one that a kept twin makes superfluous is not shown."""
    link = tables.duplicate_link
    twins: dict[str, set[str]] = defaultdict(set)
    for start in range(0, len(best_first), 500):
        part = best_first[start : start + 500]
        where = link.c.drop.is_(True) & or_(link.c.a.in_(part), link.c.b.in_(part))
        for a, b, spare in tx.execute(select(link.c.a, link.c.b, link.c.spare).where(where)):
            # A text that contains another is not spared for it, however authoritative the shorter one is.
            if spare != "b":
                twins[a].add(b)
            if spare != "a":
                twins[b].add(a)
    kept: set[str] = set()
    dropped: set[str] = set()
    for chunk in best_first:
        if twins[chunk] & kept:
            dropped.add(chunk)
        else:
            kept.add(chunk)
    return dropped


def _open_rows(tx: Connection, documents: Iterable[str]) -> list[Any]:
    row = tables.chunk
    wanted = list(documents)
    found: list[Any] = []
    for start in range(0, len(wanted), 500):
        where = row.c.document.in_(wanted[start : start + 500]) & (row.c.died == FOREVER)
        found += tx.execute(select(row.c.id, row.c.chunk, row.c.content_hash).where(where)).all()
    return found
