"""The changes of a release as a reviewer works them off: what needs a look first, the rest folded away.

Ten thousand changes come in a handful of kinds (same source, change, risks and decision): the database counts them, and
only the changes of the page that is shown are read.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, String, cast, func, select

from pipelines.report.scope import Scope
from pipelines.review.policy import ALWAYS_ASK
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
    "described": 30,
    "removed": 20,
    "pii": 20,
    "new_source": 10,
    "new_document": 1,
}
"""What a reviewer should see first. A risk that is not named here counts as OTHER."""
OTHER = 50
SMALL = 10
"""Below this weight a change needs no look, where its source does not say so itself."""
_RANK = {"look": 0, "low": 1, "decided": 2}


@dataclass(frozen=True)
class Kind:
    """Changes that are alike. `group`: whether they need a look, are of low risk, or have been decided."""

    source: str
    change: str
    risks: tuple[str, ...]
    decision: str
    group: Group
    weight: int
    mine: bool
    """Whether this person may decide on them."""
    count: int
    stored: str
    """The risks as the database holds them."""


@dataclass(frozen=True)
class Entry:
    """One change."""

    document: str
    kind: Kind


@dataclass(frozen=True)
class Queue:
    """What a release holds, as far as it is in scope: heaviest first."""

    number: int
    kinds: tuple[Kind, ...]

    def of(self, group: Group, risk: str = "", source: str = "") -> "Queue":
        """Only this part of it."""
        chosen = (
            one
            for one in self.kinds
            if one.group == group and (not risk or risk in one.risks) and (not source or one.source == source)
        )
        return Queue(self.number, tuple(chosen))

    @property
    def size(self) -> int:
        return sum(one.count for one in self.kinds)

    @property
    def pending(self) -> int:
        return sum(one.count for one in self.kinds if one.decision == "pending")

    @property
    def all_mine(self) -> bool:
        return all(one.mine for one in self.kinds)

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(sorted({one.source for one in self.kinds}))

    def risks(self) -> Mapping[str, int]:
        """Undecided changes by risk, the heaviest first."""
        counted: Counter[str] = Counter()
        for one in self.kinds:
            if one.decision == "pending":
                counted.update(dict.fromkeys(one.risks, one.count))
        return dict(sorted(counted.items(), key=lambda one: -WEIGHTS.get(one[0], OTHER)))


def queue(tx: Connection, scope: Scope, number: int) -> Queue:
    item, d, s = tables.release_item, tables.document, tables.source
    stored = cast(item.c.risk, String(700))
    query = (
        select(d.c.source, item.c.change, item.c.decision, stored.label("stored"), func.count().label("number"))
        .join(d, d.c.id == item.c.document)
        .where(item.c.kb == scope.kb, item.c.release == number, scope.covers(d))
        .group_by(d.c.source, item.c.change, item.c.decision, stored)
    )
    rows = tx.execute(query).all()
    configs = select(s.c.config).where(s.c.kb == scope.kb, s.c.name.in_({row.source for row in rows}))
    sources = {one.name: one for one in map(Source.model_validate, tx.execute(configs).scalars())}
    held_on = {name: _look_at(source) for name, source in sources.items()}
    kinds = [_kind(row, held_on[row.source], scope.reviews) for row in rows]
    kinds.sort(key=lambda one: (_RANK[one.group], -one.weight, one.source, one.stored, one.change, one.decision))
    return Queue(number, tuple(kinds))


def _look_at(source: Source) -> frozenset[str] | None:
    """Risks that its policy names; None where it names none, and the weights say what needs a look."""
    if source.scope.startswith("user:"):
        return frozenset()
    if source.review.hold_on or source.review.approver == "auto":
        return frozenset(source.review.hold_on) | ALWAYS_ASK
    return None


def _kind(row: Any, held_on: frozenset[str] | None, reviews: Collection[str]) -> Kind:
    found = json.loads(row.stored)
    weights = [WEIGHTS.get(risk, OTHER) for risk in found]
    flagged = any(weight >= SMALL for weight in weights) if held_on is None else bool(held_on & set(found))
    return Kind(
        source=row.source,
        change=row.change,
        risks=tuple(sorted(found, key=lambda risk: -WEIGHTS.get(risk, OTHER))),
        decision=row.decision,
        group="decided" if row.decision != "pending" else "look" if flagged else "low",
        # The heaviest risk leads; more of them lead among equals.
        weight=max(weights, default=0) * 100 + min(sum(weights), 99),
        mine=row.source in reviews,
        count=row.number,
        stored=row.stored,
    )


def entries(tx: Connection, scope: Scope, part: Queue, start: int = 0, limit: int | None = None) -> tuple[Entry, ...]:
    """The changes of a part of the queue, in its order."""
    found: list[Entry] = []
    for kind in part.kinds:
        if start >= kind.count:
            start -= kind.count
            continue
        query = _of_kind(scope, part.number, kind)
        if limit is not None:
            query = query.limit(limit - len(found)).offset(start)
        found += [Entry(document, kind) for document in tx.execute(query).scalars()]
        start = 0
        if limit is not None and len(found) >= limit:
            break
    return tuple(found)


def entries_of(tx: Connection, scope: Scope, part: Queue, documents: Iterable[str]) -> tuple[Entry, ...]:
    """Of these documents, those that are in the queue."""
    wanted = list(documents)
    found: list[Entry] = []
    for kind in part.kinds:
        for start in range(0, len(wanted), 500):
            ours = tables.release_item.c.document.in_(wanted[start : start + 500])
            query = _of_kind(scope, part.number, kind).where(ours)
            found += [Entry(document, kind) for document in tx.execute(query).scalars()]
    return tuple(found)


def next_look(tx: Connection, scope: Scope, whole: Queue, document: str) -> str | None:
    """The change that needs a look after this one; from the start again at the end."""
    waiting = whole.of("look")
    at = next((one.kind for one in entries_of(tx, scope, waiting, [document])), None)
    for kind, after in _from(waiting.kinds, at):
        query = _of_kind(scope, whole.number, kind).where(tables.release_item.c.document != document)
        if after:
            query = query.where(tables.release_item.c.document > document)
        if (found := tx.execute(query.limit(1)).scalar()) is not None:
            return str(found)
    return None


def _from(kinds: Sequence[Kind], at: Kind | None) -> Iterator[tuple[Kind, bool]]:
    """The rest of the kind, the kinds after it, then all from the start."""
    if at is not None:
        place = kinds.index(at)
        yield at, True
        yield from ((kind, False) for kind in kinds[place + 1 :])
    yield from ((kind, False) for kind in kinds)


def _of_kind(scope: Scope, number: int, kind: Kind) -> Any:
    item, d = tables.release_item, tables.document
    return (
        select(item.c.document)
        .join(d, d.c.id == item.c.document)
        .where(
            item.c.kb == scope.kb,
            item.c.release == number,
            d.c.source == kind.source,
            item.c.change == kind.change,
            item.c.decision == kind.decision,
            cast(item.c.risk, String(700)) == kind.stored,
            scope.covers(d),
        )
        .order_by(item.c.document)
    )


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
