"""Vectors of benchmark texts, kept under SLUICE_HOME so that a second run embeds nothing."""

import hashlib
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from schemas.chunk import MaskedChunk

HOME = Path(os.environ.get("SLUICE_HOME", ".sluice"))
LONGEST = 700
"""Characters of a passage that are embedded: the model reads 512 tokens."""


def embedder() -> Any:
    from pipelines.adapters.e5_onnx import E5Embedder

    return E5Embedder(HOME / "models")


def passages(texts: Sequence[str]) -> Any:
    """float32, len(texts) x 384."""
    model = embedder()

    def one(text: str) -> Any:
        for length in (LONGEST, 450, 300):
            cut = text[:length]
            if model.count_tokens(cut) <= 512:
                break
        return model.embed([MaskedChunk(id="0", ordinal=0, kind="text", text=cut, content_hash="")])[0]

    return _cached("p", texts, one, model.description.fingerprint)


def questions(texts: Sequence[str]) -> Any:
    """float32, len(texts) x 384."""
    model = embedder()
    return _cached("q", texts, model.embed_query, model.description.fingerprint)


def _cached(kind: str, texts: Sequence[str], make: Any, fingerprint: str) -> Any:
    import numpy as np

    folder = HOME / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    base = sqlite3.connect(folder / f"vectors-{fingerprint}.db", timeout=60)
    base.execute("create table if not exists vector (key blob primary key, data blob)")
    found = []
    for number, text in enumerate(texts):
        key = hashlib.sha256(f"{kind}:{text}".encode()).digest()
        row = base.execute("select data from vector where key = ?", (key,)).fetchone()
        data = row[0] if row else np.asarray(make(text), np.float32).tobytes()
        if not row:
            base.execute("insert or replace into vector values (?, ?)", (key, data))
            if number % 50 == 0:
                base.commit()
        found.append(np.frombuffer(data, np.float32))
    base.commit()
    base.close()
    return np.stack(found)
