"""One release as an evaluation reads it: any reader's rights or all, and a release that is not live yet."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Select, exists, select

from pipelines.library import Reader, SqlLibrary
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App

PUSHED_DOWN = 1000
"""A longer list of rows to be closed stays out of the index query; hydration drops those rows all the same."""


class EvaluationLibrary(SqlLibrary):
    """Without a reader, every access set may be read. Only evaluation may build this: readers get figures and chunk ids
    of it, no text."""

    def __init__(self, app: "App", reader: Reader | None, release: int | None = None) -> None:
        super().__init__(app, reader or Reader(), release)
        if reader is None:
            with app.database.read() as tx:
                self.acl = tuple(tx.execute(select(tables.access_set.c.id).order_by(tables.access_set.c.id)).scalars())

    def shown(self, chunks: Sequence[str]) -> set[str]:
        """Which of these chunks this release shows to this reader."""
        row, found = tables.chunk, set[str]()
        for start in range(0, len(chunks), 500):
            query = select(row.c.id).where(row.c.kb == self._app.kb, row.c.chunk.in_(chunks[start : start + 500]))
            with self._app.database.read() as tx:
                ids = tx.execute(query).scalars().all()
            found |= {passage.chunk for passage in self.hydrate(ids).values()}
        return found


class PreviewLibrary(EvaluationLibrary):
    """A release in publication, as readers would see it: its list of rows to close counts as closed already."""

    def __init__(self, app: "App", reader: Reader | None, release: int) -> None:
        super().__init__(app, reader, release)
        listed = tables.release_row
        closed = select(listed.c.row).where(
            listed.c.kb == app.kb, listed.c.release == release, listed.c.operation == "close"
        )
        with app.database.read() as tx:
            rows = tuple(tx.execute(closed.order_by(listed.c.row).limit(PUSHED_DOWN + 1)).scalars())
        self.hidden_rows = rows if len(rows) <= PUSHED_DOWN else ()

    def _check(self, tx: Connection) -> None:
        """Not published yet: that is the point."""

    def _query(self) -> Select[Any]:
        listed, shown = tables.release_row, tables.document_release
        mine = (listed.c.kb == self._app.kb) & (listed.c.release == self.release)
        closed = exists().where(mine, listed.c.operation == "close", listed.c.row == tables.chunk.c.id)
        replaced = exists().where(mine, listed.c.operation == "document", listed.c.row == shown.c.document)
        return super()._query().where(~closed, ~(replaced & (shown.c.born < self.release)))
