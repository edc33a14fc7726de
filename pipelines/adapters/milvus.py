"""The vector index on Milvus Lite and on Milvus servers from 2.3.5 up, through pymilvus.

Lite wants FLAT (its HNSW loses hits under selective filters) and one writer at a time (two lose acknowledged rows).
Servers before 2.5 have no BM25 and one vector field: there a collection has none, and `lexical` finds nothing.
"""

import json
import logging
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, TypeVar

from pipelines.errors import Code, Misconfigured, SluiceError, Transient
from schemas.index import IndexFilter, IndexHit, IndexRow, RowState

Result = TypeVar("Result")

BATCH_ROWS = 500
BATCH_BYTES = 8 << 20
WINDOW = 16384
"""Servers refuse a larger limit."""
TEXT_BYTES = {"id": 512, "document": 256, "source": 1024, "kind": 128, "language": 64, "lexical": 65535}
NUMBERS = ("born", "died", "authority", "dated", "acl")
TIMEOUT_SECONDS = 60.0
ATTEMPTS = 5
KEEPALIVE = {"grpc.keepalive_time_ms": 600_000, "grpc.keepalive_permit_without_calls": 0}
"""pymilvus pings every ten seconds; gRPC servers take more than one ping in five minutes as an attack and hang up."""
AWAY = re.compile(
    r"unavailable|connection refused|failed to connect|fail connecting|deadline exceeded|closed channel", re.I
)
RELEASED = re.compile(r"not loaded|released|collection has not been loaded|code=101\b", re.I)
MISSING = re.compile(r"does not exist|can't find collection|collection not found", re.I)
REFUSED_LOGIN = re.compile(r"unauthenticated|auth check failure|permission denied", re.I)


def expression(where: IndexFilter) -> str:
    """The filter in Milvus' language; values are quoted as JSON strings, so that none can end its quotes."""
    visible = f"(born <= {where.release} and died > {where.release})"
    if where.also_ids:
        visible = f"({visible} or {_among('id', where.also_ids)})"
    parts = [visible, f"acl in {list(where.acl)}"]
    for field, values in (("source", where.sources), ("kind", where.kinds), ("language", where.languages)):
        if values:
            parts.append(_among(field, values))
    if where.dated_from is not None:
        parts.append(f"dated >= {where.dated_from}")
    if where.dated_to is not None:
        parts.append(f"dated <= {where.dated_to}")
    for field, values in (("document", where.not_documents), ("id", where.not_ids)):
        if values:
            parts.append(f"not ({_among(field, values)})")
    return " and ".join(parts)


def _among(field: str, values: Sequence[str]) -> str:
    return f"{field} in {json.dumps(list(values), ensure_ascii=False)}"


def batches(rows: Sequence[IndexRow]) -> Iterator[list[dict[str, Any]]]:
    """Rows as Milvus takes them, at most BATCH_ROWS and BATCH_BYTES a time; of equal ids only the last.

    Raises SluiceError(INDEX_REFUSED) for a text that is too long: servers count bytes, Lite counts characters.
    """
    batch: list[dict[str, Any]] = []
    size = 0
    for row in {row.id: row for row in rows}.values():
        data = row.model_dump()
        for field, limit in TEXT_BYTES.items():
            if len(data[field].encode()) > limit:
                raise SluiceError(Code.INDEX_REFUSED, f"{field} of row {row.id[:80]} is longer than {limit} bytes")
        data["vector"] = list(row.vector)
        weight = 4 * len(row.vector) + sum(len(data[field].encode()) for field in TEXT_BYTES) + 8 * len(NUMBERS)
        if batch and (len(batch) >= BATCH_ROWS or size + weight > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(data)
        size += weight
    if batch:
        yield batch


class MilvusIndex:
    """`url` may be a function that gives the url of a running server; it is asked again when the server is lost.

    `touch` is called with every request; `writing` is held around each write.
    """

    def __init__(
        self,
        url: str | Callable[[], str],
        token: str = "",
        touch: Callable[[], None] = lambda: None,
        writing: Callable[[], AbstractContextManager[Any]] = nullcontext,
    ) -> None:
        self._url = url
        self._token = token
        self._touch = touch
        self._writing = writing
        self._client: Any = None
        self._version = ""
        self._lexical: dict[str, bool] = {}

    def ensure(self, collection: str, dimension: int) -> None:
        with self._writing():
            self._call(lambda client: self._ensure(client, collection, dimension))

    def upsert(self, collection: str, rows: Sequence[IndexRow]) -> None:
        with self._writing():
            for batch in batches(rows):
                self._call(partial(_upsert, collection=collection, batch=batch), collection)

    def dense(self, collection: str, vector: Any, where: IndexFilter, limit: int) -> list[IndexHit]:
        query = [[float(value) for value in vector]]
        return self._search(collection, query, "vector", "COSINE", where, limit)

    def lexical(self, collection: str, tokens: str, where: IndexFilter, limit: int) -> list[IndexHit]:
        if not tokens.strip() or not where.acl or not self._has_lexical(collection):
            return []
        hits = self._search(collection, [tokens], "sparse", "BM25", where, limit)
        # Lite gives BM25 as a distance, with a minus.
        return [IndexHit(id=hit.id, score=abs(hit.score)) for hit in hits if hit.score]

    def states(self, collection: str, ids: Sequence[str] | None = None) -> Iterator[RowState]:
        fields = list(RowState.model_fields)
        rows = self._all(collection, fields) if ids is None else self._rows(collection, ids, fields)
        return (RowState(**{field: row[field] for field in fields}) for row in rows)

    def _all(self, collection: str, fields: list[str]) -> list[dict[str, Any]]:
        # Old servers iterate at the client's clock: rows may be missing for a moment, so wait until the count agrees.
        for attempt in range(20):
            want = self._call(lambda client: _count(client, collection), collection)
            rows = self._call(lambda client: _iterate(client, collection, fields), collection)
            if len(rows) == want:
                return rows
            time.sleep(0.05 * (attempt + 1))
        raise Transient(Code.INDEX_DOWN, f"the index counts {want} rows in {collection} but shows {len(rows)}")

    def fetch(self, collection: str, ids: Sequence[str]) -> list[IndexRow]:
        names = list(IndexRow.model_fields)
        return [
            IndexRow(**{**{name: row[name] for name in names}, "vector": tuple(map(float, row["vector"]))})
            for row in self._rows(collection, ids, names)
        ]

    def _rows(self, collection: str, ids: Sequence[str], fields: list[str]) -> Iterator[dict[str, Any]]:
        for part in _parts(ids):
            yield from self._call(partial(_query, collection=collection, ids=part, fields=fields), collection)

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        with self._writing():
            for part in _parts(ids):
                self._call(partial(_delete, collection=collection, ids=part), collection)

    def flush(self, collection: str) -> None:
        with self._writing():
            self._call(lambda client: client.flush(collection), collection)

    def purge(self, collection: str) -> bool:
        """Lite answers a compaction with success and does nothing (seen on 3.2.2)."""
        self.flush(collection)
        if self._lite:
            return False
        with self._writing():
            self._call(lambda client: client.compact(collection), collection)
        return True

    def drop(self, collection: str) -> None:
        with self._writing():
            self._call(lambda client: client.has_collection(collection) and client.drop_collection(collection))
        self._lexical.pop(collection, None)

    def _search(
        self, collection: str, query: list[Any], field: str, metric: str, where: IndexFilter, limit: int
    ) -> list[IndexHit]:
        if not where.acl or limit < 1:
            return []
        ask = {"metric_type": metric, "params": {} if field == "sparse" else {"ef": min(32768, max(64, 2 * limit))}}
        found = self._call(
            lambda client: client.search(
                collection, query, anns_field=field, limit=min(limit, WINDOW), filter=expression(where),
                search_params=ask, output_fields=["id"], consistency_level="Bounded",
            ),
            collection,
        )  # fmt: skip
        return [IndexHit(id=hit["id"], score=float(hit["distance"])) for hit in found[0]]

    def _ensure(self, client: Any, collection: str, dimension: int) -> None:
        if not client.has_collection(collection):
            _create(client, collection, dimension, lite=self._lite, bm25=self._lite or _at_least(self._version, 2, 5))
        for field in client.describe_collection(collection)["fields"]:
            held = int(field.get("params", {}).get("dim", dimension))
            if field["name"] == "vector" and held != dimension:
                raise Misconfigured(Code.EMBEDDER_CHANGED, f"{collection} holds vectors of {held}, not {dimension}")
        client.load_collection(collection)

    def _has_lexical(self, collection: str) -> bool:
        if collection not in self._lexical:
            fields = self._call(lambda client: client.describe_collection(collection)["fields"])
            self._lexical[collection] = any(field["name"] == "sparse" for field in fields)
        return self._lexical[collection]

    @property
    def _lite(self) -> bool:
        # Both call themselves lite: the packaged server says v2.3.5-lite, Milvus Lite says milvus_lite-3.2.2.
        return "lite" in self._version.lower() and _at_least(self._version, 3, 0)

    def _connect(self) -> Any:
        from pymilvus import MilvusClient

        if self._client is None:
            url = self._url() if callable(self._url) else self._url
            _hush()
            client = MilvusClient(url, token=self._token, timeout=TIMEOUT_SECONDS, grpc_options=KEEPALIVE)
            self._version = str(client.get_server_version())
            self._client = client
        return self._client

    def _call(self, action: Callable[[Any], Result], collection: str = "") -> Result:
        """Run one request; loads a released collection, and goes on after a restart of the server.

        Every request is idempotent (upsert, delete by id), so that repeating one is harmless.
        """
        from grpc import RpcError
        from pymilvus.exceptions import MilvusException

        self._touch()
        for attempt in range(ATTEMPTS):
            try:
                return action(self._connect())
            except (MilvusException, RpcError, OSError, ValueError) as error:
                words = str(error)
                last = attempt == ATTEMPTS - 1
                if RELEASED.search(words) and collection and self._client and not last and not MISSING.search(words):
                    action = _loading(action, collection)
                elif not (AWAY.search(words) or isinstance(error, OSError)) or last:
                    raise _mapped(error) from error
                else:
                    self._client = None
                    time.sleep(0.2 * 2**attempt)
        raise AssertionError("unreachable")


def _loading(action: Callable[[Any], Result], collection: str) -> Callable[[Any], Result]:
    def loaded(client: Any) -> Result:
        client.load_collection(collection)
        return action(client)

    return loaded


def _hush() -> None:
    """pymilvus logs each error with its stack before it raises it, and that an old server gives no snapshot time."""
    for name in ("decorators", "client.connection_manager"):
        logging.getLogger(f"pymilvus.{name}").setLevel(logging.CRITICAL)
    logging.getLogger("pymilvus.client.iterator.query_iterator").addFilter(_not_about_snapshots)


def _not_about_snapshots(record: logging.LogRecord) -> bool:
    return "mvcc" not in record.getMessage().lower()


def _mapped(error: Exception) -> SluiceError:
    words = str(error)
    if REFUSED_LOGIN.search(words):
        return Misconfigured(Code.INDEX_REFUSED, f"the vector index refuses the token: {words}")
    if MISSING.search(words):
        return Transient(Code.INDEX_GONE, f"the vector index says: {words}")
    if AWAY.search(words) or isinstance(error, OSError):
        return Transient(Code.INDEX_DOWN, f"the vector index does not answer: {words}")
    return SluiceError(Code.INDEX_REFUSED, f"the vector index refused: {words}")


def _create(client: Any, collection: str, dimension: int, lite: bool, bm25: bool) -> None:
    from pymilvus import DataType, Function, FunctionType

    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    analyzer = {"enable_analyzer": True, "analyzer_params": {"tokenizer": "standard" if lite else "whitespace"}}
    for name, limit in TEXT_BYTES.items():
        more = analyzer if name == "lexical" and bm25 else {}
        schema.add_field(name, DataType.VARCHAR, is_primary=name == "id", max_length=limit, **more)
    for name in NUMBERS:
        schema.add_field(name, DataType.INT64)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimension)
    indexes = client.prepare_index_params()
    graph = {} if lite else {"M": 16, "efConstruction": 200}
    indexes.add_index("vector", index_type="FLAT" if lite else "HNSW", metric_type="COSINE", params=graph)
    if bm25:
        schema.add_field("sparse", DataType.SPARSE_FLOAT_VECTOR)
        schema.add_function(Function("bm25", FunctionType.BM25, ["lexical"], ["sparse"]))
        indexes.add_index("sparse", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25")
    client.create_collection(collection, schema=schema, index_params=indexes, consistency_level="Bounded")


def _upsert(client: Any, collection: str, batch: list[dict[str, Any]]) -> None:
    client.upsert(collection, batch)


def _delete(client: Any, collection: str, ids: list[str]) -> None:
    client.delete(collection, ids=ids)


def _query(client: Any, collection: str, ids: list[str], fields: list[str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = client.query(
        collection, filter=_among("id", ids), output_fields=fields, consistency_level="Strong"
    )
    return rows


def _count(client: Any, collection: str) -> int:
    rows = client.query(collection, filter="born >= 0", output_fields=["count(*)"], consistency_level="Strong")
    return int(rows[0]["count(*)"])


def _iterate(client: Any, collection: str, fields: list[str]) -> list[dict[str, Any]]:
    iterator = client.query_iterator(
        collection, batch_size=1000, filter="born >= 0", output_fields=fields, consistency_level="Strong"
    )
    rows: dict[str, dict[str, Any]] = {}
    try:
        while batch := iterator.next():
            rows.update((row["id"], row) for row in batch)
    finally:
        iterator.close()
    return list(rows.values())


def _parts(ids: Sequence[str]) -> Iterator[list[str]]:
    unique = list(dict.fromkeys(ids))
    for start in range(0, len(unique), BATCH_ROWS):
        yield unique[start : start + BATCH_ROWS]


def _at_least(version: str, major: int, minor: int) -> bool:
    found = re.search(r"(\d+)\.(\d+)", version)
    return bool(found) and (int(found[1]), int(found[2])) >= (major, minor) if found else False
