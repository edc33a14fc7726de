"""All that is known about one version of a document: chunks with their facts, pages, links, decisions."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, or_, select

from pipelines.layers import Extractions, Scores, load
from pipelines.report.queue import Name, names
from pipelines.report.scope import Scope
from pipelines.report.wording import Piece, marked
from schemas.base import Record
from schemas.chunk import Masked, MaskedChunk, Parsed
from schemas.document import PageVerdict
from schemas.facts import Extraction, QualityScore
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App


@dataclass(frozen=True)
class Hidden:
    """Text that a reader of the page would not see; only where it is and why, for it was never masked."""

    page: int | None
    code: str


@dataclass(frozen=True)
class Contents:
    """What the layers made of a version. Empty where a layer has not been reached or its artifact is not kept."""

    chunks: tuple[MaskedChunk, ...] = ()
    scores: Mapping[str, QualityScore] | None = None
    extractions: Mapping[str, Extraction] | None = None
    metadata: Mapping[str, str] | None = None
    pages: tuple[PageVerdict, ...] = ()
    hidden: tuple[Hidden, ...] = ()
    media_type: str = ""


def contents(app: "App", artifacts: Mapping[str, str]) -> Contents:
    """Reads artifacts only: no transaction may be open around it."""
    masked, parsed = _load(app, artifacts, "mask", Masked), _load(app, artifacts, "parse", Parsed)
    scores, found = _load(app, artifacts, "score", Scores), _load(app, artifacts, "extract", Extractions)
    document = parsed.document if parsed else None
    return Contents(
        chunks=masked.chunks if masked else (),
        scores={one.chunk: one for one in scores.scores} if scores else {},
        extractions={one.chunk: one for one in found.extractions} if found else {},
        metadata=masked.metadata if masked else {},
        pages=document.pages if document else (),
        hidden=tuple(Hidden(one.page, one.hidden) for one in document.blocks if one.hidden) if document else (),
        media_type=document.media_type if document else "",
    )


def _load(app: "App", artifacts: Mapping[str, str], layer: str, kind: type[Any]) -> Any:
    try:
        return load(app, artifacts[layer], kind)
    except KeyError:
        return None


@dataclass(frozen=True)
class Twin:
    """A chunk that says (nearly) the same somewhere else. `name` is None outside of the reader's scope."""

    chunk: str
    other: str
    outcome: str
    drop: bool
    similarity: float
    kinds: tuple[str, ...]
    """Kinds of things that differ: number, date, …"""
    document: str = ""
    name: Name | None = None
    pieces: tuple[Piece, ...] = ()
    """This chunk's text made into the other's."""


def twins(tx: Connection, scope: Scope, chunks: Mapping[str, str]) -> dict[str, tuple[Twin, ...]]:
    """`chunks`: masked text by id. By chunk, the closest first."""
    link = tables.duplicate_link
    mine = list(chunks)
    rows: list[Any] = []
    for start in range(0, len(mine), 400):
        part = mine[start : start + 400]
        rows += tx.execute(select(link).where(or_(link.c.a.in_(part), link.c.b.in_(part)))).all()
    pairs = [(row.a, row.b, row) for row in rows if row.a in chunks] + [
        (row.b, row.a, row) for row in rows if row.b in chunks
    ]
    homes = _homes(tx, scope, {other for _, other, _ in pairs})
    known = names(tx, {home.document for home in homes.values()})
    found: dict[str, list[Twin]] = defaultdict(list)
    for chunk, other, row in pairs:
        home = homes.get(other)
        found[chunk].append(_twin(chunk, other, row, home, known, chunks[chunk]))
    return {chunk: tuple(sorted(some, key=lambda one: -one.similarity)) for chunk, some in found.items()}


def _twin(chunk: str, other: str, row: Any, home: Any, known: Mapping[str, Name], text: str) -> Twin:
    evidence = row.evidence
    return Twin(
        chunk=chunk,
        other=other,
        outcome=row.outcome,
        drop=row.drop,
        similarity=float(evidence["similarity"]),
        kinds=tuple(sorted({one["kind"] for one in evidence["changes"]})),
        document=home.document if home else "",
        name=known.get(home.document) if home else None,
        pieces=marked(text, home.text) if home and home.text is not None else (),
    )


def _homes(tx: Connection, scope: Scope, chunks: set[str]) -> dict[str, Any]:
    """Document (and masked text, where readers have seen it) of the chunks in scope."""
    vc, v, d, c = tables.version_chunk, tables.version, tables.document, tables.chunk
    found: dict[str, Any] = {}
    wanted = list(chunks)
    for start in range(0, len(wanted), 400):
        query = (
            select(vc.c.chunk, v.c.document, c.c.text)
            .join(v, v.c.id == vc.c.version)
            .join(d, d.c.id == v.c.document)
            .outerjoin(c, (c.c.chunk == vc.c.chunk) & (c.c.content_hash == vc.c.content_hash))
            .where(vc.c.chunk.in_(wanted[start : start + 400]), scope.covers(d))
        )
        for row in tx.execute(query):
            if row.chunk not in found or row.text is not None:
                found[row.chunk] = row
    return found


def findings(tx: Connection, version: str) -> dict[str, tuple[tuple[str, int, str], ...]]:
    """(type, count, operator) by chunk; never a value."""
    p = tables.pii_finding
    found: dict[str, list[tuple[str, int, str]]] = defaultdict(list)
    query = select(p.c.chunk, p.c.type, p.c.count, p.c.operator).where(p.c.version == version).order_by(p.c.type)
    for chunk, type_, number, operator in tx.execute(query):
        found[chunk].append((type_, number, operator))
    return {chunk: tuple(some) for chunk, some in found.items()}


class Said(Record):
    """Something that a person decided."""

    at: float
    actor: str
    verdict: str
    reason: str
    release: int | None = None


def said(tx: Connection, kb: str, document: str) -> tuple[Said, ...]:
    """Decisions on the changes of a document and on itself, newest first."""
    t, item = tables.decision, tables.release_item
    numbers = tx.execute(select(item.c.release).where(item.c.kb == kb, item.c.document == document)).scalars()
    subjects = {f"{number}:{document}": number for number in numbers}
    mine = or_(
        (t.c.kind == "item") & t.c.subject.in_(list(subjects)), (t.c.kind == "document") & (t.c.subject == document)
    )
    rows = tx.execute(select(t).where(t.c.kb == kb, mine).order_by(t.c.id.desc()))
    return tuple(
        Said(at=row.at, actor=row.actor, verdict=row.verdict, reason=row.reason, release=subjects.get(row.subject))
        for row in rows
    )
