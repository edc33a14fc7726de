"""The effects of a scan: list a source, compare with the registry, store what is new, note what is gone."""

import tempfile
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, select, update

from pipelines import ids, lifecycle
from pipelines.app import App
from pipelines.errors import Code, Conflict, SluiceError
from pipelines.scan.plan import BreakerTrip, Found, Known, Plan, breaker, hash_stream, plan
from schemas.source import Source, SourceFile
from sql import tables


@dataclass
class Scan:
    """What one source's scan found and did."""

    source: str
    plan: Plan | None = None
    trip: BreakerTrip | None = None
    removed: list[str] = field(default_factory=list)
    problems: list[tuple[str, Code, str]] = field(default_factory=list)
    error: SluiceError | None = None


def access_set(tx: Connection, principals: tuple[str, ...]) -> int:
    """The number of an access set, made when it is new."""
    text = ",".join(principals)
    table = tables.access_set
    found = tx.execute(select(table.c.id).where(table.c.principals == text)).scalar()
    if found is None:
        tx.execute(tables.insert_ignore(table), {"principals": text})
        found = tx.execute(select(table.c.id).where(table.c.principals == text)).scalar_one()
    return int(found)


def register(app: App, source: Source) -> None:
    """Write the source's entry; changed rights hold from this transaction on."""
    with app.database.write() as tx:
        acl = access_set(tx, source.readers())
        key = (tables.source.c.kb == app.kb) & (tables.source.c.name == source.name)
        before = tx.execute(select(tables.source).where(key)).mappings().first()
        values = {"config": source.model_dump(mode="json"), "acl": acl}
        if before is None:
            tx.execute(tables.source.insert().values(kb=app.kb, name=source.name, **values))
            lifecycle.record(tx, app.kb, app.actor, "source.added", "source", source.name, "in sources.yaml")
        elif before["config"] != values["config"] or before["acl"] != acl:
            tx.execute(update(tables.source).where(key).values(**values))
            mine = (tables.document.c.kb == app.kb) & (tables.document.c.source == source.name)
            tx.execute(update(tables.document).where(mine).values(acl=acl))
            lifecycle.record(tx, app.kb, app.actor, "source.changed", "source", source.name, "sources.yaml changed")


def scan(app: App, source: Source, run: str, *, full: bool, confirm: bool, glob: str | None = None) -> Scan:
    """List, compare, store new content in the raw zone, write the registry. Removals stop at the breaker."""
    result = Scan(source=source.name)
    with app.database.read() as tx:
        erased = {kind: lifecycle.tombstones(tx, app.kb, kind) for kind in ("source", "place", "content")}
    if source.name in erased["source"]:
        result.error = Conflict(Code.FORGOTTEN, "the whole source was erased on request")
        return result
    register(app, source)
    reader = app.reader(source)
    known = _known(app, source.name)
    try:
        listed = list(reader.files())
    except SluiceError as error:
        result.error = error
        if known:
            kind = "permission_lost" if error.code is Code.SCAN_SOURCE_DENIED else "empty"
            result.trip = BreakerTrip(source=source.name, kind=kind, would_remove=len(known), reason=error.reason)
        return result
    result.problems = [(one[0], one[1], one[2]) for one in getattr(reader, "problems", ())]
    listed = _without_erased(app, source, listed, erased["place"], result)
    if glob is not None:
        listed = [one for one in listed if fnmatch(one.uri, glob)]
        known = {uri: one for uri, one in known.items() if fnmatch(uri, glob)}

    def keep(uri: str) -> str:
        return _store(app, reader, uri, erased["content"], result)

    made = plan(_forced(known) if full else known, listed, keep, [uri for uri, _, _ in result.problems])
    result.plan = made
    removed = made.removed
    tripped = breaker(made, source)
    if tripped and not confirm:
        result.trip, removed = tripped, ()
    result.removed = list(removed)
    _write(app, source, run, made, known, result)
    return result


def _forced(known: dict[str, Known]) -> dict[str, Known]:
    return {uri: Known(document=one.document, token="", sha256=one.sha256) for uri, one in known.items()}


def _known(app: App, source: str) -> dict[str, Known]:
    d = tables.document
    query = select(d.c.uri, d.c.id, d.c.token, d.c.sha256).where(
        d.c.kb == app.kb, d.c.source == source, d.c.present.is_(True)
    )
    with app.database.read() as tx:
        return {uri: Known(document=id_, token=token, sha256=sha) for uri, id_, token, sha in tx.execute(query)}


def _without_erased(
    app: App, source: Source, listed: list[SourceFile], places: set[str], result: Scan
) -> list[SourceFile]:
    """Files whose documents were erased are not opened. They are named by their ids: a file's name is content too."""
    kept = []
    for one in listed if places else ():
        place = ids.document_id(app.kb, source.name, one.uri)
        if place in places:
            result.problems.append((place, Code.FORGOTTEN, "erased on request; delete it at its source"))
        else:
            kept.append(one)
    return kept if places else listed


def _store(app: App, reader: Any, uri: str, erased: set[str], result: Scan) -> str:
    """Stream one file into the raw zone and return its SHA-256; '' when it cannot be read or was erased."""
    try:
        with reader.open(uri) as stream, tempfile.NamedTemporaryFile(prefix="sluice-") as copy:
            sha = hash_stream(stream, copy)
            copy.flush()
            if sha in erased:
                result.problems.append((uri, Code.FORGOTTEN, "this content was erased on request"))
                return ""
            app.artifacts.put_file(f"raw/file/{sha}", Path(copy.name))
            return sha
    except SluiceError as error:
        result.problems.append((uri, error.code, error.reason))
        return ""
    except OSError as error:
        result.problems.append((uri, Code.SCAN_UNREADABLE, error.strerror or "cannot be read"))
        return ""


def _write(app: App, source: Source, run: str, made: Plan, known: dict[str, Known], result: Scan) -> None:
    """The registry follows in one transaction for each source: killed before it, the next scan does it again."""
    with app.database.write() as tx:
        key = (tables.source.c.kb == app.kb) & (tables.source.c.name == source.name)
        acl = tx.execute(select(tables.source.c.acl).where(key)).scalar_one()
        for one in made.new:
            document = _new_document(tx, app, source, one, acl)
            _discover(tx, app, document, one, run)
        for one in made.changed:
            _seen(tx, app, str(one.document), one)
            _discover(tx, app, str(one.document), one, run)
        for one in (*made.touched, *made.renamed):
            _seen(tx, app, str(one.document), one)
        for uri in result.removed:
            where = tables.document.c.id == known[uri].document
            tx.execute(update(tables.document).where(where).values(present=False, seen=app.clock()))
            reason = "no longer at its source"
            lifecycle.record(tx, app.kb, app.actor, "document.gone", "document", known[uri].document, reason)
        _note_problems(tx, app, source, result)
        tx.execute(update(tables.source).where(key).values(synced=app.clock()))
    app.checkpoint("scanned")


def _new_document(tx: Connection, app: App, source: Source, one: Found, acl: int) -> str:
    """The document at this uri: one that was gone comes back; one that was renamed away leaves room for another."""
    d = tables.document
    generation = 0
    while True:
        document = ids.document_id(app.kb, source.name, one.file.uri, generation)
        row = tx.execute(select(d.c.uri, d.c.present).where(d.c.id == document)).first()
        if row is None:
            break
        if row.uri == one.file.uri and not row.present:
            _seen(tx, app, document, one)
            return document
        generation += 1
    tx.execute(
        d.insert().values(
            id=document,
            kb=app.kb,
            source=source.name,
            uri=one.file.uri,
            token=one.file.token,
            sha256=one.sha256,
            size=one.file.size,
            acl=acl,
            present=True,
            seen=app.clock(),
        )
    )
    return document


def _seen(tx: Connection, app: App, document: str, one: Found) -> None:
    values = {
        "uri": one.file.uri,
        "token": one.file.token,
        "sha256": one.sha256,
        "size": one.file.size,
        "present": True,
        "seen": app.clock(),
    }
    tx.execute(update(tables.document).where(tables.document.c.id == document).values(**values))


def _discover(tx: Connection, app: App, document: str, one: Found, run: str) -> None:
    """A version of this content: made new, or taken up again when the content has come back."""
    v = tables.version
    version = ids.version_id(document, one.sha256)
    held = tx.execute(select(v.c.state).where(v.c.id == version)).scalar()
    if held is not None:
        if held in ("superseded", "removed"):
            reason = "the content has come back"
            lifecycle.move_version(tx, version, held, "in_progress", app.actor, reason)
        return
    newest = tx.execute(select(func.max(v.c.number)).where(v.c.document == document)).scalar() or 0
    parent = tx.execute(select(v.c.id).where(v.c.document == document, v.c.number == newest)).scalar()
    tx.execute(
        v.insert().values(
            id=version,
            kb=app.kb,
            document=document,
            number=newest + 1,
            parent=parent,
            sha256=one.sha256,
            uri=one.file.uri,
            title="",
            language="und",
            dated=None,
            state="discovered",
            layer="scan",
            artifacts={},
            facts={},
            ingested_by=app.actor,
            run=run,
            created=app.clock(),
        )
    )
    lifecycle.record(tx, app.kb, app.actor, "version.discovered", "version", version, _size(one))


def _size(one: Found) -> str:
    # Not the file's name, which may hold personal data.
    return f"a file of {one.file.size} bytes"


def _note_problems(tx: Connection, app: App, source: Source, result: Scan) -> None:
    """Files that could not be listed or read: the standing problems of the source are replaced by today's."""
    table = tables.rejection
    mine = (table.c.kb == app.kb) & (table.c.source == source.name) & (table.c.layer == "scan")
    tx.execute(update(table).where(mine).values(standing=False))
    rows = [
        {
            "kb": app.kb,
            "subject": ids.document_id(app.kb, source.name, uri),
            "document": ids.document_id(app.kb, source.name, uri),
            "source": source.name,
            "uri": uri,
            "layer": "scan",
            "code": str(code),
            "reason": reason,
            "at": app.clock(),
            "standing": True,
        }
        for uri, code, reason in result.problems
    ]
    if rows:
        tx.execute(table.insert(), rows)
