"""Search and ask as a reader does: one release, one reader's rights, and a line in the query log for impact."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import lru_cache, partial
from typing import Any

from pipelines.app import App
from pipelines.library import Reader, SqlLibrary, whole
from pipelines.publish.collections import embedder_for
from pipelines.query_log import log
from schemas.index import IndexFilter
from schemas.search import Answer, Contradiction, Hit, SearchResult

NOT_FOUND = "not found in the knowledge base"
ASK_TOP = 10


def reader(user: str | None, groups: str) -> Reader:
    """From the command line's words: teams with commas."""
    return Reader(user=user, groups=tuple(one.strip() for one in groups.split(",") if one.strip()))


def narrowed(
    sources: Sequence[str] = (),
    kinds: Sequence[str] = (),
    languages: Sequence[str] = (),
    dated_from: date | None = None,
    dated_to: date | None = None,
) -> IndexFilter:
    """What a search is limited to; release and rights are put in by the search itself."""
    days = [None if one is None else one.toordinal() - date(1970, 1, 1).toordinal() for one in (dated_from, dated_to)]
    limits = {"sources": tuple(sources), "kinds": tuple(kinds), "languages": tuple(languages)}
    return IndexFilter(release=0, acl=(), **limits, dated_from=days[0], dated_to=days[1])


def find(
    app: App,
    text: str,
    who: Reader,
    as_of: int | None,
    top: int,
    where: IndexFilter | None = None,
    history: Sequence[str] = (),
) -> tuple[SqlLibrary, SearchResult | None]:
    """None before the first release."""
    return whole(app, lambda: _find(app, text, who, as_of, top, where, history))


def _find(
    app: App,
    text: str,
    who: Reader,
    as_of: int | None,
    top: int,
    where: IndexFilter | None,
    history: Sequence[str],
) -> tuple[SqlLibrary, SearchResult | None]:
    from pipelines.retrieve.search import search as run

    library = SqlLibrary(app, who, as_of)
    if not library.collection or not library.release:
        return library, None
    settings, cache = app.retrieve, _cache(app)
    today = datetime.fromtimestamp(app.clock(), UTC).date()
    key = (library.state(), settings.model_dump_json(), text, tuple(history), where, top, today)
    if (known := cache.get(key, library)) is not None:
        return library, known
    result = run(
        text,
        library=library,
        index=app.index(),
        embedder=embedder_for(app, library.embedder),
        settings=settings,
        top=top,
        where=where,
        history=history,
        llm=app.llm(),
        reranker=app.reranker(),
        clock=app.clock,
    )
    if not result.trace.failed:  # what a model could not do now it may do next time
        cache.put(key, result)
    return library, result


@lru_cache(maxsize=4)
def _cache(app: App) -> Any:
    from pipelines.retrieve.cache import SearchCache

    return SearchCache(app.retrieve.cache)


def search(
    app: App,
    text: str,
    who: Reader,
    as_of: int | None,
    top: int,
    explain: bool,
    where: IndexFilter | None = None,
    history: Sequence[str] = (),
) -> dict[str, Any]:
    """The public object of `sluice search`."""
    library, result = find(app, text, who, as_of, top, where, history)
    hits = result.hits if result else ()
    query = log(app, who, text, library.release, hits, result.trace if result else None)
    shown: dict[str, Any] = {
        "schema": "sluice.search/1",
        "query": query,
        "release": library.release,
        "hits": [_hit(one) for one in hits],
    }
    if explain:
        shown["trace"] = _trace(text, result)
    return shown


def _hit(one: Hit) -> dict[str, Any]:
    passage = one.passage
    return {
        "chunk": passage.chunk,
        "document": passage.document,
        "version": passage.version,
        "release": passage.release,
        "title": passage.title,
        "section": list(passage.section),
        "page": passage.page,
        "score": round(one.score, 6),
        "text": passage.text,
        "authority": f"L{passage.authority}",
        "contradicts": _contradictions(one.contradicts),
    }


def _contradictions(told: Sequence[Contradiction]) -> list[dict[str, str]]:
    return [{"chunk": one.other, "conflict": one.conflict, "note": one.note} for one in told]


def _trace(text: str, result: SearchResult | None, made: Answer | None = None) -> dict[str, Any] | None:
    """What each step did: original and other wordings, candidates and scores of each route, fused, reranked, prompt."""
    if result is None:
        return None
    trace = {"original": text, **result.trace.model_dump(mode="json")}
    if made is not None:
        trace |= {"evidence": round(made.evidence, 4), "prompt": made.prompt, "tokens": made.tokens}
        trace["reason"] = made.reason
    return trace


def ask(
    app: App,
    text: str,
    who: Reader,
    as_of: int | None = None,
    explain: bool = False,
    history: Sequence[str] = (),
) -> dict[str, Any]:
    """The public object of `sluice ask`."""
    library, result = find(app, text, who, as_of, ASK_TOP, history=history)
    made = _answer(app, text, library, result, history)
    hits, trace = (result.hits, result.trace) if result else ((), None)
    query = log(app, who, text, library.release, hits, trace, made)
    shown: dict[str, Any] = {
        "schema": "sluice.ask/1",
        "query": query,
        "found": made.found,
        "answer": made.text if made.found else NOT_FOUND,
        "citations": [
            {
                "n": one.number,
                "chunk": one.passage.chunk,
                "document": one.passage.document,
                "title": one.passage.title,
                "section": list(one.passage.section),
                "page": one.passage.page,
                "quote": one.quote,
            }
            for one in made.citations
        ],
        "contradictions": _told(made, result),
        "release": library.release,
    }
    if explain:
        shown["trace"] = _trace(text, result, made)
    return shown


def _answer(app: App, text: str, library: SqlLibrary, result: SearchResult | None, history: Sequence[str]) -> Answer:
    from pipelines.retrieve.answer import answer as write
    from pipelines.retrieve.similarity import similarity
    from pipelines.retrieve.understand import completed

    if result is None or not result.hits:
        return Answer(found=False, reason="nothing was found")
    alike = partial(similarity, embedder_for(app, library.embedder))
    turns = history[-app.retrieve.history_turns :] if app.retrieve.history_turns else ()
    return write(completed(text, turns), result.hits, app.llm(), app.retrieve, alike)


def _told(made: Answer, result: SearchResult | None) -> list[dict[str, str]]:
    """An answer that rests on a contradicted passage says so."""
    cited = {one.passage.chunk for one in made.citations}
    hits = result.hits if result else ()
    return [told for one in hits if one.passage.chunk in cited for told in _contradictions(one.contradicts)]
