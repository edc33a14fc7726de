"""Vectors by (content hash, embedder): embedded once, then read back for every publish, retry and rollback."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from pipelines import log
from pipelines.publish.collections import embedder_for, live_embedder
from pipelines.publish.rows import batches
from schemas.chunk import MaskedChunk
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App

BATCH = 256


def ensure(app: "App", chunks: Iterable[MaskedChunk], embedder: str = "") -> int:
    """Embed what has no vector of this embedder ('': the live index's) yet; returns how many chunks were embedded.
    Killed in between, nothing is done twice but the batch it was in."""
    import numpy as np

    model = embedder_for(app, embedder) if embedder else live_embedder(app)
    print_ = model.description.fingerprint
    embedded = 0
    for batch in batches(chunks, BATCH):
        hashes = {one.content_hash: one for one in batch}
        known = _known(app, list(hashes), print_)
        missing = [hashes[one] for one in hashes if one not in known]
        if not missing:
            continue
        made = model.embed(missing)
        rows = [
            {"content_hash": one.content_hash, "embedder": print_, "data": np.asarray(row, "<f4").tobytes()}
            for one, row in zip(missing, made, strict=True)
        ]
        with app.database.write() as tx:
            tx.execute(tables.insert_ignore(tables.vector), rows)
        app.checkpoint("vectors.stored")
        embedded += len(missing)
        log.info("embedded", chunks=len(missing))
    return embedded


def _known(app: "App", hashes: Sequence[str], embedder: str) -> set[str]:
    table = tables.vector
    with app.database.read() as tx:
        where = (table.c.embedder == embedder) & table.c.content_hash.in_(hashes)
        return set(tx.execute(select(table.c.content_hash).where(where)).scalars())


def read(app: "App", hashes: Sequence[str], embedder: str) -> dict[str, Any]:
    """float32 arrays by content hash; what is not there is left out."""
    import numpy as np

    table = tables.vector
    found: dict[str, Any] = {}
    wanted = list(dict.fromkeys(hashes))
    with app.database.read() as tx:
        for start in range(0, len(wanted), 500):
            where = (table.c.embedder == embedder) & table.c.content_hash.in_(wanted[start : start + 500])
            for hash_, data in tx.execute(select(table.c.content_hash, table.c.data).where(where)):
                found[hash_] = np.frombuffer(data, "<f4")
    return found
