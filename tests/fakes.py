"""Fakes of the ports: small, deterministic, and held to the same contract suites as the real adapters."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from pipelines.errors import Code, Rejected
from schemas.base import Record
from schemas.chunk import MaskedChunk
from schemas.index import EmbedderDescription, OcrLine

Reply = TypeVar("Reply", bound=Record)


class FakeEmbedder:
    """Hashed bags of letters and words: texts that share words or characters are near each other."""

    def __init__(self, dimension: int = 64, max_tokens: int = 512, fingerprint: str = "fa4e00000001") -> None:
        self._description = EmbedderDescription(
            name="fake", dimension=dimension, max_tokens=max_tokens, fingerprint=fingerprint
        )
        self.embedded: list[str] = []
        """Every text that was embedded, in order."""

    @property
    def description(self) -> EmbedderDescription:
        return self._description

    def count_tokens(self, text: str) -> int:
        return len(_words(text)) + 2

    def embed(self, chunks: Sequence[MaskedChunk]) -> Any:
        for chunk in chunks:
            if self.count_tokens(chunk.embedded_text()) > self._description.max_tokens:
                raise Rejected(Code.CHUNK_TOO_LONG, f"chunk {chunk.id} is too long")
        self.embedded += [chunk.embedded_text() for chunk in chunks]
        vectors = [self._vector(chunk.embedded_text()) for chunk in chunks]
        return np.stack(vectors) if vectors else np.empty((0, self._description.dimension), np.float32)

    def embed_query(self, text: str) -> Any:
        return self._vector(text)

    def _vector(self, text: str) -> Any:
        vector = np.full(self._description.dimension, 1e-3, np.float32)
        for word in _words(text):
            place = int.from_bytes(hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=4).digest())
            vector[place % self._description.dimension] += 1
        return vector / np.linalg.norm(vector)


def _words(text: str) -> list[str]:
    """Words of letters and digits; other characters, CJK among them, one by one."""
    spaced = "".join(c if c.isascii() and c.isalnum() else f" {c} " for c in text.casefold())
    return spaced.split()


class FakeOcr:
    """Reads the same lines from every page."""

    name = "fake 1"

    def __init__(self, *lines: str) -> None:
        self._lines = lines
        self.pages = 0

    def read(self, image: Any) -> tuple[OcrLine, ...]:
        self.pages += 1
        width = float(image.shape[1])
        return tuple(
            OcrLine(text=text, quad=(0, y, width, y, width, y + 18, 0, y + 18), confidence=0.9)
            for text, y in zip(self._lines, range(0, 20 * len(self._lines), 20), strict=True)
        )


class FakeReranker:
    """Scores by the share of the question's words that a passage holds."""

    name = "fake 1"

    def score(self, question: str, passages: Sequence[str]) -> list[float]:
        asked = set(_words(question))
        return [len(asked & set(_words(passage))) / max(1, len(asked)) for passage in passages]


class FakeLanguageModel:
    """Answers by task from a table of functions of the text; a task that is not in it fails as a real model would."""

    name = "fake 1"

    def __init__(self, answers: Mapping[str, Callable[[str], Record]]) -> None:
        self._answers = answers
        self.asked: list[tuple[str, str]] = []
        """(task, text) of every call."""

    @property
    def calls(self) -> int:
        return len(self.asked)

    def ask(self, task: str, instructions: str, text: str, reply: type[Reply]) -> Reply:
        self.asked.append((task, text))
        if task not in self._answers:
            raise Rejected(Code.LLM_FAILED, f"no answer for the task {task}")
        return reply.model_validate(self._answers[task](text).model_dump())
