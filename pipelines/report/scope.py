"""What one person may see: the documents that they may read or have to review."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, or_, select

from pipelines.library import Reader
from pipelines.review.policy import reviewers
from schemas.source import Source
from sql import tables


@dataclass(frozen=True)
class Person:
    """Someone who looks at pages. `admin` sees and reviews everything but what is personal to others."""

    user: str
    teams: tuple[str, ...] = ()
    admin: bool = False


@dataclass(frozen=True)
class Scope:
    """Of one knowledge base: readable access sets, and sources that the person reviews."""

    kb: str
    acl: tuple[int, ...]
    sources: tuple[str, ...]
    reviews: tuple[str, ...]
    """Sources whose changes this person may decide on; part of `sources`."""
    reader: Reader
    """As whom this person searches."""

    def covers(self, document: Any) -> Any:
        """SQL: whether a row of `document` (the table or an alias of it) is in scope."""
        return (document.c.kb == self.kb) & or_(document.c.acl.in_(self.acl), document.c.source.in_(self.sources))

    def documents(self) -> Any:
        """SQL: ids of the documents in scope."""
        d = tables.document
        return select(d.c.id).where(self.covers(d))

    def sees(self, tx: Connection, document: str) -> bool:
        d = tables.document
        return tx.execute(select(d.c.id).where(d.c.id == document, self.covers(d))).first() is not None


def scope_of(tx: Connection, kb: str, person: Person) -> Scope:
    """From the sources as they were last synced."""
    s, sets = tables.source, tables.access_set
    sources = [Source.model_validate(row) for row in tx.execute(select(s.c.config).where(s.c.kb == kb)).scalars()]
    mine = Reader(user=person.user, groups=person.teams).principals()
    reviewed = [one.name for one in sources if may_review(one, person)]
    seen = {one.name for one in sources if mine & set(one.readers())} | set(reviewed)
    known = tx.execute(select(sets.c.id, sets.c.principals)).all()
    open_to = {id_ for id_, principals in known if mine & set(principals.split(","))}
    groups = {*person.teams, *(_teams(one for one in sources if one.name in seen) if person.admin else ())}
    return Scope(
        kb=kb,
        acl=tuple(sorted(open_to)),
        sources=tuple(sorted(seen)),
        reviews=tuple(sorted(reviewed)),
        reader=Reader(user=person.user, groups=tuple(sorted(groups))),
    )


def may_review(source: Source, person: Person) -> bool:
    """Personal documents are nobody else's business; else whom the policy names, and admins."""
    if source.scope.startswith("user:"):
        return source.scope == f"user:{person.user}"
    return person.admin or person.user in reviewers(source) or person.user in source.review.escalate_to


def _teams(sources: Iterable[Source]) -> set[str]:
    principals = {one for source in sources for one in source.readers()}
    return {one.removeprefix("team:") for one in principals if one.startswith("team:")}
