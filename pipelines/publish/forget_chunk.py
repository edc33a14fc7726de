"""Erasure of one passage: the document stays without it.

Its rows, facts and vector go. Raw file and parsed text of the versions that hold it go whole, for a passage cannot be
cut out of a file; the masked artifacts are written anew without it. The file at its source still has it: a sync refuses
that content, and any other that brings the passage back.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, delete, or_, select, update

from pipelines import corpus
from pipelines.errors import Code, SluiceError
from pipelines.publish.belongings import Belongings, belongings, blank_questions, delete_in, drop_rows
from pipelines.publish.collections import Collection, collections
from pipelines.publish.rows import select_in
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App

Note = Callable[[Connection, Mapping[str, int]], None]
"""Adds to the erasure's counts by place."""
BY_CHUNK = (
    *(tables.version_chunk, tables.pii_finding, tables.entity, tables.relation, tables.query_hit, tables.overlay),
)


def erase_chunk(app: "App", chunk: str, versions: Sequence[str], note: Note) -> None:
    """`note` is told what went in the transaction that makes it so: done again after a kill, nothing counts twice."""
    with app.database.read() as tx:
        rows = sorted(tx.execute(select(tables.chunk.c.id).where(tables.chunk.c.chunk == chunk)).scalars())
        held = collections(tx, app.kb)
        gone = belongings(tx, versions, rows)
    counts = delete_rows(app, held, rows)
    erase_raw(app, versions, note)
    for version in versions:
        _cut(app, version, chunk, note)
        app.checkpoint("forget.artifacts")
    with app.database.write() as tx:
        note(tx, counts | _drop(tx, app, chunk, gone))


def delete_rows(app: "App", held: Sequence[Collection], rows: Sequence[str]) -> dict[str, int]:
    """Out of every collection, with a read-back; how many, by place. Raises SluiceError(ERASURE_INCOMPLETE)."""
    counts: dict[str, int] = {}
    for one in held if rows else ():
        app.index().ensure(one.name, one.dimension)
        with app.database.lock(f"index-{app.kb}", wait=True):
            app.index().delete(one.name, rows)
        if left := list(app.index().states(one.name, rows)):
            raise SluiceError(Code.ERASURE_INCOMPLETE, f"{len(left)} rows are still in {one.name}")
        counts[f"index {one.name}"] = len(rows)
        app.checkpoint("forget.index")
    return counts


def erase_raw(app: "App", versions: Sequence[str], note: Note = lambda tx, counts: None) -> None:
    """Delete what the raw zone holds of these versions alone; they say so afterwards."""
    v, d = tables.version, tables.derived
    with app.database.read() as tx:
        keys = [key for key in belongings(tx, versions, ()).artifacts if key.startswith("raw/")]
    app.artifacts.delete(keys)
    with app.database.write() as tx:
        done = True
        for version in versions:
            artifacts = dict(tx.execute(select(v.c.artifacts).where(v.c.id == version)).scalar_one())
            done = artifacts.pop("parse", None) is None and done
            tx.execute(update(v).where(v.c.id == version).values(artifacts=artifacts))
        tx.execute(delete(d).where(d.c.version.in_(versions), d.c.kind == "artifact", d.c.key.startswith("raw/")))
        note(tx, {"artifacts": 0 if done else len(keys)})


def _cut(app: "App", version: str, chunk: str, note: Note) -> None:
    """Masked text, scores and extractions of a version without the chunk, under new keys; then the old ones go."""
    v, d = tables.version, tables.derived
    with app.database.read() as tx:
        artifacts = dict(tx.execute(select(v.c.artifacts).where(v.c.id == version)).scalar_one())
        where = (d.c.version == version) & (d.c.kind == "artifact") & d.c.key.startswith("facts/")
        noted = set(tx.execute(select(d.c.key).where(where)).scalars())
    fresh: dict[str, str] = {}
    for key in sorted(noted):
        without = key.replace(".json", f".{chunk[:8]}.json")
        if app.artifacts.exists(key):
            found = json.loads(app.artifacts.get(key))
            kept = {name: _without(value, chunk) for name, value in found.items()}
            if kept != found:
                fresh[key] = without
                app.artifacts.put(without, json.dumps(kept, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        elif without in noted:  # killed after the old one went
            fresh[key] = without
    with app.database.write() as tx:
        rows = [{"version": version, "kind": "artifact", "key": key} for key in fresh.values()]
        if rows:
            tx.execute(tables.insert_ignore(d), rows)
        artifacts = {layer: fresh.get(key, key) for layer, key in artifacts.items()}
        tx.execute(update(v).where(v.c.id == version).values(artifacts=artifacts))
    app.artifacts.delete(fresh)
    app.checkpoint("forget.cut")
    with app.database.write() as tx:
        delete_in(tx, d, d.c.key, list(fresh), (d.c.version == version) & (d.c.kind == "artifact"))
        note(tx, {"artifacts": len(fresh)})


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
