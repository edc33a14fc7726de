"""The effects of a scan: list a source, compare with the registry, store what is new, note what is gone."""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import func, select, update

from pipelines import ids, lifecycle
from pipelines.app import App
from pipelines.errors import Code, SluiceError
from pipelines.scan.plan import BreakerTrip, Known, Plan, breaker, hash_stream, plan
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


def access_set(tx: Any, principals: tuple[str, ...]) -> int:
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
    result.problems = list(getattr(reader, "problems", ()))
    if glob is not None:
        listed = [one for one in listed if Path(one.uri).match(glob)]
        known = {uri: one for uri, one in known.items() if Path(uri).match(glob)}
    held = {uri for uri, _, _ in result.problems}

    def keep(uri: str) -> str:
        return _store(app, reader, uri, result)

    made = plan(_forced(known) if full else known, listed, keep)
    result.plan = made
    removed = tuple(one for one in made.removed if one not in held)
    tripped = breaker(made, source)
    if tripped and not confirm:
        result.trip = tripped
        removed = ()
    _write(app, source, run, made, known, removed, result)
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


def _store(app: App, reader: Any, uri: str, result: Scan) -> str:
    """Stream one file into the raw zone and return its SHA-256; '' when it cannot be read."""
    try:
        with reader.open(uri) as stream, tempfile.NamedTemporaryFile(prefix="sluice-") as copy:
            sha = hash_stream(stream, copy)
            copy.flush()
            app.artifacts.put_file(f"raw/file/{sha}", Path(copy.name))
            return sha
    except SluiceError as error:
        result.problems.append((uri, error.code, error.reason))
        return ""
    except OSError as error:
        result.problems.append((uri, Code.SCAN_UNREADABLE, error.strerror or "cannot be read"))
        return ""
