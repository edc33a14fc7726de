"""Search and ask as a reader does: one release, one reader's rights, and a line in the query log for impact."""

import secrets
from functools import partial
from typing import Any

from pipelines.app import App
from pipelines.library import Reader, SqlLibrary
from pipelines.publish.collections import embedder_for
from schemas.search import Answer, Hit, SearchResult
from sql import tables


def reader(user: str | None, groups: str) -> Reader:
    """From the command line's words: teams with commas."""
    return Reader(user=user, groups=tuple(one.strip() for one in groups.split(",") if one.strip()))


def find(app: App, text: str, who: Reader, as_of: int | None, top: int) -> tuple[SqlLibrary, SearchResult | None]:
    """None before the first release."""
    from pipelines.retrieve.search import search as run

    library = SqlLibrary(app, who, as_of)
    if not library.collection or not library.release:
        return library, None
    embedder = embedder_for(app, library.embedder)
    app.index().ensure(library.collection, embedder.description.dimension)
    result = run(
        text,
        library=library,
        index=app.index(),
        embedder=embedder,
        settings=app.retrieve,
        top=top,
        llm=app.llm(),
        reranker=app.reranker(),
        clock=app.clock,
    )
    return library, result


def search(app: App, text: str, who: Reader, as_of: int | None, top: int, explain: bool) -> dict[str, Any]:
    """The public object of `sluice search`."""
    library, result = find(app, text, who, as_of, top)
    hits = result.hits if result else ()
    _log(app, who, text, library.release, hits, (), bool(hits))
    shown: dict[str, Any] = {
        "schema": "sluice.search/1",
        "release": library.release,
        "hits": [_hit(one) for one in hits],
    }
    if explain:
        shown["trace"] = result.trace.model_dump(mode="json") if result else None
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
    }


def ask(app: App, text: str, who: Reader, as_of: int | None = None) -> dict[str, Any]:
    """The public object of `sluice ask`."""
    from pipelines.retrieve.answer import answer as write
    from pipelines.retrieve.similarity import similarity

    library, result = find(app, text, who, as_of, 10)
    hits = result.hits if result else ()
    alike = partial(similarity, embedder_for(app, library.embedder)) if hits else None
    made = write(text, hits, app.llm(), app.retrieve, alike) if hits else Answer(found=False)
    cited = tuple(one.passage.chunk for one in made.citations)
    _log(app, who, text, library.release, hits, cited, made.found)
    return {
        "schema": "sluice.ask/1",
        "found": made.found,
        "answer": made.text if made.found else "not found in the knowledge base",
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
        "release": library.release,
    }


def _log(
    app: App, who: Reader, text: str, release: int, hits: tuple[Hit, ...], cited: tuple[str, ...], found: bool
) -> None:
    """What was asked goes into the log masked: a question may name a person."""
    from pipelines.mask import mask_query

    masked = mask_query(text, app.settings.mask, app.key)
    query = secrets.token_hex(16)
    row = {"id": query, "kb": app.kb, "at": app.clock(), "user": who.user or "anonymous", "query": masked}
    rows = [
        {
            "query": query,
            "rank": rank,
            "chunk": one.passage.chunk,
            "document": one.passage.document,
            "cited": one.passage.chunk in cited,
        }
        for rank, one in enumerate(hits)
    ]
    with app.database.write() as tx:
        tx.execute(tables.query_log.insert(), {**row, "release": release, "found": found})
        if rows:
            tx.execute(tables.query_hit.insert(), rows)
