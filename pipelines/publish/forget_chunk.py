"""Erasure of one passage: the document stays without it.

Its rows, facts and vector go. Raw file and parsed text of the versions that hold it go whole, for a passage cannot be
cut out of a file; the masked artifacts are written anew without it. The file at its source still has it: a sync refuses
that content, and any other that brings the passage back.
"""

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, delete, or_, select, update

from pipelines import corpus
from pipelines.errors import Code, SluiceError
from pipelines.publish.belongings import Belongings, belongings, blank_questions, delete_in, drop_rows
from pipelines.publish.collections import collections
from pipelines.publish.rows import select_in
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App

BY_CHUNK = (
    *(tables.version_chunk, tables.pii_finding, tables.entity, tables.relation, tables.query_hit, tables.overlay),
)


def erase_chunk(app: "App", chunk: str, versions: Sequence[str]) -> Counter[str]:
    """What went, by place. Doing it again, after a kill too, finds what is left."""
    counts: Counter[str] = Counter()
    with app.database.read() as tx:
        rows = sorted(tx.execute(select(tables.chunk.c.id).where(tables.chunk.c.chunk == chunk)).scalars())
        held = collections(tx, app.kb)
        gone = belongings(tx, versions, rows)
    for one in held:
        app.index().ensure(one.name, one.dimension)
        with app.database.lock(f"index-{app.kb}", wait=True):
            app.index().delete(one.name, rows)
        if app.index().fetch(one.name, rows):
            raise SluiceError(Code.ERASURE_INCOMPLETE, f"rows are still in {one.name}")
        counts[f"index {one.name}"] += len(rows)
    app.checkpoint("forget.index")
    counts["artifacts"] += erase_raw(app, versions)
    for version in versions:
        counts["artifacts"] += _cut(app, version, chunk)
        app.checkpoint("forget.artifacts")
    with app.database.write() as tx:
        counts.update(_drop(tx, app, chunk, gone))
    return counts


def erase_raw(app: "App", versions: Sequence[str]) -> int:
    """Delete what the raw zone holds of these versions alone; they say so afterwards. Returns how many artifacts."""
    with app.database.read() as tx:
        keys = [key for key in belongings(tx, versions, ()).artifacts if key.startswith("raw/")]
    app.artifacts.delete(keys)
    v, d = tables.version, tables.derived
    with app.database.write() as tx:
        for version in versions:
            artifacts = dict(tx.execute(select(v.c.artifacts).where(v.c.id == version)).scalar_one())
            artifacts.pop("parse", None)
            tx.execute(update(v).where(v.c.id == version).values(artifacts=artifacts))
        tx.execute(delete(d).where(d.c.version.in_(versions), d.c.kind == "artifact", d.c.key.startswith("raw/")))
    return len(keys)


def _cut(app: "App", version: str, chunk: str) -> int:
    """Masked text, scores and extractions of a version without the chunk, under new keys; then the old ones go."""
    v, d = tables.version, tables.derived
    with app.database.read() as tx:
        artifacts = dict(tx.execute(select(v.c.artifacts).where(v.c.id == version)).scalar_one())
        where = (d.c.version == version) & (d.c.kind == "artifact") & d.c.key.startswith("facts/")
        noted = set(tx.execute(select(d.c.key).where(where)).scalars())
    fresh: dict[str, str] = {}
    for key in sorted(noted):
        if app.artifacts.exists(key):
            found = json.loads(app.artifacts.get(key))
            kept = {name: _without(value, chunk) for name, value in found.items()}
            if kept != found:
                fresh[key] = key.replace(".json", f".{chunk[:8]}.json")
                app.artifacts.put(fresh[key], json.dumps(kept, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    with app.database.write() as tx:
        rows = [{"version": version, "kind": "artifact", "key": key} for key in fresh.values()]
        if rows:
            tx.execute(tables.insert_ignore(d), rows)
        artifacts = {layer: fresh.get(key, key) for layer, key in artifacts.items()}
        tx.execute(update(v).where(v.c.id == version).values(artifacts=artifacts))
    app.artifacts.delete(fresh)
    with app.database.write() as tx:
        delete_in(tx, d, d.c.key, list(fresh), (d.c.version == version) & (d.c.kind == "artifact"))
    return len(fresh)


def _without(value: Any, chunk: str) -> Any:
    if not isinstance(value, list):
        return value
    return [one for one in value if not (isinstance(one, dict) and chunk in (one.get("id"), one.get("chunk")))]


def _drop(tx: Connection, app: "App", chunk: str, gone: Belongings) -> dict[str, int]:
    link, vault, c, vc, d = tables.duplicate_link, tables.vault, tables.chunk, tables.version_chunk, tables.derived
    text = "".join(sorted(select_in(tx, select(c.c.text), c.c.id, gone.rows)))
    hashes = set(tx.execute(select(vc.c.content_hash).where(vc.c.chunk == chunk)).scalars())
    hashes |= select_in(tx, select(c.c.content_hash), c.c.id, gone.rows)
    counts = {"query_log": blank_questions(tx, [chunk], gone.rows)}
    counts |= {table.name: tx.execute(delete(table).where(table.c.chunk == chunk)).rowcount for table in BY_CHUNK}
    counts |= corpus.forget(tx, app, [chunk])
    clash = tables.conflict
    counts["conflict"] = tx.execute(delete(clash).where(or_(clash.c.a == chunk, clash.c.b == chunk))).rowcount
    counts["duplicate_link"] = tx.execute(delete(link).where(or_(link.c.a == chunk, link.c.b == chunk))).rowcount
    hashes -= select_in(tx, select(vc.c.content_hash), vc.c.content_hash, hashes)
    used = c.c.id.not_in(gone.rows)
    hashes -= set(tx.execute(select(c.c.content_hash).where(c.c.content_hash.in_(sorted(hashes)), used)).scalars())
    counts |= drop_rows(tx, app, Belongings(gone.versions, gone.rows, (), tuple(sorted(hashes)), (), ()))
    counts["llm_cache"] = delete_in(tx, tables.llm_cache, tables.llm_cache.c.key, gone.replies)
    delete_in(tx, d, d.c.key, gone.replies, d.c.kind == "llm")
    tokens = tx.execute(select(vault.c.token).where(vault.c.version.in_(gone.versions)).distinct()).scalars()
    kept = "".join(tx.execute(select(c.c.text).where(c.c.version.in_(gone.versions))).scalars())
    lost = [token for token in tokens if token in text and token not in kept]
    counts["vault"] = delete_in(tx, vault, vault.c.token, lost, vault.c.version.in_(gone.versions))
    return counts
