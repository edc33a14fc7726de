"""Search a release before it is published: what readers have now, less what the release closes, and what it opens.

The index does not hold the new passages yet. They are compared here, in memory, by the vectors that were made when the
release was built; BM25 is computed over the candidates of both, so that their scores can be compared.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, func, select

from pipelines.inside import held_by
from pipelines.layers import load
from pipelines.library import Reader, SqlLibrary, whole
from pipelines.publish import vectors
from pipelines.publish.collections import embedder_for
from pipelines.publish.publish import days
from pipelines.publish.rows import AUTHORITY, live_release, plan_rows
from schemas.chunk import Masked
from schemas.index import IndexFilter, IndexHit
from schemas.search import Passage, SearchResult
from schemas.source import Source
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App

PUSHED_DOWN = 1000
K1, B = 1.2, 0.75


@dataclass(frozen=True)
class _Row:
    """A passage that the release would open."""

    passage: Passage
    acl: int
    tokens: tuple[str, ...]
    vector: Any


@dataclass(frozen=True)
class _Staged:
    live: int
    rows: Mapping[str, _Row]
    closed: frozenset[str]


def preview(app: "App", number: int, text: str, who: Reader, top: int = 8) -> SearchResult | None:
    """As `who` would search at release `number`; None before there is anything to search. Nothing is logged."""
    from pipelines.ask import find

    with app.database.read() as tx:
        r = tables.release
        published = tx.execute(select(r.c.published).where(r.c.kb == app.kb, r.c.number == number)).scalar()
    if published is not None:
        return find(app, text, who, number, top)[1]
    return whole(app, lambda: _search(app, number, text, who, top))


def _search(app: "App", number: int, text: str, who: Reader, top: int) -> SearchResult:
    from pipelines.retrieve.search import search

    staged = _staged(app, number)
    library = _PreviewLibrary(app, who, staged)
    return search(
        text,
        library=library,
        index=_PreviewIndex(app, library, staged),  # type: ignore[arg-type]
        embedder=embedder_for(app, library.embedder) if library.embedder else app.embedder(),
        settings=app.retrieve,
        top=top,
        clock=app.clock,
    )


class _PreviewLibrary(SqlLibrary):
    """The live release with the changes of one in review laid over it."""

    def __init__(self, app: "App", reader: Reader, staged: _Staged) -> None:
        super().__init__(app, reader, staged.live)
        self._staged = staged
        self.hidden_rows = tuple(sorted(staged.closed)) if len(staged.closed) <= PUSHED_DOWN else ()
        with app.database.read() as tx:
            self._denied_subjects = _denied(tx, app.kb)

    def hydrate(self, ids: Sequence[str]) -> dict[str, Passage]:
        found = super().hydrate([one for one in ids if one not in self._staged.rows and one not in self._staged.closed])
        return found | {one: self._staged.rows[one].passage for one in ids if self.shows(one)}

    def _planned(self) -> tuple[set[str], set[str]]:
        opened = {row.passage.chunk for id_, row in self._staged.rows.items() if self.shows(id_)}
        return opened, {id_.partition("@")[0] for id_ in self._staged.closed}

    def shows(self, id_: str) -> bool:
        """Whether this reader would see a passage of the release."""
        row = self._staged.rows.get(id_)
        if row is None or row.acl not in self.acl:
            return False
        one = row.passage
        mine = {("chunk", one.chunk), ("document", one.document), ("version", one.version), ("source", one.source)}
        return not mine & self._denied_subjects


class _PreviewIndex:
    """The real index and the release's own passages as one."""

    def __init__(self, app: "App", library: _PreviewLibrary, staged: _Staged) -> None:
        self._app, self._library, self._staged = app, library, staged

    def dense(self, collection: str, vector: Any, where: IndexFilter, limit: int) -> list[IndexHit]:
        own = [IndexHit(id=id_, score=float(row.vector @ vector)) for id_, row in self._mine(where)]
        there = self._app.index().dense(collection, vector, where, limit) if collection else []
        return sorted([*own, *there], key=lambda hit: (-hit.score, hit.id))[:limit]

    def lexical(self, collection: str, tokens: str, where: IndexFilter, limit: int) -> list[IndexHit]:
        from pipelines.retrieve.tokens import lexical_tokens

        there = self._app.index().lexical(collection, tokens, where, limit) if collection else []
        shown = self._library.hydrate([hit.id for hit in there])
        texts = {id_: lexical_tokens(f"{one.context}\n{one.text}").split() for id_, one in shown.items()}
        texts |= {id_: list(row.tokens) for id_, row in self._mine(where)}
        scores = bm25(tokens.split(), texts)
        hits = [IndexHit(id=id_, score=score) for id_, score in scores.items() if score > 0]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]

    def _mine(self, where: IndexFilter) -> list[tuple[str, _Row]]:
        return [(id_, row) for id_, row in self._staged.rows.items() if self._library.shows(id_) and _fits(row, where)]


def _fits(row: _Row, where: IndexFilter) -> bool:
    one = row.passage
    return (
        (not where.sources or one.source in where.sources)
        and (not where.kinds or one.kind in where.kinds)
        and (where.dated_from is None or one.dated >= where.dated_from)
        and (where.dated_to is None or one.dated <= where.dated_to)
    )


def bm25(question: Sequence[str], texts: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Score by id over these texts alone (Robertson and Zaragoza, 2009)."""
    counts = {id_: Counter(words) for id_, words in texts.items()}
    mean = sum(map(len, texts.values())) / max(1, len(texts)) or 1.0
    scores = dict.fromkeys(texts, 0.0)
    for word in set(question):
        holding = sum(word in one for one in counts.values())
        weight = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
        for id_, one in counts.items():
            often = one[word]
            scores[id_] += weight * often * (K1 + 1) / (often + K1 * (1 - B + B * len(texts[id_]) / mean))
    return scores


def _denied(tx: Connection, kb: str) -> set[tuple[str, str]]:
    t = tables.deny
    found = {(kind, subject) for kind, subject in tx.execute(select(t.c.kind, t.c.subject).where(t.c.kb == kb))}
    whole = held_by(select(t.c.subject).where(t.c.kb == kb, t.c.kind == "document"))
    return found | {("document", one) for one in tx.execute(whole).scalars()}


_kept: dict[tuple[str, str, int], tuple[int, _Staged]] = {}
"""The last preparation of a release, with the place of the audit at which it was made: any decision renews it."""


def _staged(app: "App", number: int) -> _Staged:
    with app.database.read() as tx:
        place = tx.execute(select(func.max(tables.audit.c.sequence))).scalar() or 0
    key = (str(app.database.engine.url), app.kb, number)
    if key in _kept and _kept[key][0] == place:
        return _kept[key][1]
    made = _prepare(app, number)
    _kept.clear()
    _kept[key] = (place, made)
    return made


def _prepare(app: "App", number: int) -> _Staged:
    item = tables.release_item
    query = select(item.c.document, item.c.version).where(
        item.c.kb == app.kb, item.c.release == number, item.c.decision.in_(("pending", "approved"))
    )
    with app.database.read() as tx:
        live = live_release(tx, app.kb)
        plan = plan_rows(tx, app, live, dict(tx.execute(query).all()))
        described = _described(tx, {one.version for one in plan.open})
    fingerprint = app.embedder().description.fingerprint
    stored = vectors.read(app, [one.content_hash for one in plan.open], fingerprint)
    wanted = {(one.version, one.chunk): one for one in plan.open}
    rows: dict[str, _Row] = {}
    for version, about in described.items():
        for chunk in load(app, about.artifacts["mask"], Masked).chunks:
            one = wanted.get((version, chunk.id))
            if one is not None and one.content_hash in stored:
                rows[f"{chunk.id}@{number}"] = _row(number, about, chunk, one.quality, stored[one.content_hash])
    return _Staged(live, rows, frozenset(plan.close))


def _described(tx: Connection, versions: set[str]) -> dict[str, Any]:
    v, d, s = tables.version, tables.document, tables.source
    query = (
        select(v, d.c.source, d.c.acl, s.c.config)
        .join(d, d.c.id == v.c.document)
        .join(s, (s.c.kb == d.c.kb) & (s.c.name == d.c.source))
    )
    wanted, found = sorted(versions), {}
    for start in range(0, len(wanted), 500):
        for row in tx.execute(query.where(v.c.id.in_(wanted[start : start + 500]))):
            found[row.id] = row
    return found


def _row(number: int, about: Any, chunk: Any, quality: float, vector: Any) -> _Row:
    from pipelines.retrieve.tokens import lexical_tokens

    passage = Passage(
        id=f"{chunk.id}@{number}",
        chunk=chunk.id,
        document=about.document,
        version=about.id,
        release=number,
        source=about.source,
        title=about.title,
        uri=about.uri,
        section=chunk.section,
        page=chunk.page_start,
        text=chunk.text,
        context=chunk.context,
        html=chunk.html,
        kind=chunk.kind,
        authority=AUTHORITY[Source.model_validate(about.config).authority],
        dated=days(about.dated),
        quality=quality,
    )
    return _Row(passage, about.acl, tuple(lexical_tokens(f"{chunk.context}\n{chunk.text}").split()), vector)
