"""A vector index in memory: exact cosine, plain BM25, the same filters."""

import fcntl
import math
import os
import pickle
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.errors import Code, Transient
from schemas.index import IndexFilter, IndexHit, IndexRow, RowState

K1, B = 1.2, 0.75


def admits(row: IndexRow, where: IndexFilter) -> bool:
    born = (row.born <= where.release < row.died) or row.id in where.also_ids
    return (
        born
        and row.acl in where.acl
        and (not where.sources or row.source in where.sources)
        and (not where.kinds or row.kind in where.kinds)
        and (not where.languages or row.language in where.languages)
        and (where.dated_from is None or row.dated >= where.dated_from)
        and (where.dated_to is None or row.dated <= where.dated_to)
        and row.document not in where.not_documents
        and row.id not in where.not_ids
    )


class FakeIndex:
    """VectorIndex over a dictionary."""

    def __init__(self, purges: bool = True) -> None:
        self.rows: dict[str, dict[str, IndexRow]] = {}
        self._purges = purges

    def _held(self, collection: str) -> dict[str, IndexRow]:
        if collection not in self.rows:
            raise Transient(Code.INDEX_GONE, f"no collection {collection}")
        return self.rows[collection]

    def ensure(self, collection: str, dimension: int) -> None:
        self.rows.setdefault(collection, {})

    def upsert(self, collection: str, rows: Sequence[IndexRow]) -> None:
        self.rows[collection].update((row.id, row) for row in rows)

    def dense(self, collection: str, vector: Any, where: IndexFilter, limit: int) -> list[IndexHit]:
        asked = np.asarray(vector, dtype=float)
        scores = {
            row.id: float(np.dot(row.vector, asked) / (np.linalg.norm(row.vector) * np.linalg.norm(asked)))
            for row in self._held(collection).values()
            if admits(row, where)
        }
        return _best(scores, limit)

    def lexical(self, collection: str, tokens: str, where: IndexFilter, limit: int) -> list[IndexHit]:
        counts = {row.id: Counter(row.lexical.split()) for row in self._held(collection).values()}
        mean = sum(count.total() for count in counts.values()) / max(1, len(counts)) or 1.0
        scores: dict[str, float] = {}
        for token in tokens.split():
            holding = [key for key, count in counts.items() if token in count]
            weight = math.log(1 + (len(counts) - len(holding) + 0.5) / (len(holding) + 0.5))
            for key in holding:
                times, length = counts[key][token], counts[key].total()
                part = weight * times * (K1 + 1) / (times + K1 * (1 - B + B * length / mean))
                scores[key] = scores.get(key, 0.0) + part
        return _best({key: s for key, s in scores.items() if admits(self._held(collection)[key], where)}, limit)

    def states(self, collection: str, ids: Sequence[str] | None = None) -> Iterator[RowState]:
        for row in list(self._held(collection).values()) if ids is None else self.fetch(collection, ids):
            yield RowState(id=row.id, born=row.born, died=row.died, acl=row.acl)

    def fetch(self, collection: str, ids: Sequence[str]) -> list[IndexRow]:
        held = self._held(collection)
        return [held[key] for key in dict.fromkeys(ids) if key in held]

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        for key in ids:
            self.rows[collection].pop(key, None)

    def flush(self, collection: str) -> None:
        pass

    def purge(self, collection: str) -> bool:
        return self._purges

    def drop(self, collection: str) -> None:
        self.rows.pop(collection, None)


class FileIndex(FakeIndex):
    """The same in one file, which a killed process leaves behind whole."""

    def __init__(self, path: Path, purges: bool = True) -> None:
        super().__init__(purges)
        self._path = path

    def _load(self) -> None:
        if self._path.exists():
            self.rows = pickle.loads(self._path.read_bytes())

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._load()
            yield
            part = self._path.with_suffix(f".{os.getpid()}")
            part.write_bytes(pickle.dumps(self.rows))
            part.replace(self._path)

    def ensure(self, collection: str, dimension: int) -> None:
        self._load()
        if collection not in self.rows:
            with self._writing():
                super().ensure(collection, dimension)

    def upsert(self, collection: str, rows: Sequence[IndexRow]) -> None:
        with self._writing():
            super().upsert(collection, rows)

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        with self._writing():
            super().delete(collection, ids)

    def drop(self, collection: str) -> None:
        with self._writing():
            super().drop(collection)

    def dense(self, collection: str, vector: Any, where: IndexFilter, limit: int) -> list[IndexHit]:
        self._load()
        return super().dense(collection, vector, where, limit)

    def lexical(self, collection: str, tokens: str, where: IndexFilter, limit: int) -> list[IndexHit]:
        self._load()
        return super().lexical(collection, tokens, where, limit)

    def states(self, collection: str, ids: Sequence[str] | None = None) -> Iterator[RowState]:
        self._load()
        return super().states(collection, ids)

    def fetch(self, collection: str, ids: Sequence[str]) -> list[IndexRow]:
        self._load()
        return super().fetch(collection, ids)


def _best(scores: dict[str, float], limit: int) -> list[IndexHit]:
    order = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return [IndexHit(id=key, score=score) for key, score in order[:limit]]
