"""One search: understand, recall, hydrate, fuse, rank."""

import time
from collections.abc import Sequence

from pipelines.ports import Clock, Embedder, LanguageModel, Reranker, VectorIndex
from pipelines.retrieve.library import Library
from pipelines.retrieve.rank import fuse, ranked
from pipelines.retrieve.recall import Recall
from pipelines.retrieve.settings import RetrieveSettings
from pipelines.retrieve.understand import Understood, understand
from schemas.index import IndexFilter
from schemas.search import Query, SearchResult, SearchTrace


class _Laps:
    """Wall seconds of each step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def done(self, step: str) -> None:
        now = time.perf_counter()
        self.seconds[step], self._last = round(now - self._last, 6), now


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
    reranker: Reranker | None = None,
    clock: Clock = time.time,
) -> SearchResult:
    """`where` narrows by source, kind, language or date; release, access and deny list always come from the library."""
    laps = _Laps()
    understood = understand(text, settings, clock, history, llm, library.sources) if text.strip() else Understood(())
    queries = understood.queries
    laps.done("understand")
    recall = Recall(library, index, embedder, settings, top)
    if queries and library.acl:
        queries = _recalled(queries, recall, _allowed(library, where), settings)
    laps.done("recall")
    fused = fuse(recall, settings)
    laps.done("fuse")
    hits, said = ranked(queries[0].text if queries else "", fused, recall, library, settings, top, reranker)
    laps.done("rank")
    trace = SearchTrace(
        release=library.release,
        queries=queries,
        routes=tuple(recall.routes),
        fused=tuple(sorted(fused.items(), key=lambda one: (-one[1], one[0]))),
        reranked=said,
        failed=(understood.failed,) if understood.failed else (),
        seconds=laps.seconds,
    )
    return SearchResult(hits=tuple(hits), trace=trace)


def _allowed(library: Library, where: IndexFilter | None) -> IndexFilter:
    base = where or IndexFilter(release=library.release, acl=library.acl)
    own = {"release": library.release, "acl": library.acl, "also_ids": ()}
    own |= {"not_documents": library.denied_documents, "not_ids": library.hidden_rows}
    return base.model_copy(update=own)


def _recalled(
    queries: tuple[Query, ...], recall: Recall, where: IndexFilter, settings: RetrieveSettings
) -> tuple[Query, ...]:
    """Fills `recall`; returns the queries, with the mended spelling where there is one."""
    original, variants = queries[0], list(queries[1:])
    recall.ask(original, 1.0, where)
    mended = recall.spelled(original.text) if settings.spelling else None
    if mended:
        variants.append(Query(text=mended, origin="spelling"))
    for query in variants:
        recall.ask(query, settings.variant_weight / len(variants), where)
    if settings.identifiers:
        recall.exact(max(variants, key=_named, default=original).text, where)
    if settings.expansion:
        recall.related(" ".join(dict.fromkeys(one.text for one in queries if one.origin in ("original", "history"))))
    return (original, *variants)


def _named(query: Query) -> bool:
    """The wording in which relative time has become a date."""
    return query.origin == "relative time"
