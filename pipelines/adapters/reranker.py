"""A reranker behind HTTP: `POST <base_url>/rerank`, as Jina, Cohere, vLLM and text-embeddings-inference answer it."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from pipelines.adapters.model_server import connect, translated
from pipelines.errors import Code, Misconfigured, Rejected
from pipelines.settings import RerankerSettings


class HttpReranker:
    """A `Reranker`."""

    def __init__(self, settings: RerankerSettings) -> None:
        if not settings.base_url:
            raise Misconfigured(Code.BAD_SETTING, "the reranker http needs SLUICE_RERANKER__BASE_URL")
        self._settings = settings

    @property
    def name(self) -> str:
        return f"http {self._settings.model}"

    @cached_property
    def _client(self) -> Any:
        settings = self._settings
        return connect(settings.base_url, settings.api_key, settings.timeout_seconds)

    def score(self, question: str, passages: Sequence[str]) -> list[float]:
        """One score a passage, higher is better. Raises Transient, Rejected(MODEL_REFUSED) or Misconfigured."""
        import openai

        if not passages:
            return []
        texts = list(passages)
        # text-embeddings-inference reads `texts`, the others `documents`; each ignores what it does not know.
        body = {"model": self._settings.model, "query": question, "documents": texts, "texts": texts}
        try:
            answer = self._client.post("/rerank", body=body, cast_to=object)
        except (openai.OpenAIError, ValueError) as error:
            raise translated(error, "the reranker", Code.MODEL_REFUSED) from error
        return read_scores(answer, len(texts))

    def close(self) -> None:
        """Closes the connections."""
        if "_client" in self.__dict__:
            self._client.close()


def read_scores(answer: Any, count: int) -> list[float]:
    """Scores in the order of the passages, from `{"results": [{"index", "relevance_score"}]}` or a list of `score`s."""
    try:
        rows = answer["results"] if isinstance(answer, dict) else answer
        scores = {int(row["index"]): float(row.get("relevance_score", row.get("score"))) for row in rows}
        return [scores[index] for index in range(count)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Rejected(Code.MODEL_REFUSED, f"the reranker's answer cannot be read: {error!r}") from error
