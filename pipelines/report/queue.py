"""The changes of a release as a reviewer works them off: what needs a look first, the rest folded away."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, select

from pipelines.report.scope import Scope
from schemas.source import Source
from sql import tables

Group = Literal["look", "low", "decided"]
WEIGHTS = {
    "injection": 90,
    "hidden_text": 80,
    "conflict": 70,
    "big_deletion": 60,
    "low_quality": 40,
    "near_duplicate": 30,
    "parse_warning": 30,
    "removed": 20,
    "pii": 20,
    "new_source": 10,
    "new_document": 1,
}
"""What a reviewer should see first. A risk that is not named here counts as OTHER."""
OTHER = 50
SMALL = 10
"""Below this weight a change needs no look, where its source does not say so itself."""


@dataclass(frozen=True)
class Entry:
    """One change of the release. `group`: whether it needs a look, is of low risk, or has been decided."""

    document: str
    source: str
    change: str
    risks: tuple[str, ...]
    decision: str
    group: Group
    weight: int
    mine: bool
    """Whether this person may decide on it."""


@dataclass(frozen=True)
class Queue:
    """All entries in scope; `look` first, heaviest risk first."""

    entries: tuple[Entry, ...]

    def of(self, group: Group) -> tuple[Entry, ...]:
        return tuple(one for one in self.entries if one.group == group)

    @property
    def pending(self) -> tuple[Entry, ...]:
        return tuple(one for one in self.entries if one.decision == "pending")

    def risks(self) -> Mapping[str, int]:
        """Undecided changes by risk, the heaviest first."""
        counted = Counter(risk for one in self.pending for risk in one.risks)
        return dict(sorted(counted.items(), key=lambda one: -WEIGHTS.get(one[0], OTHER)))


def queue(tx: Connection, scope: Scope, number: int) -> Queue:
    """Reads ids and facts only, so that ten thousand changes stay quick; names are for `titles`."""
    item, d, s = tables.release_item, tables.document, tables.source
    query = (
        select(item.c.document, item.c.change, item.c.risk, item.c.decision, d.c.source)
        .join(d, d.c.id == item.c.document)
        .where(item.c.kb == scope.kb, item.c.release == number, scope.covers(d))
    )
    rows = tx.execute(query).all()
    configs = select(s.c.config).where(s.c.kb == scope.kb, s.c.name.in_({row.source for row in rows}))
    sources = {one.name: one for one in map(Source.model_validate, tx.execute(configs).scalars())}
    held_on = {name: _look_at(source) for name, source in sources.items()}
    entries = [_entry(row, held_on[row.source], scope.reviews) for row in rows]
    rank = {"look": 0, "low": 1, "decided": 2}
    entries.sort(key=lambda one: (rank[one.group], -one.weight, one.source, one.document))
    return Queue(tuple(entries))


def _look_at(source: Source) -> frozenset[str] | None:
    """Risks that its policy names; None where it names none, and the weights say what needs a look."""
    if source.scope.startswith("user:"):
        return frozenset()
    if source.review.hold_on or source.review.approver == "auto":
        return frozenset(source.review.hold_on)
    return None


def _entry(row: Any, held_on: frozenset[str] | None, reviews: Collection[str]) -> Entry:
    weights = [WEIGHTS.get(risk, OTHER) for risk in row.risk]
    flagged = any(weight >= SMALL for weight in weights) if held_on is None else bool(held_on & set(row.risk))
    group: Group = "decided" if row.decision != "pending" else "look" if flagged else "low"
    risks = tuple(sorted(row.risk, key=lambda risk: -WEIGHTS.get(risk, OTHER)))
    # The heaviest risk leads; more of them lead among equals.
    weight = max(weights, default=0) * 100 + min(sum(weights), 99)
    return Entry(row.document, row.source, row.change, risks, row.decision, group, weight, row.source in reviews)


@dataclass(frozen=True)
class Name:
    """How people know a document; personal data masked."""

    title: str
    uri: str


def names(tx: Connection, documents: Iterable[str]) -> dict[str, Name]:
    """Of the newest version of each document."""
    v, d = tables.version, tables.document
    wanted: Sequence[str] = list(documents)
    found: dict[str, Name] = {}
    for start in range(0, len(wanted), 500):
        part = wanted[start : start + 500]
        query = select(v.c.document, v.c.title, v.c.uri).where(v.c.document.in_(part)).order_by(v.c.number)
        for row in tx.execute(query):
            found[row.document] = Name(row.title or _last(row.uri), row.uri)
        for document, uri in tx.execute(select(d.c.id, d.c.uri).where(d.c.id.in_(part))):
            found.setdefault(document, Name(_last(uri), uri))
    return found


def _last(uri: str) -> str:
    return uri.rpartition("/")[2] or uri
