"""Notes what is made from a version (artifacts, replies of a language model) before it is made.

Killed at any moment, nothing exists that is not noted: an erasure or a vacuum finds all of it without a listing of the
store.
"""

import time
from collections.abc import Iterable, Iterator, MutableMapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import delete, func, select

from pipelines.ports import ArtifactStore
from sql import tables

if TYPE_CHECKING:
    from pipelines.adapters.database import Database

_VERSIONS: ContextVar[tuple[str, ...]] = ContextVar("versions", default=())


@contextmanager
def working_on(*versions: str) -> Iterator[None]:
    """What is made inside the block belongs to these versions, and goes with each of them."""
    token = _VERSIONS.set(versions)
    try:
        yield
    finally:
        _VERSIONS.reset(token)


def _note(database: "Database", kind: str, key: str) -> None:
    table, versions = tables.derived, _VERSIONS.get()
    if not versions:
        return
    with database.read() as tx:
        where = table.c.version.in_(versions) & (table.c.kind == kind) & (table.c.key == key)
        missing = set(versions) - set(tx.execute(select(table.c.version).where(where)).scalars())
    if missing:
        with database.write() as tx:
            rows = [{"version": version, "kind": kind, "key": key} for version in sorted(missing)]
            tx.execute(tables.insert_ignore(table), rows)


class NotedArtifacts:
    """An ArtifactStore that notes for whom each artifact is made, or found made already."""

    def __init__(self, store: ArtifactStore, database: "Database") -> None:
        self._store = store
        self._database = database

    def put(self, key: str, data: bytes) -> None:
        _note(self._database, "artifact", key)
        self._store.put(key, data)

    def put_file(self, key: str, path: Path) -> None:
        _note(self._database, "artifact", key)
        self._store.put_file(key, path)

    def exists(self, key: str) -> bool:
        found = self._store.exists(key)
        if found:  # a layer that finds its artifact takes it as its own
            _note(self._database, "artifact", key)
        return found

    def get(self, key: str) -> bytes:
        return self._store.get(key)

    def delete(self, keys: Iterable[str]) -> None:
        self._store.delete(keys)

    def keys(self, prefix: str) -> Iterator[str]:
        return self._store.keys(prefix)

    def local(self, key: str) -> AbstractContextManager[Path]:
        return self._store.local(key)


class StoredReplies(MutableMapping[str, str]):
    """Replies of a language model by content key, in SQL. Only those made for a version are kept: what a question
    brought may quote many documents, and nobody could say whose it is."""

    def __init__(self, database: "Database") -> None:
        self._database = database

    def __getitem__(self, key: str) -> str:
        table = tables.llm_cache
        with self._database.read() as tx:
            found = tx.execute(select(table.c.reply).where(table.c.key == key)).scalar()
        if found is None:
            raise KeyError(key)
        _note(self._database, "llm", key)
        return str(found)

    def __setitem__(self, key: str, reply: str) -> None:
        if not _VERSIONS.get():
            return
        _note(self._database, "llm", key)
        with self._database.write() as tx:
            tx.execute(delete(tables.llm_cache).where(tables.llm_cache.c.key == key))
            tx.execute(tables.llm_cache.insert().values(key=key, reply=reply, at=time.time()))

    def __delitem__(self, key: str) -> None:
        with self._database.write() as tx:
            tx.execute(delete(tables.llm_cache).where(tables.llm_cache.c.key == key))

    def __iter__(self) -> Iterator[str]:
        with self._database.read() as tx:
            yield from tx.execute(select(tables.llm_cache.c.key)).scalars().all()

    def __len__(self) -> int:
        with self._database.read() as tx:
            return int(tx.execute(select(func.count()).select_from(tables.llm_cache)).scalar_one())
