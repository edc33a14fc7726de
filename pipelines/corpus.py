"""The living corpus as the dedup layer sees it: signatures in SQL, texts in the raw zone."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, delete, select

from schemas.chunk import Chunk, Parsed
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App


def remember(tx: Connection, app: "App", version: str, document: str, chunks: Sequence[Chunk]) -> None:
    """Store digests and bands of a version's chunks; doing it twice is harmless."""
    from pipelines.dedup.normalise import text_digest
    from pipelines.dedup.signature import bands

    ids = [one.id for one in chunks]
    for table in (tables.duplicate_digest, tables.duplicate_band):
        for start in range(0, len(ids), 500):
            tx.execute(delete(table).where(table.c.kb == app.kb, table.c.chunk.in_(ids[start : start + 500])))
    common = {"kb": app.kb, "document": document}
    digests = [
        {**common, "digest": text_digest(one.text, app.key), "chunk": one.id, "version": version} for one in chunks
    ]
    band_rows = [
        {**common, "band": band, "chunk": one.id} for one in chunks for band in set(bands(one.text, app.settings.dedup))
    ]
    if digests:
        tx.execute(tables.insert_ignore(tables.duplicate_digest), digests)
    if band_rows:
        tx.execute(tables.insert_ignore(tables.duplicate_band), band_rows)


class SqlCorpus:
    """DuplicateCorpus over every document but one: a version is not a duplicate of its own past."""

    def __init__(self, app: "App", without: str) -> None:
        self._app = app
        self._without = without

    def same(self, digests: Sequence[str]) -> Mapping[str, Sequence[str]]:
        table = tables.duplicate_digest
        return self._look_up(table.c.digest, table, digests)

    def sharing_bands(self, bands: Sequence[int]) -> Mapping[int, Sequence[str]]:
        table = tables.duplicate_band
        return self._look_up(table.c.band, table, bands)

    def _look_up(self, column: Any, table: Any, values: Sequence[Any]) -> dict[Any, list[str]]:
        found: dict[Any, list[str]] = defaultdict(list)
        wanted = list(dict.fromkeys(values))
        with self._app.database.read() as tx:
            for start in range(0, len(wanted), 500):
                rows = tx.execute(
                    select(column, table.c.chunk)
                    .where(
                        table.c.kb == self._app.kb,
                        column.in_(wanted[start : start + 500]),
                        table.c.document != self._without,
                    )
                    .order_by(table.c.chunk)
                )
                for value, chunk in rows:
                    found[value].append(chunk)
        return found

    def texts(self, chunks: Sequence[str]) -> Mapping[str, str]:
        wanted = list(dict.fromkeys(chunks))
        table = tables.duplicate_digest
        homes: dict[str, set[str]] = defaultdict(set)
        with self._app.database.read() as tx:
            for start in range(0, len(wanted), 500):
                rows = tx.execute(
                    select(table.c.chunk, tables.version.c.artifacts)
                    .join(tables.version, tables.version.c.id == table.c.version)
                    .where(table.c.kb == self._app.kb, table.c.chunk.in_(wanted[start : start + 500]))
                )
                for chunk, artifacts in rows:
                    if "parse" in artifacts:
                        homes[artifacts["parse"]].add(chunk)
        return {
            chunk: text
            for key, members in homes.items()
            for chunk, text in _texts_of(self._app, key).items()
            if chunk in members
        }


@lru_cache(maxsize=256)
def _texts_of(app: "App", key: str) -> dict[str, str]:
    # A template family is met again and again in one batch: its artifacts are read once.
    parsed = Parsed.model_validate_json(app.artifacts.get(key))
    return {one.id: one.text for one in parsed.chunks}
