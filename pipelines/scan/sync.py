"""The effects of a scan: list a source, compare with the registry, store what is new, note what is gone."""

import tempfile
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Connection, select, update

from pipelines import ids, lifecycle
from pipelines.app import App
from pipelines.editions import discover, leave
from pipelines.errors import Code, Conflict, Rejected, SluiceError, Transient
from pipelines.names import Names, opened, placeholder
from pipelines.ports import SourceReader
from pipelines.review.keep import kept, note
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
    """Documents."""
    problems: list[tuple[str, Code, str]] = field(default_factory=list)
    """(uri, code, reason)"""
    sizes: dict[str, int] = field(default_factory=dict)
    """Bytes by SHA-256 of what was read: not every listing tells."""
    shown: dict[str, str] = field(default_factory=dict)
    """Uris of problems as people may see them."""
    error: SluiceError | None = None

    def report(self) -> dict[str, Any]:
        """Numbers and codes, without a name."""
        made = self.plan
        seen = {"seen": made.seen, "opened": made.opened, "hashed": made.hashed, "new": len(made.new)} if made else {}
        if made:
            seen |= {"changed": len(made.changed), "renamed": len(made.renamed), "removed": len(self.removed)}
        error = {"code": self.error.code.value, "reason": self.error.reason} if self.error else None
        trip = self.trip.model_dump() if self.trip else None
        return {"source": self.source, **seen, "problems": len(self.problems), "trip": trip, "error": error}


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
    names = Names(app, source)
    tokens = _tokens(app, source.name)
    entry = partial(_entry, app, source.name)

    def uri_of(key: str) -> str:
        return opened(app, entry(key).name_sealed)

    files = reader.files()
    if glob is not None:
        files = (one for one in files if fnmatch(one.uri, glob))
        tokens = {key: token for key, token in tokens.items() if fnmatch(uri_of(key), glob)}
    if erased["place"]:
        files = _without_erased(files, names, erased["place"], result)
    read = partial(_store, app, reader, result, erased["content"])
    try:
        made = plan(
            dict.fromkeys(tokens, "") if full else tokens,
            lambda key: Known(*entry(key)[:2]),
            files,
            read,
            held=lambda: [uri for uri, _, _ in (*reader.problems, *result.problems)],
            key=names.key,
            uri_of=uri_of,
        )
    except SluiceError as error:
        away = error.code is Code.SCAN_SOURCE_DOWN
        if isinstance(error, Transient) and not away:
            raise
        # Nothing of a listing that did not come to its end counts: no file of it, and no deletion.
        result.error = error
        if tokens and not away:
            kind: Literal["permission_lost", "empty"] = "empty"
            if error.code is Code.SCAN_SOURCE_DENIED:
                kind = "permission_lost"
            result.trip = BreakerTrip(source=source.name, kind=kind, would_remove=len(tokens), reason=error.reason)
        return result
    result.problems = [*reader.problems, *result.problems]
    result.plan = made
    removed = made.removed
    tripped = breaker(made, source)
    if tripped and not confirm:
        result.trip, removed = tripped, ()
    result.removed = [entry(key).id for key in removed]
    _write(app, source, names, run, made, result, confirm=confirm)
    return result


def _tokens(app: App, source: str) -> dict[str, str]:
    """Token by key of the uri."""
    d = tables.document
    query = select(d.c.name_key, d.c.token).where(d.c.kb == app.kb, d.c.source == source, d.c.present.is_(True))
    query = query.where(d.c.parent.is_(None))
    with app.database.read() as tx:
        return dict(app.database.tuples(tx, query))


def _entry(app: App, source: str, key: str) -> Any:
    d = tables.document
    mine = (d.c.kb == app.kb) & (d.c.source == source) & (d.c.name_key == key) & d.c.present.is_(True)
    with app.database.read() as tx:
        return tx.execute(select(d.c.id, d.c.sha256, d.c.name_sealed).where(mine)).one()


def _without_erased(
    listed: Iterator[SourceFile], names: Names, places: Collection[str], result: Scan
) -> Iterator[SourceFile]:
    """Files whose documents were erased are not opened. They are named by their keys: a file's name is content too."""
    for one in listed:
        place = names.key(one.uri)
        if place in places:
            result.problems.append((place, Code.FORGOTTEN, "erased on request; delete it at its source"))
        else:
            yield one


def _store(app: App, reader: SourceReader, result: Scan, erased: Collection[str], uri: str) -> str:
    """Stream one file into the raw zone and return its SHA-256; '' when it cannot be read or was erased."""
    try:
        with reader.open(uri) as stream, tempfile.NamedTemporaryFile(prefix="sluice-") as copy:
            sha = hash_stream(stream, copy)
            copy.flush()
            if sha in erased:
                result.problems.append((uri, Code.FORGOTTEN, "this content was erased on request"))
                return ""
            result.sizes[sha] = copy.tell()
            app.artifacts.put_file(f"raw/file/{sha}", Path(copy.name))
            return sha
    except Rejected as error:
        result.problems.append((uri, error.code, error.reason))
        return ""
    except OSError as error:
        result.problems.append((uri, Code.SCAN_UNREADABLE, error.strerror or "cannot be read"))
        return ""


def _write(app: App, source: Source, names: Names, run: str, made: Plan, result: Scan, *, confirm: bool) -> None:
    """The registry follows in one transaction for each source: killed before it, the next scan does it again."""
    renamed = {one.file.uri: names.shown(one.file.uri) for one in made.renamed}
    result.shown = {uri: uri if code is Code.FORGOTTEN else names.shown(uri) for uri, code, _ in result.problems}
    with app.database.write() as tx:
        key = (tables.source.c.kb == app.kb) & (tables.source.c.name == source.name)
        acl = tx.execute(select(tables.source.c.acl).where(key)).scalar_one()
        for one in _sized(made.new, result):
            document = _document(tx, app, source, names, one, acl)
            _discover(tx, app, document, one, run)
        for one in _sized(made.changed, result):
            _seen(tx, app, names, str(one.document), one)
            _discover(tx, app, str(one.document), one, run)
        for one in _sized((*made.touched, *made.renamed), result):
            _seen(tx, app, names, str(one.document), one, renamed.get(one.file.uri))
        leave(tx, app, result.removed, "no longer at its source")
        if confirm:
            _end_keeps(tx, app, source)
        _note_problems(tx, app, source, result)
        tx.execute(update(tables.source).where(key).values(synced=app.clock()))
    app.checkpoint("scanned")


def _sized(found: Iterable[Found], result: Scan) -> Iterator[Found]:
    return (replace(one, file=one.file._replace(size=result.sizes[one.sha256])) for one in found)


def _document(tx: Connection, app: App, source: Source, names: Names, one: Found, acl: int) -> str:
    """The document at this uri: one that was gone comes back; one that was renamed away leaves room for another."""
    d = tables.document
    generation = 0
    while True:
        document = ids.document_id(app.key, app.kb, source.name, one.file.uri, generation)
        held = tx.execute(select(d.c.name_key, d.c.present).where(d.c.id == document)).first()
        if held is None:
            break
        if held.name_key == names.key(one.file.uri) and not held.present:
            _seen(tx, app, names, document, one)
            return document
        generation += 1
    shown = placeholder(document, one.file.uri)
    row = {"id": document, "kb": app.kb, "source": source.name, "acl": acl}
    tx.execute(d.insert().values(**row, **_values(app, names, one, shown)))
    return document


def _seen(tx: Connection, app: App, names: Names, document: str, one: Found, shown: str | None = None) -> None:
    values = _values(app, names, one, shown)
    tx.execute(update(tables.document).where(tables.document.c.id == document).values(**values))


def _values(app: App, names: Names, one: Found, shown: str | None) -> dict[str, Any]:
    file = one.file
    return {
        **({"uri": shown[:2048]} if shown else {}),
        "name_key": names.key(file.uri),
        "name_sealed": names.sealed(file.uri),
        "token": file.token,
        "sha256": one.sha256,
        "size": file.size,
        "present": True,
        "seen": app.clock(),
    }


def _discover(tx: Connection, app: App, document: str, one: Found, run: str) -> None:
    # Not the file's name, which may hold personal data.
    why = f"a file of {one.file.size} bytes"
    discover(tx, app, document, one.sha256, placeholder(document, one.file.uri), run, why)


def _end_keeps(tx: Connection, app: App, source: Source) -> None:
    """Who confirms deletions overrules what was decided to be kept although its file is gone."""
    d = tables.document
    gone = select(d.c.id).where(d.c.kb == app.kb, d.c.source == source.name, d.c.present.is_(False))
    for document in sorted(kept(tx, app.kb) & set(tx.execute(gone).scalars())):
        note(tx, app, "document", document, "remove", "deletions were confirmed")


def _note_problems(tx: Connection, app: App, source: Source, result: Scan) -> None:
    """Files that could not be listed or read: the standing problems of the source are replaced by today's."""
    table = tables.rejection
    mine = (table.c.kb == app.kb) & (table.c.source == source.name) & (table.c.layer == "scan")
    tx.execute(update(table).where(mine).values(standing=False))
    subjects = {uri: ids.document_id(app.key, app.kb, source.name, uri) for uri, _, _ in result.problems}
    rows = [
        {
            "kb": app.kb,
            "subject": subjects[uri],
            "document": subjects[uri],
            "source": source.name,
            "uri": result.shown[uri][:2048],
            "layer": "scan",
            "code": code.value,
            "reason": reason,
            "at": app.clock(),
            "standing": True,
        }
        for uri, code, reason in result.problems
    ]
    if rows:
        tx.execute(table.insert(), rows)
