"""A corpus in memory behind the ports of search, so that benches run the real road from question to hits."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pipelines.retrieve.tokens import lexical_tokens
from schemas.index import IndexFilter, IndexHit
from schemas.search import Contradiction, Passage
from tests.bench import vector_cache


class Corpus:
    """VectorIndex (dense by numpy, BM25 by bm25s) and Library of one reader who may see all of it.

    `rows`: {id, text, title?}; a title is put before the text, as the context of a chunk is.
    """

    collection, release, acl, denied_documents, hidden_rows, sources = "bench", 1, (1,), (), (), ()

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        import bm25s

        self.passages = {str(row["id"]): _passage(row) for row in rows}
        self._ids = list(self.passages)
        texts = [f"{one.context}\n{one.text}".strip() for one in self.passages.values()]
        self._vectors = vector_cache.passages([str(row["text"]) for row in rows])
        self._ranker = bm25s.BM25()
        self._ranker.index([lexical_tokens(text).split() for text in texts], show_progress=False)

    def dense(self, collection: str, vector: Any, where: IndexFilter, limit: int) -> list[IndexHit]:
        return self._best(self._vectors @ vector, limit)

    def lexical(self, collection: str, tokens: str, where: IndexFilter, limit: int) -> list[IndexHit]:
        scores = self._ranker.get_scores(tokens.split())
        return [hit for hit in self._best(scores, limit) if hit.score > 0]

    def _best(self, scores: Any, limit: int) -> list[IndexHit]:
        order = np.argsort(-scores, kind="stable")[:limit]
        return [IndexHit(id=self._ids[at], score=float(scores[at])) for at in order]

    def hydrate(self, ids: Sequence[str]) -> dict[str, Passage]:
        return {id_: self.passages[id_] for id_ in ids}

    def related(self, question: str) -> dict[str, float]:
        return {}

    def contradictions(self, chunks: Sequence[str]) -> dict[str, tuple[Contradiction, ...]]:
        return {}

    def state(self) -> int:
        return 0


def _passage(row: Mapping[str, Any]) -> Passage:
    id_, title = str(row["id"]), str(row.get("title") or "")
    facts = {"id": id_, "chunk": id_, "document": id_, "version": "", "release": 1, "source": "", "uri": id_}
    return Passage(**facts, title=title, context=title, text=str(row["text"]))


class CachedEmbedder:
    """The default embedder; a question asked before is not embedded again."""

    def __init__(self) -> None:
        self.description = vector_cache.embedder().description

    def embed_query(self, text: str) -> Any:
        return vector_cache.questions([text])[0]
