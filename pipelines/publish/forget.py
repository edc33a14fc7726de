"""Erasure: all that was made from a document goes, everywhere, and a certificate says what went.

start (readers see nothing of it from here on) -> batches (index, artifacts, SQL) -> scrub files -> certificate.
Killed anywhere, the same call, or the next erasure or vacuum, goes on.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import Connection, delete, func, select, update

from pipelines import corpus, lifecycle
from pipelines.errors import Code, SluiceError
from pipelines.lease import held_by_process
from pipelines.publish.belongings import (
    Belongings,
    belongings,
    blank_questions,
    delete_in,
    drop_facts,
    drop_rows,
    parts,
)
from pipelines.publish.collections import collections
from pipelines.publish.forget_chunk import BY_CHUNK, delete_rows, erase_chunk
from pipelines.publish.publish import recover
from pipelines.publish.reembed import drop, rebuild
from pipelines.publish.rows import linked, live_release, select_in
from pipelines.review.quarantine import check_known, impact
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App

Kind = Literal["document", "source", "version", "chunk"]
BATCH = 50
"""Versions whose traces go in one step."""


def forget(app: "App", kind: Kind, subject: str, reason: str) -> dict[str, Any]:
    """The certificate. Doing it twice gives the first one again.

    Raises Conflict (UNKNOWN_SUBJECT, LOCKED), SluiceError(ERASURE_INCOMPLETE).
    """
    with locked(app):
        resume(app)
        with app.database.write() as tx:
            number = _done_before(tx, app, kind, subject) or _start(tx, app, kind, subject, reason)
        app.checkpoint("forget.started")
        return _finish(app, number)


def locked(app: "App") -> ExitStack:
    """Nobody else scans, publishes or re-embeds meanwhile. Raises Conflict(LOCKED)."""
    with ExitStack() as stack:
        stack.enter_context(held_by_process(app, "sync"))
        for name in ("publish", "reembed"):
            stack.enter_context(app.database.lock(f"{name}-{app.kb}"))
        recover(app)
        return stack.pop_all()


def resume(app: "App") -> list[int]:
    """Finish what a crash left. The caller holds the locks."""
    table = tables.erasure
    with app.database.read() as tx:
        left = select(table.c.id).where(table.c.kb == app.kb, table.c.state == "started").order_by(table.c.id)
        found = list(tx.execute(left).scalars())
    for number in found:
        _finish(app, number)
    return found


def _done_before(tx: Connection, app: "App", kind: str, subject: str) -> Any:
    """The erasure that took the subject away; none when it is (again) there."""
    homes = {"document": tables.document.c.id, "version": tables.version.c.id, "source": tables.source.c.name}
    home = homes.get(kind, tables.version_chunk.c.chunk)
    if tx.execute(select(home).where(home == subject)).first():
        return None
    table = tables.erasure
    where = (table.c.kb == app.kb) & (table.c.kind == kind) & (table.c.subject == subject)
    return tx.execute(select(func.max(table.c.id)).where(where)).scalar()


# --- start -------------------------------------------------------------------------------------------------------


def _start(tx: Connection, app: "App", kind: Kind, subject: str, reason: str) -> int:
    """Plan, tombstones and denial in one transaction: from here on no reader sees it, and no sync brings it back."""
    check_known(tx, app.kb, kind, subject)
    found = impact(tx, app.kb, kind, subject)
    used = {"chunks": found.chunks, "queries": found.queries, "users": found.users}
    documents, versions = _scope(tx, app, kind, subject)
    shas = select_in(tx, select(tables.version.c.sha256), tables.version.c.id, versions)
    copies = _copies(tx, shas, versions)
    plan = {
        "documents": documents,
        "versions": versions,
        "contents": sorted(shas),
        "copies": sorted(copies),
        "impact": used,
    }
    values = {"kb": app.kb, "kind": kind, "subject": subject, "actor": app.actor, "reason": reason}
    row = {**values, "at": app.clock(), "state": "started", "plan": plan, "counts": {}}
    (number,) = tx.execute(tables.erasure.insert().values(**row)).inserted_primary_key or (0,)
    _bury(tx, app, number, kind, subject, documents, versions)
    tx.execute(tables.insert_ignore(tables.deny), {**values, "at": app.clock()})
    _unsettle(tx, app, documents, versions)
    lifecycle.record(tx, app.kb, app.actor, "forget.started", kind, subject, reason, erasure=number, **used)
    return int(number)


def _scope(tx: Connection, app: "App", kind: Kind, subject: str) -> tuple[list[str], list[str]]:
    """Documents that go whole, and all versions that go."""
    d, v = tables.document, tables.version
    if kind == "version":
        return [], [subject]
    if kind == "chunk":
        holding = select(tables.version_chunk.c.version).where(tables.version_chunk.c.chunk == subject)
        return [], sorted(tx.execute(holding).scalars())
    column = d.c.id if kind == "document" else d.c.source
    documents = set(tx.execute(select(d.c.id).where(d.c.kb == app.kb, column == subject)).scalars())
    inside = documents
    while inside := select_in(tx, select(d.c.id), d.c.parent, inside) - documents:  # attachments, and those in them
        documents |= inside
    return sorted(documents), sorted(select_in(tx, select(v.c.id), v.c.document, documents))


def _copies(tx: Connection, shas: set[str], versions: Sequence[str]) -> set[str]:
    """Other documents of the same content: they are not erased, and the certificate says so."""
    v, own = tables.version, set(versions)
    found: set[str] = set()
    for part in parts(sorted(shas)):
        rows = tx.execute(select(v.c.id, v.c.document).where(v.c.sha256.in_(part)))
        found.update(document for version, document in rows if version not in own)
    return found


def _bury(
    tx: Connection, app: "App", number: int, kind: str, subject: str, documents: list[str], versions: list[str]
) -> None:
    """Tombstones: by document, by its place, by version, and by content that no other document has."""
    d, v = tables.document, tables.version
    rows = [("document", one) for one in documents]
    rows += [("version", one) for one in versions if kind != "chunk"]
    rows += [(kind, subject)] if kind in ("source", "chunk") else []
    for part in parts(documents):
        rows += [("place", key) for key in tx.execute(select(d.c.name_key).where(d.c.id.in_(part))).scalars()]
    own = set(versions)
    shas = select_in(tx, select(v.c.sha256), v.c.id, own)
    for part in parts(sorted(shas)):
        others = {
            sha for sha, id_ in tx.execute(select(v.c.sha256, v.c.id).where(v.c.sha256.in_(part))) if id_ not in own
        }
        rows += [("content", sha) for sha in part if sha not in others]
    values = [{"kb": app.kb, "kind": one, "subject": what, "erasure": number} for one, what in rows]
    if values:
        tx.execute(tables.insert_ignore(tables.tombstone), values)


def _unsettle(tx: Connection, app: "App", documents: list[str], versions: list[str]) -> None:
    """A document whose text was shown through the erased one shows again with the next publication."""
    homes = select_in(tx, select(tables.version.c.document), tables.version.c.id, versions)
    found = linked(tx, homes) - set(documents)
    if found:
        values = [{"kb": app.kb, "document": one} for one in sorted(found)]
        tx.execute(tables.insert_ignore(tables.unsettled), values)


# --- batches -----------------------------------------------------------------------------------------------------


def _finish(app: "App", number: int) -> dict[str, Any]:
    table = tables.erasure
    with app.database.read() as tx:
        row = tx.execute(select(table).where(table.c.id == number)).one()
    if row.state == "started":
        (_erase_chunk if row.kind == "chunk" else _erase_versions)(app, row)
        app.checkpoint("forget.dropped")
        _certify(app, row, scrub(app))
        app.checkpoint("forget.certified")
    with app.database.read() as tx:
        row = tx.execute(select(table).where(table.c.id == number)).one()
        live = live_release(tx, app.kb)
    return {
        "schema": "sluice.forget/1",
        "subject": {"kind": row.kind, "id": row.subject},
        "impact": row.plan["impact"],
        "release": live,
        "certificate": row.certificate,
    }


def _erase_chunk(app: "App", row: Any) -> None:
    with app.database.read() as tx:
        alive = sorted(select_in(tx, select(tables.version.c.id), tables.version.c.id, row.plan["versions"]))
    erase_chunk(app, row.subject, alive, lambda tx, counts: _count(tx, row.id, counts))
    with app.database.write() as tx:
        _drop_denial(tx, app, row)


def _erase_versions(app: "App", row: Any) -> None:
    for part in parts(row.plan["versions"], BATCH):
        with app.database.read() as tx:
            alive = sorted(select_in(tx, select(tables.version.c.id), tables.version.c.id, part))
        if alive:
            _erase(app, row.id, alive, row.plan["documents"])
    with app.database.write() as tx:
        _drop_documents(tx, app, row.id, row)


def _erase(app: "App", number: int, versions: list[str], documents: Sequence[str]) -> None:
    """Out of the index, out of the store, then out of SQL, which is what tells a later run that it is done."""
    with app.database.read() as tx:
        gone = belongings(tx, versions, _rows(tx, versions, documents))
        held = collections(tx, app.kb)
    counts: Counter[str] = Counter(delete_rows(app, held, gone.rows))
    app.artifacts.delete(gone.artifacts)
    if kept := [key for key in gone.artifacts if app.artifacts.exists(key)]:
        raise SluiceError(Code.ERASURE_INCOMPLETE, f"{len(kept)} artifacts are still in the store")
    counts["artifacts"] += len(gone.artifacts)
    app.checkpoint("forget.artifacts")
    with app.database.write() as tx:
        counts.update({"query_log": blank_questions(tx, gone.chunks, gone.rows)})
        counts.update(drop_rows(tx, app, gone))
        counts.update(drop_facts(tx, app, gone))
        counts.update(_drop_traces(tx, app, gone))
        _count(tx, number, counts)
    app.checkpoint("forget.batch")


def _rows(tx: Connection, versions: list[str], documents: Sequence[str]) -> set[str]:
    """Index rows of the versions: of documents that go whole all, else those whose content no other version has."""
    c, v, vc = tables.chunk, tables.version, tables.version_chunk
    homes = select_in(tx, select(v.c.document), v.c.id, versions)
    whole = homes & set(documents)
    found = select_in(tx, select(c.c.id), c.c.document, whole)
    for document in sorted(homes - whole):
        query = select(vc.c.chunk, vc.c.content_hash).join(v, v.c.id == vc.c.version).where(v.c.document == document)
        kept = {tuple(row) for row in tx.execute(query.where(vc.c.version.not_in(versions)))}
        rows = tx.execute(select(c.c.id, c.c.chunk, c.c.content_hash).where(c.c.document == document))
        found.update(row.id for row in rows if (row.chunk, row.content_hash) not in kept)
    return found


def _drop_traces(tx: Connection, app: "App", gone: Belongings) -> dict[str, int]:
    """What other tables say about the versions and their chunks."""
    v, shown, item, hit = tables.version, tables.document_release, tables.release_item, tables.query_hit
    deny, rejection = tables.deny, tables.rejection
    counts = {
        "query_hit": delete_in(tx, hit, hit.c.chunk, gone.chunks),
        "document_release": delete_in(tx, shown, shown.c.version, gone.versions),
        "release_item": delete_in(tx, item, item.c.version, gone.versions, item.c.kb == app.kb)
        + delete_in(tx, item, item.c.previous, gone.versions, (item.c.kb == app.kb) & item.c.version.is_(None)),
        "rejection": delete_in(tx, rejection, rejection.c.subject, gone.versions),
        "deny": delete_in(tx, deny, deny.c.subject, (*gone.chunks, *gone.versions), deny.c.kb == app.kb),
        "version": delete_in(tx, v, v.c.id, gone.versions),
    }
    for part in parts(gone.versions):
        tx.execute(update(v).where(v.c.parent.in_(part)).values(parent=None))
        tx.execute(update(item).where(item.c.previous.in_(part)).values(previous=None))
    return counts


def _drop_documents(tx: Connection, app: "App", number: int, row: Any) -> None:
    d, documents = tables.document, row.plan["documents"]
    deny, listed = tables.deny, tables.release_row
    both = (deny.c.kb == app.kb) & (deny.c.kind == "document")
    counts = {
        table.name: delete_in(tx, table, table.c.document, documents)
        for table in (
            tables.query_hit,
            tables.document_release,
            tables.release_item,
            tables.rejection,
            tables.unsettled,
        )
    }
    for column in (tables.conflict.c.document_a, tables.conflict.c.document_b):
        counts["conflict"] = counts.get("conflict", 0) + delete_in(tx, tables.conflict, column, documents)
    counts["deny"] = delete_in(tx, deny, deny.c.subject, documents, both)
    whole = (listed.c.kb == app.kb) & (listed.c.operation == "document")
    counts["release_row"] = delete_in(tx, listed, listed.c.row, documents, whole)
    counts["document"] = delete_in(tx, d, d.c.id, documents, d.c.kb == app.kb)
    counts["deny"] += _drop_denial(tx, app, row)
    if row.kind == "source":
        where = (tables.source.c.kb == app.kb) & (tables.source.c.name == row.subject)
        counts["source"] = tx.execute(delete(tables.source).where(where)).rowcount
    _count(tx, number, counts)


def _drop_denial(tx: Connection, app: "App", row: Any) -> int:
    deny = tables.deny
    named = (deny.c.kb == app.kb) & (deny.c.kind == row.kind) & (deny.c.subject == row.subject)
    return tx.execute(delete(deny).where(named)).rowcount


def _count(tx: Connection, number: int, more: Mapping[str, int]) -> None:
    table = tables.erasure
    before = tx.execute(select(table.c.counts).where(table.c.id == number)).scalar_one()
    total = Counter(before)
    total.update(more)
    tx.execute(update(table).where(table.c.id == number).values(counts=dict(sorted(total.items()))))


# --- scrub, certificate ------------------------------------------------------------------------------------------


def scrub(app: "App") -> dict[str, str]:
    """Deleted rows leave the files as well; says how, for each store. The caller holds the locks."""
    with app.database.read() as tx:
        held = collections(tx, app.kb)
    done = "nothing to do"
    if held:
        purged = [app.index().purge(one.name) for one in held]
        done = "compaction asked for" if all(purged) else "copied into a new collection"
        if not all(purged):
            rebuild(app, "deleted rows leave the files")
            with app.database.read() as tx:
                drop(app, [one for one in collections(tx, app.kb) if one.state != "live"])
    corpus.purge(app)
    return {"index": done, "database": app.database.scrub(table.name for table in tables.metadata.sorted_tables)}


def _certify(app: "App", row: Any, scrubbed: dict[str, str]) -> None:
    table = tables.erasure
    with app.database.write() as tx:
        counts = tx.execute(select(table.c.counts).where(table.c.id == row.id)).scalar_one()
        left = _left_of_chunk(tx, row.subject) if row.kind == "chunk" else _left(tx, row.plan)
        if any(left.values()):
            raise SluiceError(Code.ERASURE_INCOMPLETE, f"still there: {left}")
        certificate = {
            "schema": "sluice.certificate/1",
            "erasure": row.id,
            "kb": app.kb,
            "subject": {"kind": row.kind, "id": row.subject},
            "actor": row.actor,
            "reason": row.reason,
            "started": row.at,
            "finished": app.clock(),
            "documents": row.plan["documents"],
            "versions": row.plan["versions"],
            "contents": row.plan["contents"],
            "deleted": {place: number for place, number in counts.items() if number},
            "left": left,
            "scrubbed": scrubbed,
            "copies": row.plan["copies"],
            "backups": list(app.settings.backups),
        }
        seal = hashlib.sha256(json.dumps(certificate, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
        detail = {"erasure": row.id, "certificate": seal}
        lifecycle.record(tx, app.kb, app.actor, "forget.done", row.kind, row.subject, row.reason, **detail)
        values = {"state": "done", "certificate": certificate | {"sha256": seal}}
        tx.execute(update(table).where(table.c.id == row.id).values(**values))


def _left(tx: Connection, plan: dict[str, Any]) -> dict[str, int]:
    """Read-back: what the tables still hold of it."""
    v, vc, c, d, shown = tables.version, tables.version_chunk, tables.chunk, tables.derived, tables.document_release
    versions, documents = plan["versions"], plan["documents"]
    found = {
        "version": select_in(tx, select(v.c.id), v.c.id, versions),
        "version_chunk": select_in(tx, select(vc.c.chunk), vc.c.version, versions),
        "derived": select_in(tx, select(d.c.key), d.c.version, versions),
        "document_release": select_in(tx, select(shown.c.version), shown.c.version, versions),
        "chunk": select_in(tx, select(c.c.id), c.c.document, documents),
        "document": select_in(tx, select(tables.document.c.id), tables.document.c.id, documents),
    }
    return {place: len(rows) for place, rows in found.items()}


def _left_of_chunk(tx: Connection, chunk: str) -> dict[str, int]:
    """Read-back: what the tables still hold of it."""
    places = (tables.chunk, *BY_CHUNK)
    return {
        table.name: tx.execute(select(func.count()).select_from(table).where(table.c.chunk == chunk)).scalar_one()
        for table in places
    }
