"""One search: understand, recall, hydrate, fuse."""

import time
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any, cast

from pipelines.ports import Clock, Embedder, LanguageModel, VectorIndex
from pipelines.retrieve.fuse import collapse, diversify, minmax, reciprocal_ranks
from pipelines.retrieve.library import Library
from pipelines.retrieve.settings import RetrieveSettings
from pipelines.retrieve.tokens import lexical_tokens
from pipelines.retrieve.understand import understand
from schemas.index import IndexFilter, IndexHit
from schemas.search import Hit, Passage, Query, RouteTrace, SearchResult, SearchTrace

Fetch = Callable[[int], list[IndexHit]]
YEARS_OLD = 10 * 365


class _Recall:
    """Candidates of all routes that the reader may see; asks the index for more while too few are left."""

    def __init__(self, library: Library, settings: RetrieveSettings, top: int) -> None:
        self._library, self._settings, self._top = library, settings, top
        self.passages: dict[str, Passage] = {}
        self._asked: set[str] = set()
        self.lists: list[tuple[float, dict[str, float]]] = []
        self.routes: list[RouteTrace] = []

    def add(self, route: str, query: Query, weight: float, fetch: Fetch) -> None:
        limit = max(self._settings.depth, self._top)
        while True:
            found = fetch(limit)
            self._hydrate([hit.id for hit in found])
            visible = {hit.id: hit.score for hit in found if hit.id in self.passages}
            if len(visible) >= self._top or len(found) < limit or limit >= self._settings.max_depth:
                break
            limit *= 4
        self.lists.append((weight, visible))
        self.routes.append(RouteTrace(route=route, query=query.text, candidates=tuple(visible.items())))

    def _hydrate(self, ids: Sequence[str]) -> None:
        new = [id_ for id_ in ids if id_ not in self._asked]
        self._asked.update(new)
        if new:
            self.passages.update(self._library.hydrate(new))

    def best(self, route: str, id_: str) -> float | None:
        found = [dict(one.candidates).get(id_) for one in self.routes if one.route == route]
        return max((score for score in found if score is not None), default=None)


def search(
    text: str,
    *,
    library: Library,
    index: VectorIndex,
    embedder: Embedder | None,
    settings: RetrieveSettings,
    top: int = 10,
    where: IndexFilter | None = None,
    history: Sequence[str] = (),
    llm: LanguageModel | None = None,
    clock: Clock = time.time,
) -> SearchResult:
    """`where` narrows by source, kind, language or date; release, access and deny list always come from the library."""
    seconds: dict[str, float] = {}
    start = time.perf_counter()

    def lap(step: str) -> None:
        nonlocal start
        now = time.perf_counter()
        seconds[step], start = round(now - start, 6), now

    queries = understand(text, settings, clock, history, llm) if text.strip() else ()
    lap("understand")
    recall = _Recall(library, settings, top)
    base = where or IndexFilter(release=library.release, acl=library.acl)
    own = {"release": library.release, "acl": library.acl, "not_documents": library.denied_documents}
    own["not_ids"] = library.hidden_rows
    allowed = base.model_copy(update=own)
    for number, query in enumerate(queries if library.acl else ()):
        _recall(query, recall, library, index, embedder, settings, allowed, 1.0 if number == 0 else 0.0)
    lap("recall")
    fused = _fuse(recall, settings)
    hits = _rank(fused, recall, settings, top)
    lap("fuse")
    best_first = tuple(sorted(fused.items(), key=lambda one: (-one[1], one[0])))
    trace = SearchTrace(
        release=library.release, queries=queries, routes=tuple(recall.routes), fused=best_first, seconds=seconds
    )
    return SearchResult(hits=tuple(hits), trace=trace)


def _recall(
    query: Query,
    recall: _Recall,
    library: Library,
    index: VectorIndex,
    embedder: Embedder | None,
    settings: RetrieveSettings,
    where: IndexFilter,
    original: float,
) -> None:
    weight = original or settings.variant_weight / 2
    tokens = lexical_tokens(query.text)
    if tokens:
        share = weight * (1 - settings.dense_weight)
        recall.add("lexical", query, share, lambda limit: index.lexical(library.collection, tokens, where, limit))
    if embedder is not None:
        vector = query_vector(cast(Hashable, embedder), query.text)
        share = weight * settings.dense_weight
        recall.add("dense", query, share, lambda limit: index.dense(library.collection, vector, where, limit))


@lru_cache(maxsize=4096)
def query_vector(embedder: Any, text: str) -> Any:
    """A vector depends on model and text alone, so it outlives releases and serves every reader."""
    return embedder.embed_query(text)


def _fuse(recall: _Recall, settings: RetrieveSettings) -> dict[str, float]:
    if settings.fusion == "rrf":
        fused = reciprocal_ranks(recall.lists, settings.rrf_k, settings.depth)
        scale = settings.rrf_k + 1.0  # the best possible score becomes the sum of weights, as with min-max
        fused = {id_: score * scale for id_, score in fused.items()}
    else:
        fused = minmax(recall.lists, settings.depth)
    newest = max((one.dated for one in recall.passages.values()), default=0)
    return {id_: score + _prior(recall.passages[id_], settings, newest) for id_, score in fused.items()}


def _prior(passage: Passage, settings: RetrieveSettings, newest: int) -> float:
    age = min((newest - passage.dated) / YEARS_OLD, 1.0) if passage.dated else 1.0
    return settings.authority_weight * (4 - passage.authority) / 3 + settings.recency_weight * (1 - age)


def _rank(fused: dict[str, float], recall: _Recall, settings: RetrieveSettings, top: int) -> list[Hit]:
    order = sorted(fused, key=lambda id_: (-fused[id_], id_))
    hits = collapse(
        Hit(
            passage=recall.passages[id_],
            score=fused[id_],
            dense=recall.best("dense", id_),
            lexical=recall.best("lexical", id_),
        )
        for id_ in order
        if fused[id_] >= settings.threshold
    )
    if settings.mmr > 0:
        return diversify(hits, top, settings.mmr, lambda one: set(lexical_tokens(one).split()))
    return hits[:top]
