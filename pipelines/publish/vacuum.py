"""Remove what no kept release shows: index rows, vectors, artifacts, facts; and collections and questions grown old.

First SQL says which releases can no longer be read, then their things go, each step deleting the row that names a thing
after the thing itself: killed anywhere, the next vacuum goes on.
"""

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, delete, exists, or_, select, tuple_, update

from pipelines import corpus, lifecycle
from pipelines.publish.belongings import belongings, delete_in, drop_facts, drop_rows, parts
from pipelines.publish.collections import Collection, collections
from pipelines.publish.forget import locked, resume
from pipelines.publish.reembed import drop
from pipelines.publish.rows import paged, select_in
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App

PAGE = 500
BATCH = 100
"""Versions whose things go in one step."""
MADE_ANEW = ("raw/parsed/", "facts/mask/", "facts/score/", "facts/extract/")
"""Zones with one artifact for each version and layer: one that its version does not name is of older settings."""


def vacuum(app: "App") -> dict[str, Any]:
    """Raises Conflict(LOCKED) beside a sync, a publication or a re-embedding."""
    started = time.perf_counter()
    with locked(app):
        resume(app)
        with app.database.write() as tx:
            kept, released = _release(tx, app)
        app.checkpoint("vacuum.released")
        deleted: Counter[str] = Counter()
        deleted["collections"] = _drop_collections(app)
        deleted.update(_drop_rows(app, kept))
        deleted.update(_drop_versions(app))
        deleted["artifacts"] += _drop_outdated(app) + _drop_files(app)
        deleted.update(_drop_questions(app))
        with app.database.read() as tx:
            for one in collections(tx, app.kb):
                app.index().purge(one.name)
        corpus.purge(app)
        shown = {place: number for place, number in sorted(deleted.items()) if number}
        with app.database.write() as tx:
            detail = {"released": released, "deleted": shown}
            lifecycle.record(tx, app.kb, app.actor, "vacuum", "kb", app.kb, "retention settings", **detail)
    return {
        "schema": "sluice.vacuum/1",
        "kept": kept,
        "released": released,
        "deleted": shown,
        "seconds": round(time.perf_counter() - started, 3),
    }


def _release(tx: Connection, app: "App") -> tuple[list[int], list[int]]:
    """Numbers that stay readable, and those that were until now. Their entries of shown documents go at once."""
    r, kb, policy = tables.release, tables.knowledge_base, app.settings.vacuum
    live = tx.execute(select(kb.c.live_release).where(kb.c.name == app.kb)).scalar_one()
    rows = tx.execute(select(r).where(r.c.kb == app.kb, r.c.vacuumed.is_(None)).order_by(r.c.number.desc())).all()
    published = [row for row in rows if row.published is not None]
    since = app.clock() - policy.days * 86400
    kept = {live, *(row.number for row in published[: policy.releases])}
    kept |= {row.number for row in published if row.published >= since}
    released = sorted(row.number for row in published if row.number not in kept)
    for part in parts(released):
        tx.execute(update(r).where(r.c.kb == app.kb, r.c.number.in_(part)).values(vacuumed=app.clock()))
    # What is being published shows nothing yet, and is not to be lost.
    numbers = sorted(kept | {row.number for row in rows if row.state == "publishing"})
    shown = tables.document_release
    entries = tx.execute(select(shown.c.document, shown.c.born, shown.c.died).where(shown.c.kb == app.kb)).all()
    gone = [(row.document, row.born) for row in entries if not _seen(numbers, row.born, row.died)]
    for pairs in parts(gone):
        tx.execute(delete(shown).where(tuple_(shown.c.document, shown.c.born).in_(pairs)))
    return numbers, released


def _seen(kept: Sequence[int], born: int, died: int) -> bool:
    """Whether a kept release lies in the interval."""
    at = bisect_left(kept, born)
    return at < len(kept) and kept[at] < died


def _drop_collections(app: "App") -> int:
    """What was kept for going back to an earlier embedder; vectors of embedders that have no collection left."""
    with app.database.read() as tx:
        known = collections(tx, app.kb)
    old = [one for one in known if one.state == "kept"]
    drop(app, old)
    used = {one.embedder for one in known if one.state != "kept"}
    gone = {one.embedder for one in old} - used
    for embedder in gone:
        with app.database.write() as tx:
            tx.execute(delete(tables.vector).where(tables.vector.c.embedder == embedder))
    return len(old)


def _drop_rows(app: "App", kept: Sequence[int]) -> Counter[str]:
    counts: Counter[str] = Counter()
    with app.database.read() as tx:
        held = collections(tx, app.kb)
    c = tables.chunk
    for page in paged(app, select(c.c.id, c.c.born, c.c.died).where(c.c.kb == app.kb), c.c.id):
        gone = [row.id for row in page if not _seen(kept, row.born, row.died)]
        if gone:
            counts.update(_drop_page(app, held, gone))
    return counts


def _drop_page(app: "App", held: Sequence[Collection], rows: Sequence[str]) -> dict[str, int]:
    for one in held:
        app.index().ensure(one.name, one.dimension)
        with app.database.lock(f"index-{app.kb}", wait=True):
            app.index().delete(one.name, rows)
    app.checkpoint("vacuum.index")
    with app.database.write() as tx:
        counts = drop_rows(tx, app, belongings(tx, (), rows))
    app.checkpoint("vacuum.rows")
    return counts


def _drop_versions(app: "App") -> Counter[str]:
    """Versions that were replaced or removed, and that no kept release shows: their history stays, their things go."""
    counts: Counter[str] = Counter()
    with app.database.read() as tx:
        unshown = sorted(tx.execute(_unshown(app.kb)).scalars())
    for part in parts(unshown, BATCH):
        with app.database.write() as tx:
            gone = belongings(tx, part, ())
            # From here on a version says itself that it has nothing left to go back to.
            tx.execute(update(tables.version).where(tables.version.c.id.in_(part)).values(artifacts={}))
        app.checkpoint("vacuum.version")
        app.artifacts.delete(gone.artifacts)
        app.checkpoint("vacuum.artifacts")
        with app.database.write() as tx:
            counts.update(drop_facts(tx, app, gone))
            counts["vector"] += delete_in(tx, tables.vector, tables.vector.c.content_hash, gone.hashes)
        counts["artifacts"] += len(gone.artifacts)
        counts["versions"] += len(part)
        app.checkpoint("vacuum.facts")
    return counts


def _unshown(kb: str) -> Any:
    v, shown = tables.version, tables.document_release
    has = or_(*(exists().where(table.c.version == v.c.id) for table in (tables.derived, tables.version_chunk)))
    return select(v.c.id).where(
        v.c.kb == kb, v.c.state.in_(("superseded", "removed")), ~exists().where(shown.c.version == v.c.id), has
    )


def _drop_outdated(app: "App") -> int:
    """Artifacts that layers made under settings of before, of versions that are still needed."""
    d, v = tables.derived, tables.version
    settled = v.c.state.in_(("staged", "published", "superseded", "removed", "quarantined"))
    query = select(d.c.version, d.c.key, v.c.artifacts).join(v, v.c.id == d.c.version)
    query = query.where(v.c.kb == app.kb, settled, d.c.kind == "artifact").order_by(d.c.version)
    with app.database.read() as tx:
        rows = tx.execute(query)
        old = [(row.version, row.key) for row in rows if row.key.startswith(MADE_ANEW) and _outdated(row)]
    for version, key in old:
        mine = (d.c.version == version) & (d.c.kind == "artifact") & (d.c.key == key)
        other = select(d.c.version).where(d.c.kind == "artifact", d.c.key == key, d.c.version != version).limit(1)
        with app.database.read() as tx:
            shared = tx.execute(other).first() is not None
        if not shared:
            app.artifacts.delete([key])
        with app.database.write() as tx:
            tx.execute(delete(d).where(mine))
    return len(old)


def _outdated(row: Any) -> bool:
    return bool(row.artifacts) and row.key not in row.artifacts.values()


def _drop_files(app: "App") -> int:
    """Raw files of no version: a scan was cut off between storing a file and writing its registry."""
    v, vc = tables.version, tables.version_chunk
    needed = v.c.state.not_in(("superseded", "removed")) | exists().where(vc.c.version == v.c.id)
    stored = list(app.artifacts.keys("raw/file/"))
    wanted: set[str] = set()
    with app.database.read() as tx:
        for part in parts([key.rpartition("/")[2] for key in stored]):
            wanted.update(tx.execute(select(v.c.sha256).where(v.c.sha256.in_(part), needed)).scalars())
        noted = select_in(tx, select(tables.derived.c.key), tables.derived.c.key, stored)  # attachments are files too
    orphans = [key for key in stored if key.rpartition("/")[2] not in wanted and key not in noted]
    app.artifacts.delete(orphans)
    return len(orphans)


def _drop_questions(app: "App") -> dict[str, int]:
    log, hit = tables.query_log, tables.query_hit
    before = app.clock() - app.settings.vacuum.query_days * 86400
    query = select(log.c.id).where(log.c.kb == app.kb, log.c.at < before).order_by(log.c.at).limit(PAGE)
    counts: Counter[str] = Counter()
    while True:
        with app.database.write() as tx:
            old = list(tx.execute(query).scalars())
            counts["query_hit"] += delete_in(tx, hit, hit.c.query, old)
            counts["query_log"] += delete_in(tx, log, log.c.id, old)
        if len(old) < PAGE:
            return dict(counts)
