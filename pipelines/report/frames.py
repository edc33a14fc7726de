"""What the suites look at, as tables of ids, numbers and truths: no text and no title leaves this module."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, func, select

from pipelines.layers import load
from pipelines.library import denied
from pipelines.publish.rows import AUTHORITY, HIDDEN, visible_versions
from schemas.chunk import Masked
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App

Row = dict[str, Any]
DAY = 86400.0
SAMPLED = 500
"""Rows whose vectors are read back from the index to look at their dimension."""


def live_chunks(tx: Connection, app: "App", release: int) -> Iterator[Row]:
    """What readers see at `release`, less what is in quarantine."""
    from pipelines.mask import leaks

    c = tables.chunk
    today = _days(app.clock())
    query = select(c).where(c.c.kb == app.kb, c.c.born <= release, c.c.died > release)
    query = query.where(~denied(app.kb, c.c.chunk, c.c.document, c.c.version, c.c.source))
    for row in tx.execute(query.execution_options(yield_per=1000)):
        yield {
            "row": row.id,
            "chunk": row.chunk,
            "document": row.document,
            "source": row.source,
            "characters": len(row.text.strip()),
            "context_characters": len(row.context.strip()),
            "quality": row.quality,
            "language": row.language,
            "kind": row.kind,
            "authority": row.authority,
            "days_ahead": row.dated - today,
            "leaks": len(leaks(f"{row.context}\n{row.text}")),
        }


def staged_chunks(app: "App", number: int) -> Iterator[Row]:
    """The chunks of a release's new versions, as they would be indexed."""
    from pipelines.mask import leaks

    with app.database.read() as tx:
        versions = _staged(tx, app.kb, number)
    today = _days(app.clock())
    for row in versions:
        with app.database.read() as tx:
            vc = tables.version_chunk
            kept = select(vc.c.chunk, vc.c.quality).where(vc.c.version == row.id, vc.c.band.not_in(HIDDEN))
            quality = dict(tx.execute(kept).all())
        for one in load(app, row.artifacts["mask"], Masked).chunks:
            if one.id in quality:
                yield {
                    "row": one.id,
                    "chunk": one.id,
                    "document": row.document,
                    "source": row.source,
                    "characters": len(one.text.strip()),
                    "context_characters": len(one.context.strip()),
                    "quality": quality[one.id],
                    "language": one.language,
                    "kind": one.kind,
                    "authority": AUTHORITY[row.config["authority"]],
                    "days_ahead": (_iso(row.dated) or today) - today,
                    "leaks": len(leaks(f"{one.context}\n{one.text}")),
                }


def _staged(tx: Connection, kb: str, number: int) -> list[Any]:
    item, v, d, s = tables.release_item, tables.version, tables.document, tables.source
    query = (
        select(v.c.id, v.c.document, v.c.artifacts, v.c.dated, v.c.title, v.c.created, d.c.source, d.c.acl, s.c.config)
        .join(v, v.c.id == item.c.version)
        .join(d, d.c.id == item.c.document)
        .join(s, (s.c.kb == d.c.kb) & (s.c.name == d.c.source))
        .where(item.c.kb == kb, item.c.release == number, item.c.decision != "held")
    )
    return list(tx.execute(query.order_by(v.c.id)).all())


def documents(tx: Connection, app: "App", release: int) -> Iterator[Row]:
    """The documents that readers see at `release`."""
    c, v, d, s = tables.chunk, tables.version, tables.document, tables.source
    shown = visible_versions(tx, app.kb, release)
    counts: dict[str, int] = dict(
        tx.execute(
            select(c.c.document, func.count())
            .where(c.c.kb == app.kb, c.c.born <= release, c.c.died > release)
            .group_by(c.c.document)
        ).all()
    )
    twins = _with_twins(tx, set(shown) - set(counts))
    sets = set(tx.execute(select(tables.access_set.c.id)).scalars())
    query = select(v.c.id, v.c.document, v.c.title, v.c.dated, v.c.created, d.c.source, d.c.acl, s.c.config)
    query = query.join(d, d.c.id == v.c.document).join(s, (s.c.kb == d.c.kb) & (s.c.name == d.c.source))
    query = query.where(~denied(app.kb, "", v.c.document, v.c.id, d.c.source))
    versions = sorted(shown.values())
    for start in range(0, len(versions), 500):
        for row in tx.execute(query.where(v.c.id.in_(versions[start : start + 500]))):
            found = counts.get(row.document, 0)
            yield _document(row, app.clock(), sets) | {"chunks": found or int(row.document in twins)}


def staged_documents(tx: Connection, app: "App", number: int) -> Iterator[Row]:
    """The new versions of a release."""
    sets = set(tx.execute(select(tables.access_set.c.id)).scalars())
    vc = tables.version_chunk
    for row in _staged(tx, app.kb, number):
        kept = select(func.count()).select_from(vc).where(vc.c.version == row.id, vc.c.band.not_in(HIDDEN))
        yield _document(row, app.clock(), sets) | {"chunks": tx.execute(kept).scalar_one()}


def _document(row: Any, now: float, sets: set[int]) -> Row:
    allowed = row.config.get("fresh_days")
    changed = _iso(row.dated) or _days(row.created)
    overdue = max(0, _days(now) - changed - allowed) if allowed else 0
    return {
        "row": row.document,
        "document": row.document,
        "source": row.source,
        "title_characters": len(row.title.strip()),
        "days_overdue": overdue,
        "readers_known": row.acl in sets,
    }


def _with_twins(tx: Connection, unseen: set[str]) -> set[str]:
    """Of documents without a visible row, those whose text another document shows."""
    vc, v, link = tables.version_chunk, tables.version, tables.duplicate_link
    listed = sorted(unseen)
    found: set[str] = set()
    for side in (link.c.a, link.c.b):
        query = select(v.c.document).join(vc, vc.c.version == v.c.id).join(link, side == vc.c.chunk)
        for start in range(0, len(listed), 500):
            part = v.c.document.in_(listed[start : start + 500])
            found.update(tx.execute(query.where(part, link.c.drop.is_(True))).scalars())
    return found


def references(tx: Connection, app: "App", release: int, dimension: int) -> Iterator[Row]:
    """Whether what each visible row names is there."""
    c, d, shown = tables.chunk, tables.document, tables.document_release
    vc, vector = tables.version_chunk, tables.vector
    kb = tx.execute(select(tables.knowledge_base).where(tables.knowledge_base.c.name == app.kb)).one()
    at = (shown.c.document == c.c.document) & (shown.c.born <= release) & (shown.c.died > release)
    stored = (vector.c.content_hash == c.c.content_hash) & (vector.c.embedder == kb.embedder)
    query = (
        select(
            c.c.id,
            c.c.document,
            c.c.born,
            c.c.died,
            d.c.id.label("known"),
            vc.c.chunk.label("shown"),
            func.length(vector.c.data).label("bytes"),
        )
        .outerjoin(d, d.c.id == c.c.document)
        .outerjoin(shown, at)
        .outerjoin(vc, (vc.c.version == shown.c.version) & (vc.c.chunk == c.c.chunk))
        .outerjoin(vector, stored)
        .where(c.c.kb == app.kb, c.c.born <= release, c.c.died > release)
    )
    for row in tx.execute(query.execution_options(yield_per=1000)):
        yield {
            "row": row.id,
            "document": row.document,
            "document_known": row.known is not None,
            "version_shown": row.shown is not None,
            "interval_sound": row.born < row.died,
            "vector_stored": row.bytes is not None,
            "dimension_sound": row.bytes in (None, dimension * 4),
        }


def index_rows(app: "App", collection: str, dimension: int) -> Iterator[Row]:
    """Every row that SQL or the index holds, and whether the two agree; without rows that are being published."""
    c, d, r = tables.chunk, tables.document, tables.release
    finished = (r.c.kb == c.c.kb) & (r.c.number == c.c.born) & (r.c.state != "publishing")
    query = (
        select(c.c.id, c.c.document, c.c.born, c.c.died, d.c.acl).join(r, finished).outerjoin(d, d.c.id == c.c.document)
    )
    with app.database.read() as tx:
        want = {row.id: row for row in tx.execute(query.where(c.c.kb == app.kb))}
        moving = set(tx.execute(select(c.c.id).where(c.c.kb == app.kb)).scalars()) - want.keys()
    copies: Counter[str] = Counter()
    have = {}
    for state in app.index().states(collection):
        copies[state.id] += 1
        have[state.id] = state
    sizes = _dimensions(app, collection, sorted(want.keys() & have.keys()))
    for id_ in sorted((want.keys() | have.keys()) - moving):
        ours, theirs = want.get(id_), have.get(id_)
        yield {
            "row": id_,
            "document": ours.document if ours else "",
            "in_sql": ours is not None,
            "in_index": theirs is not None,
            "interval_agrees": not (ours and theirs) or (ours.born, ours.died) == (theirs.born, theirs.died),
            "acl_agrees": not (ours and theirs) or ours.acl == theirs.acl,
            "dimension_agrees": sizes.get(id_, dimension) == dimension,
            "copies": copies[id_],
        }


def _dimensions(app: "App", collection: str, ids: list[str]) -> Mapping[str, int]:
    step = max(1, len(ids) // SAMPLED)
    return {row.id: len(row.vector) for row in app.index().fetch(collection, ids[::step])}


def _days(seconds: float) -> int:
    return int(seconds // DAY)


def _iso(text: str | None) -> int | None:
    try:
        return (date.fromisoformat((text or "")[:10]) - date(1970, 1, 1)).days
    except ValueError:
        return None


def frame(rows: Iterable[Row], columns: Iterable[str]) -> Any:
    """A pandas frame; the columns are there without rows too."""
    import pandas

    return pandas.DataFrame(list(rows), columns=list(columns))


def changed(tx: Connection, kb: str, number: int) -> set[str]:
    """The documents that a release changes, less those that are held."""
    item = tables.release_item
    where = (item.c.kb == kb) & (item.c.release == number) & (item.c.decision != "held")
    return set(tx.execute(select(item.c.document).where(where)).scalars())
