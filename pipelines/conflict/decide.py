"""What a person decides about a conflict, and what that means for search."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

from sqlalchemy import Connection, Select, bindparam, or_, select, update

from pipelines import lifecycle
from pipelines.app import App
from pipelines.errors import Code, Conflict
from sql import tables

Strategy = Literal["newest", "authority", "both", "ask_owner"]
STRATEGIES: tuple[str, ...] = get_args(Strategy)


@dataclass(frozen=True)
class Side:
    """One side of a conflict: where its chunk comes from, by its newest version."""

    chunk: str
    document: str
    title: str
    uri: str
    source: str
    owner: str
    authority: str
    dated: str | None
    created: float


@dataclass(frozen=True)
class Ruling:
    """What search does with a chunk that is in a conflict: leave it out, or say that `other` contradicts it."""

    chunk: str
    other: str
    conflict: str
    action: Literal["drop", "note"]
    strategy: str
    kinds: tuple[str, ...]
    note: str


def decide(app: App, id_: str, strategy: Strategy, reason: str, note: str = "") -> dict[str, Any]:
    """Raises Conflict (UNKNOWN_SUBJECT, CONFLICT_UNDECIDABLE). A decision may be replaced by a later one."""
    c = tables.conflict
    with app.database.write() as tx:
        row = _row(tx, app.kb, id_)
        sides = (side(tx, row.a, row.document_a), side(tx, row.b, row.document_b))
        if strategy == "both" and not note.strip():
            reason_ = "both can be valid only where the note says which one holds for whom"
            raise Conflict(Code.CONFLICT_UNDECIDABLE, reason_)
        winner = _winner(strategy, *sides)
        values = {"strategy": strategy, "winner": winner, "note": note, "actor": app.actor, "decided": app.clock()}
        tx.execute(update(c).where(c.c.id == row.id).values(**values))
        detail = {"strategy": strategy, "winner": winner, "note": note}
        lifecycle.record(tx, app.kb, app.actor, "conflict.decided", "conflict", row.id, reason, **detail)
    return {"conflict": row.id, "strategy": strategy, "winner": winner, "note": note}


def _row(tx: Connection, kb: str, id_: str) -> Any:
    """By its id, or by as much of it as names one."""
    c = tables.conflict
    rows = tx.execute(select(c).where(c.c.kb == kb, c.c.id.startswith(id_, autoescape=True)).limit(2)).all()
    if len(rows) != 1:
        raise Conflict(Code.UNKNOWN_SUBJECT, f"there is no conflict {id_}" if not rows else f"{id_} names several")
    return rows[0]


def side(tx: Connection, chunk: str, document: str) -> Side:
    v, d, s = tables.version, tables.document, tables.source
    query = (
        select(v.c.title, v.c.uri, v.c.dated, v.c.created, d.c.source, s.c.config)
        .join(d, d.c.id == v.c.document)
        .join(s, (s.c.kb == d.c.kb) & (s.c.name == d.c.source))
        .join(tables.version_chunk, tables.version_chunk.c.version == v.c.id)
        .where(v.c.document == document, tables.version_chunk.c.chunk == chunk)
    )
    row = tx.execute(query.order_by(v.c.number.desc()).limit(1)).first()
    if row is None:
        raise Conflict(Code.UNKNOWN_SUBJECT, f"document {document} no longer has chunk {chunk}")
    config = row.config
    return Side(
        chunk, document, row.title, row.uri, row.source, config["owner"], config["authority"], row.dated, row.created
    )


def _winner(strategy: str, a: Side, b: Side) -> str | None:
    if strategy in ("both", "ask_owner"):
        return None
    if strategy == "authority":
        if a.authority == b.authority:
            raise Conflict(Code.CONFLICT_UNDECIDABLE, f"both documents have authority {a.authority}")
        return a.chunk if a.authority < b.authority else b.chunk
    # The documents' own dates where both state one; else the order in which they came in.
    one, other = (a.dated, b.dated) if a.dated and b.dated else (a.created, b.created)
    if one == other:
        raise Conflict(Code.CONFLICT_UNDECIDABLE, "both documents are of the same date")
    return a.chunk if str(one) > str(other) else b.chunk


def suggested(a: Side, b: Side) -> str:
    """What facts speak for: authority before date, else the owner."""
    if a.authority != b.authority:
        return "authority"
    return "newest" if a.dated and b.dated and a.dated != b.dated else "ask_owner"


def rulings(
    tx: Connection,
    kb: str,
    release: int,
    chunks: Sequence[str],
    acl: Sequence[int] | None = None,
    opened: Collection[str] = (),
    closed: Collection[str] = (),
) -> tuple[Ruling, ...]:
    """For chunks that a reader found at `release`. The other side counts only where this reader may see it too:
    the loser is left out only when the winner can be shown instead. `acl`: access sets of the reader, None for all.
    `opened`, `closed`: chunks that a preview lays over the release, as this reader would see them."""
    wanted = list(dict.fromkeys(chunks))
    rows: list[Any] = []
    for start in range(0, len(wanted), 500):
        part = wanted[start : start + 500]
        rows += tx.execute(_conflicts(), {"kb": kb, "chunks": part}).all()
    seen = _visible(tx, kb, release, {one for row in rows for one in (row.a, row.b)}, acl)
    seen = (seen - set(closed)) | set(opened)
    asked = set(wanted)
    found = []
    for row in sorted(rows, key=lambda one: str(one.id)):
        for chunk, other in ((row.a, row.b), (row.b, row.a)):
            if chunk in asked and other in seen:
                action: Literal["drop", "note"] = "drop" if row.winner == other else "note"
                if action == "drop" or row.winner is None:
                    kinds = tuple(row.evidence["kinds"])
                    found.append(Ruling(chunk, other, row.id, action, row.strategy, kinds, row.note))
    return tuple(dict.fromkeys(found))


def _visible(tx: Connection, kb: str, release: int, chunks: set[str], acl: Sequence[int] | None) -> set[str]:
    listed, given = sorted(chunks), {"kb": kb, "at": release} | ({} if acl is None else {"acl": acl})
    found: set[str] = set()
    for start in range(0, len(listed), 500):
        found.update(tx.execute(_shown(acl is None), {**given, "chunks": listed[start : start + 500]}).scalars())
    return found


@cache
def _conflicts() -> Select[Any]:
    """Conflicts of `kb` with one of `chunks` on a side. Built once: building costs more than running."""
    c = tables.conflict
    chunks: Any = bindparam("chunks", expanding=True)
    return select(c).where(c.c.kb == bindparam("kb"), or_(c.c.a.in_(chunks), c.c.b.in_(chunks)))


@cache
def _shown(to_all: bool) -> Select[Any]:
    """Those of `chunks` in `kb` that release `at` shows, to readers of `acl` or to all. Built once."""
    from pipelines.library import denied

    c, d = tables.chunk, tables.document
    kb: Any = bindparam("kb")
    at: Any = bindparam("at")
    query = select(c.c.chunk).join(d, d.c.id == c.c.document)
    query = query.where(c.c.kb == kb, c.c.born <= at, c.c.died > at)
    query = query.where(~denied(kb, c.c.chunk, c.c.document, c.c.version, c.c.source))
    if not to_all:
        query = query.where(d.c.acl.in_(bindparam("acl", expanding=True)))
    return query.where(c.c.chunk.in_(bindparam("chunks", expanding=True)))
