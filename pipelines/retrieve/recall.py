"""Candidates of all routes for all wordings; only what the reader may see gets in, so traces hold nothing else."""

import re
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any, cast

from pipelines.ports import Embedder, VectorIndex
from pipelines.retrieve.identifiers import identifiers, share_held
from pipelines.retrieve.library import Library
from pipelines.retrieve.settings import RetrieveSettings
from pipelines.retrieve.tokens import fold, lexical_tokens
from schemas.index import IndexFilter, IndexHit
from schemas.search import Passage, Query, RouteTrace

Fetch = Callable[[int], list[IndexHit]]
WORD = re.compile(r"[a-z]{4,}")


class Recall:
    """Asks the index for more while too few of what it proposes may be seen."""

    def __init__(
        self,
        library: Library,
        index: VectorIndex,
        embedder: Embedder | None,
        settings: RetrieveSettings,
        top: int,
    ) -> None:
        self._library, self._index, self._embedder = library, index, embedder
        self._settings, self._top = settings, top
        self.passages: dict[str, Passage] = {}
        self._asked: set[str] = set()
        self.lists: list[tuple[float, dict[str, float]]] = []
        self.routes: list[RouteTrace] = []

    def ask(self, query: Query, weight: float, where: IndexFilter) -> None:
        """The lexical and the dense route of one wording."""
        narrowed = _narrowed(where, query)
        if narrowed is None:
            return
        tokens, share = lexical_tokens(query.text), self._settings.dense_weight
        collection = self._library.collection
        if tokens and query.origin != "hypothetical":  # invented words are no evidence, their meaning may be
            fetch: Fetch = lambda limit: self._index.lexical(collection, tokens, narrowed, limit)  # noqa: E731
            self._add("lexical", query.text, weight * (1 - share), self._visible(fetch))
        if self._embedder is not None:
            vector = query_vector(cast(Hashable, self._embedder), query.text)
            fetch = lambda limit: self._index.dense(collection, vector, narrowed, limit)  # noqa: E731
            self._add("dense", query.text, weight * share, self._visible(fetch))

    def exact(self, question: str, where: IndexFilter) -> None:
        """Passages that hold the codes, dates and numbers of the question as they are, whatever else they say."""
        wanted = identifiers(question)
        tokens = lexical_tokens(" ".join(wanted))
        if not tokens:
            return
        self._visible(lambda limit: self._index.lexical(self._library.collection, tokens, where, limit))
        shares = {id_: share_held(wanted, _whole(one)) for id_, one in self.passages.items()}
        held = {id_: share for id_, share in shares.items() if share > 0}
        if held and (len(held) < len(self.passages) or len(set(held.values())) > 1):
            self._add("exact", " ".join(wanted), self._settings.exact_weight, held)

    def related(self, question: str) -> None:
        """What the subjects of the question are related to."""
        found = self._library.related(question)
        self._hydrate(list(found))
        visible = {id_: score for id_, score in found.items() if id_ in self.passages}
        if visible:
            self._add("related", question, self._settings.expansion_weight, visible)

    def spelled(self, question: str) -> str | None:
        """The question with each Latin word that no candidate holds read as the one close word that they do hold."""
        words = set(WORD.findall(fold(question)))
        if not words or not self.passages:
            return None
        known = {word for one in self.passages.values() for word in WORD.findall(fold(_whole(one)))}
        mended = fold(question)
        for word in sorted(words - known):
            if close := _close(word, known):
                mended = re.sub(rf"(?<![a-z]){word}(?![a-z])", close, mended)
        return mended if mended != fold(question) else None

    def best(self, route: str, id_: str) -> float | None:
        found = [dict(one.candidates).get(id_) for one in self.routes if one.route == route]
        return max((score for score in found if score is not None), default=None)

    def _visible(self, fetch: Fetch) -> dict[str, float]:
        limit = max(self._settings.depth, self._top)
        while True:
            found = fetch(limit)
            self._hydrate([hit.id for hit in found])
            visible = {hit.id: hit.score for hit in found if hit.id in self.passages}
            if len(visible) >= self._top or len(found) < limit or limit >= self._settings.max_depth:
                return visible
            limit *= 4

    def _add(self, route: str, query: str, weight: float, scores: dict[str, float]) -> None:
        self.lists.append((weight, scores))
        self.routes.append(RouteTrace(route=route, query=query, candidates=tuple(scores.items())))

    def _hydrate(self, ids: Sequence[str]) -> None:
        new = [id_ for id_ in ids if id_ not in self._asked]
        self._asked.update(new)
        if new:
            self.passages.update(self._library.hydrate(new))


@lru_cache(maxsize=4096)
def query_vector(embedder: Any, text: str) -> Any:
    """A vector depends on model and text alone, so it outlives releases and serves every reader."""
    return embedder.embed_query(text)


def _whole(passage: Passage) -> str:
    return f"{passage.title}\n{passage.context}\n{passage.text}"


def _narrowed(where: IndexFilter, query: Query) -> IndexFilter | None:
    """The filter with the query's own source and date limits inside it; None when nothing can meet both."""
    sources = query.sources and tuple(one for one in query.sources if not where.sources or one in where.sources)
    if query.sources and not sources:
        return None
    first = [one for one in (where.dated_from, query.dated_from) if one is not None]
    last = [one for one in (where.dated_to, query.dated_to) if one is not None]
    bounds = {"dated_from": max(first) if first else None, "dated_to": min(last) if last else None}
    return where.model_copy(update={"sources": sources or where.sources, **bounds})


def _close(word: str, known: set[str]) -> str | None:
    """The only word within one slip (two from eight letters on) with the same first letter."""
    from rapidfuzz.distance import DamerauLevenshtein

    slips = 1 if len(word) < 8 else 2
    near = [
        one
        for one in known
        if one[0] == word[0] and DamerauLevenshtein.distance(word, one, score_cutoff=slips) <= slips
    ]
    stems = {lexical_tokens(one) for one in near}
    return min(near, key=lambda one: (abs(len(one) - len(word)), one)) if len(stems) == 1 else None
