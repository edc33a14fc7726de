"""Finds the conflicts that a release would bring, before anybody approves it."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

from sqlalchemy import Connection, exists, or_, select

from pipelines.app import App
from pipelines.conflict.apart import apart
from pipelines.conflict.candidates import Pair, Place, candidates
from pipelines.conflict.compare import Comparison, compare
from pipelines.conflict.judge import judged
from pipelines.derived import working_on
from pipelines.ids import digest
from pipelines.layers import load
from pipelines.publish.rows import visible_versions
from schemas.chunk import Masked, MaskedChunk
from sql import tables

FAMILY = 4
"""So many others may contradict one text before it is asked whether they are all fillings of one template."""
QUOTED = 160
"""Characters of a span that the evidence quotes; the text is masked."""


@dataclass(frozen=True)
class Found:
    """A conflict as it goes into its table."""

    pair: Pair
    score: float
    method: str
    evidence: dict[str, Any]


def detect(app: App, changes: Mapping[str, str | None]) -> list[Found]:
    """`changes`: new version by document (None: removed). Reads, compares and asks; writes nothing."""
    with app.database.read() as tx:
        active = visible_versions(tx, app.kb)
        active.update({document: version for document, version in changes.items() if version})
        active = {document: version for document, version in active.items() if changes.get(document, "") is not None}
        pairs = candidates(tx, active, [document for document, version in changes.items() if version])
        known = _known(tx, app, pairs)
    texts = _texts(app)
    llm = app.llm()
    found: list[Found] = []
    for pair in pairs:
        if conflict_id(app, pair) in known:
            continue
        a, b = texts(pair.a.version).get(pair.a.chunk), texts(pair.b.version).get(pair.b.chunk)
        if a is None or b is None:
            continue
        result = compare(a.text, b.text)
        if apart(result, (a.text, b.text), (a.context, b.context)):
            continue
        with working_on(pair.a.version, pair.b.version):
            yes, method, reason = judged(a.text, b.text, result, llm)
        if yes:
            found.append(Found(pair, result.score, method, evidence(a.text, b.text, result, reason)))
    return _without_families(found, lambda place: texts(place.version)[place.chunk].text)


def _without_families(found: Sequence[Found], text: Callable[[Place], str]) -> list[Found]:
    """A text that contradicts many others, which contradict one another too, is a filling of a template: its pairs are
    left out. One that contradicts many that agree among themselves stays."""
    partners: dict[Place, list[Place]] = defaultdict(list)
    for one in found:
        partners[one.pair.a].append(one.pair.b)
        partners[one.pair.b].append(one.pair.a)
    family = {place for place, others in partners.items() if len(others) > FAMILY and _quarrel(others, text)}
    return [one for one in found if not family & set(one.pair)]


def _quarrel(places: Sequence[Place], text: Callable[[Place], str]) -> bool:
    """Whether most of them contradict one another; a few speak for all."""
    pairs = list(combinations(sorted(places)[: FAMILY + 1], 2))
    return sum(compare(text(a), text(b)).outcome == "conflict" for a, b in pairs) * 2 > len(pairs)


def conflict_id(app: App, pair: Pair) -> str:
    return digest(app.key, "conflict", pair.a.chunk, pair.b.chunk)


def _known(tx: Connection, app: App, pairs: Sequence[Pair]) -> set[str]:
    ids = [conflict_id(app, pair) for pair in pairs]
    c = tables.conflict
    found: set[str] = set()
    for start in range(0, len(ids), 500):
        found.update(tx.execute(select(c.c.id).where(c.c.id.in_(ids[start : start + 500]))).scalars())
    return found


def _texts(app: App) -> Callable[[str], dict[str, MaskedChunk]]:
    """Masked chunks by id of a version; the pairs come in the order of their ids, so a few versions stay in memory."""

    @lru_cache(maxsize=128)
    def texts(version: str) -> dict[str, MaskedChunk]:
        with app.database.read() as tx:
            where = tables.version.c.id == version
            key = tx.execute(select(tables.version.c.artifacts).where(where)).scalar_one()["mask"]
        return {one.id: one for one in load(app, key, Masked).chunks}

    return texts


def evidence(a: str, b: str, found: Comparison, reason: str = "") -> dict[str, Any]:
    """The places that differ, gravest kinds first, each with what both texts say there."""
    order = {"text": 2, "actor": 1, "name": 1}
    places = sorted(found.differences, key=lambda one: (not one.both, order.get(one.kind, 0), one.a_start))
    return {
        "similarity": round(found.similarity, 3),
        "reason": reason,
        "kinds": sorted({one.kind for one in places if one.both or one.clear}),
        "differences": [
            {
                "kind": one.kind,
                "a": [one.a_start, one.a_end],
                "b": [one.b_start, one.b_end],
                "a_text": a[one.a_start : one.a_end][:QUOTED],
                "b_text": b[one.b_start : one.b_end][:QUOTED],
            }
            for one in places[:20]
        ],
    }


def store(tx: Connection, app: App, found: Iterable[Found]) -> None:
    """Doing it twice is harmless; a decision that was taken stays."""
    rows = [
        {
            "id": conflict_id(app, one.pair),
            "kb": app.kb,
            "a": one.pair.a.chunk,
            "b": one.pair.b.chunk,
            "document_a": one.pair.a.document,
            "document_b": one.pair.b.document,
            "score": one.score,
            "method": one.method,
            "evidence": one.evidence,
            "found": app.clock(),
            "strategy": "open",
            "winner": None,
            "note": "",
            "actor": "",
            "decided": None,
        }
        for one in found
    ]
    if rows:
        tx.execute(tables.insert_ignore(tables.conflict), rows)


def standing() -> Any:
    """SQL: whether both chunks of a conflict are in versions that readers see or that wait for review."""
    return _active(tables.conflict.c.a) & _active(tables.conflict.c.b)


def _active(chunk: Any) -> Any:
    vc, v = tables.version_chunk, tables.version
    waiting = v.c.state.in_(("staged", "published"))
    return exists().where(vc.c.chunk == chunk, v.c.id == vc.c.version, waiting)


def undecided(tx: Connection, version: str) -> bool:
    """Whether a chunk of the version is in a conflict that nobody has settled."""
    c, vc = tables.conflict, tables.version_chunk
    mine = select(vc.c.chunk).where(vc.c.version == version)
    where = or_(c.c.a.in_(mine), c.c.b.in_(mine)) & c.c.strategy.in_(("open", "ask_owner"))
    return tx.execute(select(c.c.id).where(where, standing()).limit(1)).first() is not None
