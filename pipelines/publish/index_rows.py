"""SQL rows on their way into the index, from stored vectors."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from pipelines.errors import Code, SluiceError
from pipelines.publish import vectors
from pipelines.publish.collections import Collection
from pipelines.publish.rows import batches, paged
from schemas.index import IndexRow
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App


def rows_of(app: "App", number: int, operation: str) -> Iterator[Any]:
    """SQL rows of a release's list of rows to open or to close, by id, read a bounded number at a time."""
    row, listed = tables.chunk, tables.release_row
    mine = (listed.c.kb == app.kb) & (listed.c.release == number) & (listed.c.operation == operation)
    query = select(row).join(listed, listed.c.row == row.c.id).where(mine)
    return chain.from_iterable(paged(app, query, row.c.id))


def write_rows(app: "App", collection: Collection, rows: Iterable[Any]) -> int:
    """Write SQL rows (all columns of `chunk`) to the index in bounded batches; returns how many."""
    from pipelines.retrieve.tokens import lexical_tokens

    written = 0
    for batch in batches(rows):
        stored = vectors.read(app, [row.content_hash for row in batch], collection.embedder)
        acl = _acl(app, sorted({row.document for row in batch}))
        app.index().upsert(
            collection.name,
            [
                IndexRow(
                    id=row.id,
                    born=row.born,
                    died=row.died,
                    document=row.document,
                    source=row.source,
                    authority=row.authority,
                    kind=row.kind,
                    language=row.language,
                    dated=row.dated,
                    acl=acl[row.document],
                    lexical=lexical_tokens(f"{row.context}\n{row.text}"),
                    vector=tuple(map(float, stored[row.content_hash])),
                )
                for row in batch
            ],
        )
        written += len(batch)
        app.checkpoint("index.batch")
    return written


def verify(app: "App", collection: Collection, rows: Iterable[Any], what: str) -> int:
    """Read the rows back by key, strongly consistent; returns how many. Raises SluiceError(RELEASE_READ_BACK)."""
    read = 0
    for batch in batches(rows):
        held = {row.id: row.born for row in app.index().states(collection.name, [row.id for row in batch])}
        if missing := [row.id for row in batch if held.get(row.id) != row.born]:
            raise SluiceError(
                Code.RELEASE_READ_BACK, f"{len(missing)} rows of {what} are not in the index: {missing[:3]}"
            )
        read += len(batch)
    return read


def _acl(app: "App", documents: Sequence[str]) -> dict[str, int]:
    d = tables.document
    with app.database.read() as tx:
        return dict(tx.execute(select(d.c.id, d.c.acl).where(d.c.id.in_(documents))).all())
