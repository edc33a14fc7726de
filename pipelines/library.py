"""What one reader sees of one release: the only way from index hits to text.

Rows are immutable intervals, so the release number that was read first stays exact while the index is asked; rights and
the deny list are read again at hydration, so that the answer is never more open than now.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import Connection, Select, bindparam, exists, func, select

from pipelines.app import App
from pipelines.corpus import linked_groups
from pipelines.errors import Code, Conflict, Transient
from pipelines.inside import held_by, holders
from schemas.search import Contradiction, Passage
from sql import tables

T = TypeVar("T")
DENY_PUSHED_DOWN = 200
"""A longer deny list stays out of the index query; hydration drops its documents all the same."""


@dataclass(frozen=True)
class Reader:
    """Who asks: nobody in particular sees what everyone may see."""

    user: str | None = None
    groups: tuple[str, ...] = ()

    def principals(self) -> set[str]:
        own = {f"user:{self.user}"} if self.user else set()
        return {"everyone"} | own | {f"team:{one}" for one in self.groups}


class SqlLibrary:
    """One release of one knowledge base for one reader."""

    def __init__(self, app: App, reader: Reader, release: int | None = None) -> None:
        self._app = app
        self.hidden_rows: tuple[str, ...] = ()
        with app.database.read() as tx:
            kb = tx.execute(_named(), {"kb": app.kb}).first()
            if kb is None:
                raise Conflict(Code.NOT_INITIALISED, f"there is no knowledge base {app.kb!r}: run `sluice init`")
            self.release: int = kb.live_release if release is None else release
            self.collection: str = kb.collection
            self.embedder: str = kb.embedder
            self._check(tx)
            self.acl = readable(tx, reader)
            self.denied_documents = self._denied(tx)
            self.sources = self._sources(tx)

    def _check(self, tx: Connection) -> None:
        check_readable(tx, self._app.kb, self.release)

    def _denied(self, tx: Connection) -> tuple[str, ...]:
        given = {"kb": self._app.kb}
        found = tuple(dict.fromkeys([one for query in _denials() for one in tx.execute(query, given).scalars()]))
        return found if len(found) <= DENY_PUSHED_DOWN else ()

    def _sources(self, tx: Connection) -> tuple[str, ...]:
        return tuple(tx.execute(_named_sources(), {"kb": self._app.kb, "acl": self.acl}).scalars())

    def related(self, question: str) -> dict[str, float]:
        """Passages that state a relation of something the question names, then those about its other end.

        The second step follows only relations whose own passage this reader may see.
        """
        from pipelines.relations import chunks_about, relations_of

        with self._app.database.read() as tx:
            found = relations_of(tx, self._app.kb, question)
            stating = self._rows_of(tx, [one.chunk for one in found])
            seen = {passage.chunk for passage in self._hydrated(tx, list(stating)).values()}
            far = [one.far_end for one in found if one.chunk in seen]
            about = self._rows_of(tx, chunks_about(tx, self._app.kb, far))
        return dict.fromkeys(about, 0.6) | {row: 1.0 for row, chunk in stating.items() if chunk in seen}

    def _rows_of(self, tx: Connection, chunks: Sequence[str]) -> dict[str, str]:
        """Chunk by row id, at this release; hydrate decides who may see them."""
        given = {"kb": self._app.kb, "at": self.release, "chunks": list(dict.fromkeys(chunks))}
        return dict(tx.execute(_of_chunks(), given).all()) if chunks else {}

    def contradictions(self, chunks: Sequence[str]) -> dict[str, tuple[Contradiction, ...]]:
        """What people decided about conflicts of these chunks with others that this reader may see."""
        from pipelines.conflict.decide import rulings

        found: dict[str, tuple[Contradiction, ...]] = {}
        with self._app.database.read() as tx:
            for one in rulings(tx, self._app.kb, self.release, chunks, self.acl, *self._planned()):
                told = Contradiction(other=one.other, conflict=one.conflict, action=one.action, note=one.note)
                found[one.chunk] = (*found.get(one.chunk, ()), told)
        return found

    def _planned(self) -> tuple[set[str], set[str]]:
        """Chunks that a preview opens and closes; a release itself has none."""
        return set(), set()

    def state(self) -> Hashable:
        """Every act of governance appends to the audit; rights that a source's new access list gives or takes show in
        how many documents each access set has."""
        acts_so_far, rights = _state()
        with self._app.database.read() as tx:
            acts = tx.execute(acts_so_far).scalar()
            spread = tuple(tuple(row) for row in tx.execute(rights, {"kb": self._app.kb}))
        return (self._app.kb, self.release, self.collection, self.acl, acts, spread)

    def hydrate(self, ids: Sequence[str]) -> dict[str, Passage]:
        """Passages by row id, of those that this reader may see at this release."""
        with self._app.database.read() as tx:
            return self._hydrated(tx, ids)

    def _hydrated(self, tx: Connection, ids: Sequence[str]) -> dict[str, Passage]:
        found: dict[str, Passage] = {}
        wanted = list(dict.fromkeys(ids))
        for start in range(0, len(wanted), 500):
            given = {"ids": wanted[start : start + 500], "kb": self._app.kb, "at": self.release, "acl": self.acl}
            for row in tx.execute(self._query(), given).mappings():
                values = {key: value for key, value in row.items() if value is not None}
                found[row["id"]] = Passage(**{**values, "release": self.release, "section": tuple(row["section"])})
        groups = linked_groups(tx, [one.chunk for one in found.values()])
        for id_, one in found.items():
            if one.chunk in groups:
                found[id_] = one.model_copy(update={"duplicate_group": groups[one.chunk]})
        return found

    def _query(self) -> Select[Any]:
        return _shown()


# Queries are built once: building one costs more than running it.


@cache
def _named() -> Select[Any]:
    return select(tables.knowledge_base).where(tables.knowledge_base.c.name == bindparam("kb"))


@cache
def _collection() -> Select[Any]:
    return select(tables.knowledge_base.c.collection).where(tables.knowledge_base.c.name == bindparam("kb"))


@cache
def _release() -> Select[Any]:
    table = tables.release
    where = (table.c.kb == bindparam("kb")) & (table.c.number == bindparam("number"))
    return select(table.c.published, table.c.vacuumed).where(where)


@cache
def _access_sets() -> Select[Any]:
    return select(tables.access_set.c.id, tables.access_set.c.principals).order_by(tables.access_set.c.id)


@cache
def _denials() -> tuple[Select[Any], Select[Any]]:
    """Documents of `kb` that are denied, and those inside of them."""
    table = tables.deny
    named = select(table.c.subject).where(table.c.kb == bindparam("kb"), table.c.kind == "document")
    most = DENY_PUSHED_DOWN + 1
    return named.order_by(table.c.subject).limit(most), held_by(named).limit(most)


@cache
def _named_sources() -> Select[Any]:
    table = tables.source
    acl: Any = bindparam("acl", expanding=True)
    return select(table.c.name).where(table.c.kb == bindparam("kb"), table.c.acl.in_(acl)).order_by(table.c.name)


@cache
def _of_chunks() -> Select[Any]:
    """Rows that show `chunks` of `kb` at release `at`."""
    c = tables.chunk
    at: Any = bindparam("at")
    chunks: Any = bindparam("chunks", expanding=True)
    visible = (c.c.born <= at) & (c.c.died > at)
    return select(c.c.id, c.c.chunk).where(c.c.kb == bindparam("kb"), c.c.chunk.in_(chunks), visible)


@cache
def _state() -> tuple[Select[Any], Select[Any]]:
    """How many acts the audit holds, and how many documents of `kb` each access set has."""
    d = tables.document
    rights = select(d.c.acl, func.count()).where(d.c.kb == bindparam("kb")).group_by(d.c.acl).order_by(d.c.acl)
    return select(func.max(tables.audit.c.sequence)), rights


@cache
def _shown() -> Select[Any]:
    """Rows `ids` of `kb` that a reader of `acl` sees at release `at`."""
    c, d, v = tables.chunk, tables.document, tables.version
    shown, vc = tables.document_release, tables.version_chunk
    ids: Any = bindparam("ids", expanding=True)
    acl: Any = bindparam("acl", expanding=True)
    kb: Any = bindparam("kb")
    at: Any = bindparam("at")
    return (
        select(
            c.c.id,
            c.c.chunk,
            c.c.document,
            c.c.source,
            c.c.authority,
            c.c.kind,
            c.c.dated,
            c.c.section,
            c.c.context,
            c.c.text,
            c.c.html,
            c.c.parent,
            c.c.quality,
            shown.c.version,
            v.c.title,
            v.c.uri,
            vc.c.page_start.label("page"),
        )
        .join(d, d.c.id == c.c.document)
        .join(shown, (shown.c.document == c.c.document) & (shown.c.born <= at) & (shown.c.died > at))
        .join(v, v.c.id == shown.c.version)
        .outerjoin(vc, (vc.c.version == shown.c.version) & (vc.c.chunk == c.c.chunk))
        .where(c.c.id.in_(ids), c.c.born <= at, c.c.died > at, d.c.acl.in_(acl))
        .where(~denied(kb, c.c.chunk, c.c.document, shown.c.version, c.c.source))
    )


def whole(app: App, read: Callable[[], T]) -> T:
    """Run a read that opens its own library; again when the collection that it asked was replaced meanwhile, by an
    erasure or a re-embedding. Raises Transient(INDEX_GONE) where SQL still names that collection."""
    given = {"kb": app.kb}
    while True:
        with app.database.read() as tx:
            before = tx.execute(_collection(), given).scalar()
        try:
            return read()
        except Transient as error:
            with app.database.read() as tx:
                if error.code is not Code.INDEX_GONE or tx.execute(_collection(), given).scalar() == before:
                    raise


def check_readable(tx: Connection, kb: str, number: int) -> None:
    """Raises Conflict (RELEASE_UNKNOWN, RELEASE_VACUUMED) when nobody can read at this release; 0 is the empty one."""
    row = tx.execute(_release(), {"kb": kb, "number": number}).first()
    if number and (row is None or row.published is None):
        raise Conflict(Code.RELEASE_UNKNOWN, f"release {number} was never published")
    if row is not None and row.vacuumed is not None:
        raise Conflict(Code.RELEASE_VACUUMED, f"release {number} was vacuumed; what only it showed is gone")


def readable(tx: Connection, reader: Reader) -> tuple[int, ...]:
    """Numbers of the access sets that share a principal with the reader."""
    mine = reader.principals()
    return tuple(id_ for id_, principals in tx.execute(_access_sets()) if mine & set(principals.split(",")))


def denied(kb: Any, chunk: Any, document: Any, version: Any, source: Any) -> Any:
    """SQL: whether a deny entry covers the row: its own, or one of a document that holds its document."""
    table, v = tables.deny, tables.version
    around = holders(document)
    outer = select(v.c.id).where(v.c.document.in_(around), v.c.state == "published").correlate_except(v)
    return exists().where(
        table.c.kb == kb,
        ((table.c.kind == "chunk") & (table.c.subject == chunk))
        | ((table.c.kind == "document") & table.c.subject.in_((document, *around)))
        | ((table.c.kind == "version") & ((table.c.subject == version) | table.c.subject.in_(outer)))
        | ((table.c.kind == "source") & (table.c.subject == source)),
    )
