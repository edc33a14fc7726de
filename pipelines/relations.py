"""Relations between things that documents name, as search follows them."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, literal, or_, select

from sql import tables

SHORTEST = 2
"""Characters of a subject that a question may name; shorter ones are found in every word."""
MOST = 20


@dataclass(frozen=True)
class Related:
    """One relation with an end that the question names."""

    chunk: str
    far_end: str


def relations_of(tx: Connection, kb: str, question: str) -> list[Related]:
    """Relations of published versions whose subject or object stands in the question, the longest name first."""
    r, v = tables.relation, tables.version
    asked = literal(question.lower())
    by_subject = func.instr(asked, func.lower(r.c.subject)) > 0
    by_object = func.instr(asked, func.lower(r.c.object)) > 0
    query = (
        select(r.c.chunk, r.c.subject, r.c.object)
        .join(v, v.c.id == r.c.version)
        .where(v.c.kb == kb, func.length(r.c.subject) >= SHORTEST, func.length(r.c.object) >= SHORTEST)
        .where(or_(by_subject, by_object))
        .order_by(func.length(r.c.subject).desc(), r.c.chunk, r.c.subject, r.c.object)
        .limit(MOST)
    )
    lowered = question.lower()
    return [
        Related(chunk, object_ if subject.lower() in lowered else subject)
        for chunk, subject, object_ in tx.execute(query)
    ]


def chunks_about(tx: Connection, kb: str, names: Sequence[str]) -> list[str]:
    """Chunks that name one of these as an entity or as the subject of a relation."""
    if not names:
        return []
    wanted, v, found = list(dict.fromkeys(names)), tables.version, list[str]()
    for table, column in ((tables.entity, tables.entity.c.text), (tables.relation, tables.relation.c.subject)):
        query = select(table.c.chunk).join(v, v.c.id == table.c.version).where(v.c.kb == kb, column.in_(wanted))
        found += tx.execute(query.order_by(table.c.id).limit(5 * MOST)).scalars()
    return list(dict.fromkeys(found))
