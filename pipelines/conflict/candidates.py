"""Pairs that are worth comparing: chunks of a release's changes with chunks of other active documents. Never all pairs:
they are found by the links that dedup left (shared MinHash bands) and by a common subject."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, or_, select

from pipelines.publish.rows import HIDDEN
from sql import tables

COMMON = 40
"""A heading that more chunks than this share (Introduction, 总则) says nothing about the subject."""
_PART = 500


class Place(NamedTuple):
    """A chunk in an active version."""

    chunk: str
    document: str
    version: str


class Pair(NamedTuple):
    """Two chunks of different documents, smaller id first."""

    a: Place
    b: Place


def candidates(tx: Connection, active: Mapping[str, str], changed: Iterable[str]) -> list[Pair]:
    """`active`: version by document as readers will see them; `changed`: documents whose version is new."""
    versions = {active[document]: document for document in changed if document in active}
    fresh = {row.chunk: row for row in _chunks(tx, versions)}
    others: dict[str, set[str]] = defaultdict(set)
    for one, other in _linked(tx, list(fresh)):
        others[one].add(other)
    found = {chunk: Place(chunk, versions[row.version], row.version) for chunk, row in fresh.items()}
    found |= _places(tx, active, {other for group in others.values() for other in group} - found.keys())
    for place, mates in _same_subject(tx, active, list(fresh.values())):
        others[place].update(mate.chunk for mate in mates)
        found |= {mate.chunk: mate for mate in mates}
    pairs = {
        Pair(*sorted((found[one], found[other])))
        for one, group in others.items()
        for other in group
        if other in found and found[one].document != found[other].document
    }
    return sorted(pairs)


def _parts(values: Iterable[str]) -> Iterator[list[str]]:
    listed = list(values)
    for start in range(0, len(listed), _PART):
        yield listed[start : start + _PART]


def _chunks(tx: Connection, versions: Iterable[str]) -> list[Any]:
    vc = tables.version_chunk
    rows: list[Any] = []
    for part in _parts(versions):
        where = vc.c.version.in_(part) & (vc.c.band.not_in(HIDDEN))
        rows += tx.execute(select(vc.c.chunk, vc.c.version, vc.c.subject).where(where)).all()
    return rows


def _linked(tx: Connection, chunks: Sequence[str]) -> set[tuple[str, str]]:
    """(one of `chunks`, its twin), both ways; the same text cannot contradict itself."""
    link = tables.duplicate_link
    found: set[tuple[str, str]] = set()
    for part in _parts(chunks):
        where = or_(link.c.a.in_(part), link.c.b.in_(part)) & (link.c.outcome != "same")
        mine = set(part)
        for a, b in tx.execute(select(link.c.a, link.c.b).where(where)):
            found.update(pair for pair in ((a, b), (b, a)) if pair[0] in mine)
    return found


def _places(tx: Connection, active: Mapping[str, str], chunks: Iterable[str]) -> dict[str, Place]:
    """Where chunks stand in active versions; those that stand nowhere are left out."""
    vc, v = tables.version_chunk, tables.version
    query = select(vc.c.chunk, v.c.document, v.c.id).join(v, v.c.id == vc.c.version).where(vc.c.band.not_in(HIDDEN))
    return {
        row.chunk: Place(*row)
        for part in _parts(chunks)
        for row in tx.execute(query.where(vc.c.chunk.in_(part)))
        if active.get(row.document) == row.id
    }


def _same_subject(tx: Connection, active: Mapping[str, str], fresh: Sequence[Any]) -> Iterator[tuple[str, list[Place]]]:
    vc, v = tables.version_chunk, tables.version
    by_subject: dict[str, list[str]] = defaultdict(list)
    for row in fresh:
        if row.subject:
            by_subject[row.subject].append(row.chunk)
    query = select(vc.c.subject, vc.c.chunk, v.c.document, v.c.id).join(v, v.c.id == vc.c.version)
    query = query.where(vc.c.band.not_in(HIDDEN), v.c.state.in_(("staged", "published")))
    for part in _parts(by_subject):
        mates: dict[str, list[Place]] = defaultdict(list)
        for subject, *place in tx.execute(query.where(vc.c.subject.in_(part)).order_by(vc.c.chunk)):
            if active.get(place[1]) == place[2]:
                mates[subject].append(Place(*place))
        for subject, group in mates.items():
            if len(group) <= COMMON:
                yield from ((chunk, group) for chunk in by_subject[subject])
