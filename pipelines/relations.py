"""Relations between things that documents name, as search follows them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, Text, bindparam, func, or_, select

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
    lowered = question.lower()
    return [
        Related(chunk, object_ if subject.lower() in lowered else subject)
        for chunk, subject, object_ in tx.execute(_named_in(), {"kb": kb, "asked": lowered})
    ]


@cache
def _named_in() -> Select[Any]:
    """Relations of `kb` with an end that stands in `asked`. Built once: building costs more than running."""
    r, v = tables.relation, tables.version
    asked: Any = bindparam("asked", type_=Text)
    by_subject = func.instr(asked, func.lower(r.c.subject)) > 0
    by_object = func.instr(asked, func.lower(r.c.object)) > 0
    return (
        select(r.c.chunk, r.c.subject, r.c.object)
        .join(v, v.c.id == r.c.version)
        .where(v.c.kb == bindparam("kb"), func.length(r.c.subject) >= SHORTEST, func.length(r.c.object) >= SHORTEST)
        .where(or_(by_subject, by_object))
        .order_by(func.length(r.c.subject).desc(), r.c.chunk, r.c.subject, r.c.object)
        .limit(MOST)
    )


def chunks_about(tx: Connection, kb: str, names: Sequence[str]) -> list[str]:
    """Chunks that name one of these as an entity or as the subject of a relation."""
    if not names:
        return []
    given = {"kb": kb, "names": list(dict.fromkeys(names))}
    return list(dict.fromkeys(one for query in _naming() for one in tx.execute(query, given).scalars()))


@cache
def _naming() -> tuple[Select[Any], ...]:
    """Chunks of `kb` with one of `names` as an entity, then those with one as the subject of a relation."""
    v = tables.version
    names: Any = bindparam("names", expanding=True)
    return tuple(
        select(table.c.chunk)
        .join(v, v.c.id == table.c.version)
        .where(v.c.kb == bindparam("kb"), table.c[column].in_(names))
        .order_by(table.c.id)
        .limit(5 * MOST)
        for table, column in ((tables.entity, "text"), (tables.relation, "subject"))
    )
