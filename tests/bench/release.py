"""A large knowledge base: rate of publication, seconds of a rollback, what release and access filters cost a search.

Texts and vectors are made up; everything else is real: SQL, artifacts, publication, Milvus Lite, or the server that
SLUICE_TEST_MILVUS_URL names.
"""

import hashlib
import json
import os
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from pydantic import SecretStr

from pipelines.adapters.milvus import MilvusIndex
from pipelines.ask import reader, search
from pipelines.migrate import migrate
from pipelines.publish.publish import publish
from pipelines.publish.rollback import rollback
from pipelines.settings import Settings
from pipelines.wiring import stop_local_index, wire
from schemas.chunk import Masked, MaskedChunk
from schemas.index import EmbedderDescription, IndexFilter
from sql import tables

CHUNKS = int(os.environ.get("SLUICE_BENCH_CHUNKS", "100000"))
EACH, DIMENSION, QUERIES = 100, 384, 100
WORDS = [f"w{number}" for number in range(5000)]


class HashEmbedder:
    """Vectors drawn at random from the text's hash."""

    description = EmbedderDescription(name="hash", dimension=DIMENSION, max_tokens=512, fingerprint="be0c00000001")

    def __init__(self):
        self.embedded = 0

    def count_tokens(self, text):
        return len(text.split())

    def embed(self, chunks):
        self.embedded += len(chunks)
        return np.stack([self.embed_query(chunk.embedded_text()) for chunk in chunks])

    def embed_query(self, text):
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
        vector = np.random.default_rng(seed).standard_normal(DIMENSION, dtype=np.float32)
        return vector / np.linalg.norm(vector)


def text_of(document, part, edition):
    draw = np.random.default_rng([document, part, edition])
    return " ".join(WORDS[int(place)] for place in draw.integers(0, len(WORDS), 40))


def chunk(document, part, edition):
    text = text_of(document, part, edition)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return MaskedChunk(id=f"{document:08x}{part:08x}"[:16] + digest[:16], ordinal=part, kind="text", text=text,
                       content_hash=digest, language="en")  # fmt: skip


def stage(app, number, documents, edition):
    """A release of these documents, approved, as the layers and a review would have left it."""
    with app.database.write() as tx:
        release = {"kb": "main", "number": number, "state": "approved", "kind": "sync", "base": 0, "created": 0.0}
        tx.execute(tables.release.insert().values(**release, created_by="bench", counts={}, hygiene=True))
        tx.execute(tables.knowledge_base.update().values(last_release=number))
    for document in documents:
        name, version = f"{document:032x}", f"{edition:04x}{document:028x}"
        chunks = tuple(chunk(document, part, edition if part == 0 else 0) for part in range(EACH))
        key = f"facts/mask/{version}.json"
        masked = Masked(title=name, uri=name, metadata={}, language="en", chunks=chunks, findings=())
        app.artifacts.put(key, masked.model_dump_json().encode())
        with app.database.write() as tx:
            common = {"id": name, "kb": "main", "source": "bench", "uri": name, "token": "", "sha256": name, "acl": 1}
            known = {"present": True, "seen": 0.0, "name_key": name, "name_sealed": ""}
            if edition == 1:
                tx.execute(tables.document.insert(), common | known)
            row = {"id": version, "kb": "main", "document": name, "number": edition, "sha256": version, "uri": name}
            more = {"state": "staged", "artifacts": {"mask": key}, "facts": {}, "ingested_by": "bench", "run": ""}
            tx.execute(tables.version.insert().values(**row, **more, created=0.0))
            tx.execute(
                tables.version_chunk.insert(),
                [
                    {"version": version, "chunk": c.id, "ordinal": c.ordinal, "content_hash": c.content_hash}
                    for c in chunks
                ],
            )
            item = {"kb": "main", "release": number, "document": name, "version": version, "change": "add"}
            tx.execute(tables.release_item.insert().values(**item, risk=[], decision="approved"))


def timed(work):
    """(result, wall seconds, CPU seconds of this process)"""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def p50s(works, queries):
    """Median seconds of each of `works`, asked in turn, query by query, so that a busy moment meets all of them."""
    seconds = [[timed(lambda work=work, query=query: work(query))[1] for work in works] for query in queries]
    return [statistics.median(column) for column in zip(*seconds, strict=True)]


def settled(index, collection):
    """Wait until a server has built its graph: before that it compares row by row, with a filter or without."""
    for _ in range(300):
        about = index._call(lambda client: client.describe_index(collection, "vector"))
        if not int(about.get("pending_index_rows", 0) or 0):
            break
        time.sleep(1)
    index._call(lambda client: client.refresh_load(collection) if hasattr(client, "refresh_load") else None)
    return {name: about[name] for name in ("total_rows", "indexed_rows") if name in about}


def filters(app, collection):
    """p50 seconds of the dense route (the hundred best, as a search asks for): at the newest release, at the one before
    it with a document on the deny list, and without any filter."""
    index, embedder = app.index(), app.embedder()
    queries = [embedder.embed_query(f"question {number}") for number in range(QUERIES)]
    everyone, hidden = IndexFilter(release=2, acl=(1, 2, 3)), IndexFilter(release=1, acl=(1,), not_documents=("x",))
    ask = {"metric_type": "COSINE", "params": {"ef": 200}}
    bare = lambda vector: index._call(lambda client: client.search(  # noqa: E731
        collection, [vector.tolist()], anns_field="vector", limit=100, search_params=ask, output_fields=["id"],
        consistency_level="Bounded"))  # fmt: skip
    works = [lambda vector: index.dense(collection, vector, everyone, 100)]
    works += [lambda vector: index.dense(collection, vector, hidden, 100), bare]
    p50s(works, queries[:5])
    return p50s(works, queries)


def prepared(home):
    settings = Settings(home=home, sources=home / "none.yaml", secret_key=SecretStr("bench"))
    embedder = HashEmbedder()
    app = replace(wire(settings, actor="bench"), embedder=lambda: embedder, llm=lambda: None)
    if url := os.environ.get("SLUICE_TEST_MILVUS_URL"):
        index = MilvusIndex(url)
        app = replace(app, index=lambda: index)
    migrate(app)
    with app.database.write() as tx:
        tx.execute(tables.access_set.insert().values(id=1, principals="everyone"))
        config = {"name": "bench", "location": "/", "authority": "L3"}
        tx.execute(tables.source.insert().values(kb="main", name="bench", config=config, acl=1))
    return app, embedder


def main():
    """Prints one JSON object."""
    documents = range(CHUNKS // EACH)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        app, embedder = prepared(home)
        try:
            stage(app, 1, documents, 1)
            _, first, first_cpu = timed(lambda: publish(app, 1))
            stage(app, 2, documents[: max(1, len(documents) // 100)], 2)
            assert embedder.embedded == CHUNKS, "every chunk has to be published"
            _, second, _ = timed(lambda: publish(app, 2))
            with app.database.read() as tx:
                collection = tx.execute(tables.knowledge_base.select()).one().collection
            app.index().flush(collection)
            embedded = embedder.embedded
            question = text_of(0, 0, 1)
            _, back, back_cpu = timed(lambda: rollback(app, 1, "bench"))
            seen = search(app, question, reader(None, ""), None, 10, False)
            built = settled(app.index(), collection) if os.environ.get("SLUICE_TEST_MILVUS_URL") else {}
            filtered, earlier, bare = filters(app, collection)
            result = {
                "bench": "release",
                "chunks": CHUNKS,
                "index": "server" if os.environ.get("SLUICE_TEST_MILVUS_URL") else "lite",
                "publish_rows_per_second": round(CHUNKS / first, 1),
                "publish_cpu_seconds": round(first_cpu, 1),
                "publish_one_percent_seconds": round(second, 2),
                "rollback_seconds": round(back, 3),
                "rollback_cpu_seconds": round(back_cpu, 3),
                "rollback_embeddings": embedder.embedded - embedded,
                "visible_release": seen["release"],
                "search_p50_filtered_ms": round(filtered * 1000, 2),
                "search_p50_bare_ms": round(bare * 1000, 2),
                "filter_ratio": round(filtered / bare, 2),
                "filter_ratio_earlier_release": round(earlier / bare, 2),
                "index_rows": built,
            }
        finally:
            if os.environ.get("SLUICE_TEST_MILVUS_URL"):
                app.index().drop(f"kb_main__{embedder.description.fingerprint}")
            stop_local_index(home)
            app.database.dispose()
    print(json.dumps(result))


if __name__ == "__main__":
    main()
