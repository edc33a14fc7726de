"""Process anew what is already known: by fingerprint (only what a change of code or settings reaches) or forced.

What readers see is not touched: a new edition of each version runs beside it, and what comes out the same is absorbed.
A run is cut in slices, and what is done is not selected again, so a run that was killed goes on where it ended.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from fnmatch import fnmatch
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, exists, select, update

from pipelines import lifecycle
from pipelines.app import App
from pipelines.editions import Rerun, renew
from pipelines.errors import Code, Misconfigured
from pipelines.layers import LAYERS, planned, state_of
from pipelines.work import Work, works
from sql import tables

PAGE = 200


@dataclass(frozen=True)
class Selection:
    """Which versions, and from which layer on."""

    layer: str = LAYERS[0].name
    sources: tuple[str, ...] = ()
    """Empty: all."""
    glob: str | None = None
    since: date | None = None
    """Taken in on this day (UTC) or later."""
    until: date | None = None
    """Taken in on this day or earlier."""
    token: str = ""
    """Not empty: forced, whatever the fingerprints say. The same token again goes on with what is left."""
    limit: int | None = None
    """Of versions in this slice."""


@dataclass(frozen=True)
class Reopened:
    versions: tuple[str, ...]
    more: bool
    """Whether the slice ended before the selection did."""


def reopen(app: App, chosen: Selection, run: str) -> Reopened:
    """Make the editions; the layers take them from there. Raises Misconfigured for an unknown layer."""
    names = [layer.name for layer in LAYERS]
    if chosen.layer not in names:
        raise Misconfigured(Code.BAD_SETTING, f"there is no layer {chosen.layer!r}: {', '.join(names)}")
    opened: list[str] = []
    for old, keys in _outdated(app, chosen):
        if chosen.limit is not None and len(opened) >= chosen.limit:
            return Reopened(tuple(opened), more=True)
        opened.append(_open(app, old, keys, chosen, run))
    return Reopened(tuple(opened), more=False)


def remains(app: App, chosen: Selection) -> bool:
    """Whether the selection still holds anything to be done."""
    return next(_outdated(app, chosen), None) is not None


def _outdated(app: App, chosen: Selection) -> Iterator[tuple[Any, dict[str, str]]]:
    """Version rows to process anew, each with the artifacts that it keeps, documents in the order of their ids."""
    after = ""
    while documents := _documents(app, chosen, after):
        after = documents[-1]
        with app.database.read() as tx:
            rows = _candidates(tx, documents, chosen.token)
        rows = [row for row in rows if _in_time(row.created, chosen)]
        for row, work in zip(rows, works(app, [row.id for row in rows]), strict=True):
            if chosen.glob and not fnmatch(work.uri, chosen.glob):
                continue
            plain = replace(work, first=chosen.layer, token="")
            if chosen.token or state_of(planned(app, plain)) != row.fingerprint:
                yield row, _kept(work, chosen.layer)


def _documents(app: App, chosen: Selection, after: str) -> list[str]:
    d = tables.document
    query = select(d.c.id).where(d.c.kb == app.kb, d.c.id > after).order_by(d.c.id).limit(PAGE)
    if chosen.sources:
        query = query.where(d.c.source.in_(chosen.sources))
    with app.database.read() as tx:
        return list(tx.execute(query).scalars())


def _candidates(tx: Connection, documents: Sequence[str], token: str) -> list[Any]:
    """Of each document: what is staged, else what readers see, and what a layer rejected last."""
    v, x = tables.version, tables.rejection
    by_layer = exists().where(
        x.c.subject == v.c.id, x.c.standing.is_(True), x.c.layer.in_([layer.name for layer in LAYERS])
    )
    query = select(v, by_layer.label("refused")).where(v.c.document.in_(documents)).order_by(v.c.document, v.c.number)
    found: list[Any] = []
    for _, group in groupby(tx.execute(query).all(), key=lambda row: row.document):
        rows = list(group)
        if token and any((row.rerun or {}).get("token") == token for row in rows):
            continue
        if any(row.state in ("discovered", "in_progress") for row in rows):
            continue
        shown = [row for row in rows if row.state in ("staged", "published")][-1:]
        refused = [row for row in rows[-1:] if row.state == "quarantined" and row.refused]
        # An edition that was refused stands for the content that it was made of.
        found += [row for row in shown if row.sha256 not in {one.sha256 for one in refused}] + refused
    return found


def _in_time(created: float, chosen: Selection) -> bool:
    if chosen.since is None and chosen.until is None:
        return True
    day = datetime.fromtimestamp(created, UTC).date()
    return (chosen.since or day) <= day <= (chosen.until or day)


def _kept(work: Work, first: str) -> dict[str, str]:
    names = [layer.name for layer in LAYERS]
    return {name: work.artifacts[name] for name in names[: names.index(first)] if name in work.artifacts}


def _open(app: App, old: Any, kept: dict[str, str], chosen: Selection, run: str) -> str:
    """Another edition; a version that no reader has seen because a layer rejected it is simply tried again."""
    rerun = Rerun(layer=chosen.layer, token=chosen.token)
    why = f"again from {chosen.layer}"
    with app.database.write() as tx:
        if old.state != "quarantined":
            return renew(tx, app, old, run, why, artifacts=kept, rerun=rerun)
        lifecycle.move_version(tx, old.id, "quarantined", "discovered", app.actor, why)
        where = tables.version.c.id == old.id
        tx.execute(update(tables.version).where(where).values(artifacts=kept, rerun=rerun.model_dump()))
        tx.execute(update(tables.rejection).where(tables.rejection.c.subject == old.id).values(standing=False))
        return str(old.id)
