"""What the review policies of sources.yaml say about a release: what goes through by itself, and whom to ask about the
rest, until when."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select, update

from pipelines import lifecycle
from pipelines.review.edit import editors
from schemas.source import Source
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App

POLICY = "policy"
"""Actor of what no person decides. Never the maker of a release, so four-eyes checks stay meaningful."""
ALWAYS_ASK = {"held", "edit_lost"}
"""A person's own decision stands behind these: no policy passes over it."""


@dataclass(frozen=True)
class Item:
    """One undecided change with the policy of its source."""

    document: str
    risks: frozenset[str]
    source: Source


@dataclass(frozen=True)
class Question:
    """Whom to ask about what is undecided in a release."""

    users: tuple[str, ...]
    hours: int
    escalates: bool
    """Whether others are asked when nobody has answered by then."""


def reviewers(source: Source, escalated: bool = False) -> tuple[str, ...]:
    """User ids that may decide about changes of a source."""
    review = source.review
    if escalated and review.escalate_to:
        return review.escalate_to
    return review.reviewers or ("admin" if review.approver == "admin" else source.owner,)


def undecided(tx: Connection, kb: str, number: int) -> list[Item]:
    item, d, s = tables.release_item, tables.document, tables.source
    query = (
        select(item.c.document, item.c.risk, s.c.config)
        .join(d, d.c.id == item.c.document)
        .join(s, (s.c.kb == d.c.kb) & (s.c.name == d.c.source))
        .where(item.c.kb == kb, item.c.release == number, item.c.decision == "pending")
        .order_by(item.c.document)
    )
    return [Item(row.document, frozenset(row.risk), Source.model_validate(row.config)) for row in tx.execute(query)]


def passes(one: Item) -> bool:
    """Whether the change needs no person. A personal source is its user's own affair."""
    if one.source.scope.startswith("user:"):
        return True
    review = one.source.review
    asks = set(review.hold_on) | ALWAYS_ASK | ({"edited"} if review.four_eyes else set())
    return review.approver == "auto" and not one.risks & asks


def question(app: "App", number: int, escalated: bool) -> Question:
    """Of several sources, all their reviewers and the nearest deadline. Who may not approve alone, or has approved
    already, is asked last: only where nobody else is left."""
    with app.database.read() as tx:
        items = undecided(tx, app.kb, number)
        asked = {one.document: one.source for one in items}
        spent = approvals(tx, app.kb, number) | barred(tx, app.kb, number, asked)
    users = {user for one in items for user in reviewers(one.source, escalated)}
    policies = [one.source.review for one in items]
    return Question(
        users=tuple(sorted(users - spent or users)),
        hours=min((one.deadline_hours for one in policies), default=72),
        escalates=not escalated and any(one.escalate_to for one in policies),
    )


def approvals(tx: Connection, kb: str, number: int) -> set[str]:
    """Who has approved a release that waits for more people."""
    table = tables.decision
    mine = (table.c.kb == kb) & (table.c.kind == "release") & (table.c.subject == str(number))
    return set(tx.execute(select(table.c.actor).where(mine, table.c.verdict == "approve")).scalars())


def barred(tx: Connection, kb: str, number: int, asked: Mapping[str, Source]) -> set[str]:
    """With four eyes: who started the sync, and who edited chunks of these documents, cannot approve them. `asked`:
    source by document; those of other sources count for nothing."""
    guarded = [document for document, source in asked.items() if source.review.four_eyes]
    if not guarded:
        return set()
    release = tables.release
    maker = select(release.c.created_by).where(release.c.kb == kb, release.c.number == number)
    return set(tx.execute(maker).scalars()) | editors(tx, kb, guarded)


def split(tx: Connection, app: "App", number: int) -> int | None:
    """What is undecided or held leaves for a release of its own, so that the rest need not wait; its number."""
    item, release, kb = tables.release_item, tables.release, tables.knowledge_base
    mine = (item.c.kb == app.kb) & (item.c.release == number)
    rest = mine & item.c.decision.in_(("pending", "held"))
    if tx.execute(select(item.c.document).where(rest).limit(1)).first() is None:
        return None
    old = tx.execute(select(release).where(release.c.kb == app.kb, release.c.number == number)).mappings().one()
    fresh = int(tx.execute(select(kb.c.last_release).where(kb.c.name == app.kb).with_for_update()).scalar_one()) + 1
    tx.execute(update(kb).where(kb.c.name == app.kb).values(last_release=fresh))
    row = {**old, "number": fresh, "state": "building", "created": app.clock()}
    tx.execute(release.insert().values(**row))
    tx.execute(update(item).where(rest).values(release=fresh))
    for one in (number, fresh):
        changes = tx.execute(select(item.c.change).where(item.c.kb == app.kb, item.c.release == one)).scalars().all()
        counts: dict[str, Any] = {change: changes.count(change) for change in sorted(set(changes))}
        where = (release.c.kb == app.kb) & (release.c.number == one)
        tx.execute(update(release).where(where).values(counts=counts))
    reason = f"left release {number}, which does not wait for it"
    lifecycle.move_release(tx, app.kb, fresh, "building", "in_review", app.actor, reason)
    return fresh
