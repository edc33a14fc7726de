"""The collections of a knowledge base: the live one, one that is being filled for another embedder, and those kept.

SQL says which embedder each was built with; a collection and its embedder always travel together.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select, update

from pipelines.errors import Code, Misconfigured
from pipelines.ports import Embedder
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App


@dataclass(frozen=True)
class Collection:
    """`state`: live, filling (written beside the live one, read by nobody), kept (as it was when it was live)."""

    name: str
    embedder: str
    dimension: int
    state: str


def collections(tx: Connection, kb: str) -> list[Collection]:
    """All that the index may hold rows of."""
    table = tables.index_collection
    rows = tx.execute(select(table).where(table.c.kb == kb).order_by(table.c.created, table.c.name))
    return [Collection(row.name, row.embedder, row.dimension, row.state) for row in rows]


def embedder_for(app: "App", fingerprint: str) -> Embedder:
    """The embedder of this fingerprint ('': the one that the settings name first): one that the settings name, or
    the bundled one that a re-embedding named while the settings were as they are now.

    Raises Misconfigured(EMBEDDER_CHANGED).
    """
    first = app.embedder()
    if fingerprint in ("", first.description.fingerprint):
        return first
    for make in (*app.embedders.values(), *_adopted(app, fingerprint, first.description.fingerprint)):
        other = make()
        if other.description.fingerprint == fingerprint:
            return other
    reason = f"the live index was built with {fingerprint}, the settings name {first.description.fingerprint}"
    raise Misconfigured(Code.EMBEDDER_CHANGED, f"{reason}: run `sluice reembed`, or set the old one back")


def _adopted(app: "App", fingerprint: str, setting: str) -> list[Callable[[], Embedder]]:
    table = tables.index_collection
    where = (table.c.kb == app.kb) & (table.c.embedder == fingerprint) & (table.c.setting == setting)
    with app.database.read() as tx:
        names = tx.execute(select(table.c.named).where(where)).scalars().all()
    return [app.bundled[name] for name in names if name in app.bundled]


def live_embedder(app: "App") -> Embedder:
    """The embedder of the live index; before the first release, the one that the settings name."""
    table = tables.knowledge_base
    with app.database.read() as tx:
        fingerprint = tx.execute(select(table.c.embedder).where(table.c.name == app.kb)).scalar() or ""
    return embedder_for(app, fingerprint)


def live_collection(app: "App") -> Collection:
    """Made at the first publication; loaded."""
    embedder = live_embedder(app).description
    table = tables.knowledge_base
    with app.database.write() as tx:
        row = tx.execute(select(table).where(table.c.name == app.kb)).one()
        name: str = row.collection or f"kb_{app.kb}__{embedder.fingerprint}"
        if not row.collection:
            values = {"embedder": embedder.fingerprint, "collection": name}
            tx.execute(update(table).where(table.c.name == app.kb).values(**values))
            add(tx, app, Collection(name, embedder.fingerprint, embedder.dimension, "live"))
    app.index().ensure(name, embedder.dimension)
    return Collection(name, embedder.fingerprint, embedder.dimension, "live")


def add(tx: Connection, app: "App", one: Collection, named: str = "", setting: str = "") -> None:
    """Doing it twice is harmless."""
    values = {"kb": app.kb, "name": one.name, "embedder": one.embedder, "dimension": one.dimension}
    values |= {"state": one.state, "named": named, "setting": setting, "created": app.clock()}
    tx.execute(tables.insert_ignore(tables.index_collection), values)


def written(app: "App") -> list[Collection]:
    """Where a publication writes: the live one, and one that is being filled, where its embedder is wired here
    (where it is not, the filling catches up before it switches)."""
    live = live_collection(app)
    with app.database.read() as tx:
        filling = [one for one in collections(tx, app.kb) if one.state == "filling"]
    found = [live]
    for one in filling:
        try:
            embedder_for(app, one.embedder)
        except Misconfigured:
            continue
        app.index().ensure(one.name, one.dimension)
        found.append(one)
    return found
