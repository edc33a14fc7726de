"""The living corpus as the dedup layer sees it: signatures in SQL, texts in the raw zone.

A text's number is the head of its chunk id. Buckets are read in the order of that number, straight from the primary
key.
"""

import json
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection, delete, select, tuple_, update

from pipelines.ids import digest
from schemas.chunk import Chunk, Parsed
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App
    from pipelines.dedup.link import Links

T = TypeVar("T")
_AT_ONCE = 480
"""Values in one statement; a server has limits on packets and unions."""


def number(chunk: str) -> int:
    """What the corpus calls a chunk: the first 60 bits of its id."""
    return int(chunk[:15], 16)


def _mask(app: "App") -> int:
    """Keeps the buckets of knowledge bases in one table apart."""
    return int(digest(app.key, "bands", app.kb)[:15], 16)


def _packed(bands: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(bands)}q", *bands)


def _unpacked(data: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(data) // 8}q", data)


def _parts(values: Iterable[T]) -> Iterator[list[T]]:
    wanted = list(values)
    return (wanted[start : start + _AT_ONCE] for start in range(0, len(wanted), _AT_ONCE))


def remember(app: "App", version: str, document: str, chunks: Sequence[Chunk]) -> None:
    """Store the signatures of a version's chunks; doing it twice is harmless."""
    from pipelines.dedup.signature import signatures

    made = signatures([one.text for one in chunks], app.settings.dedup, app.key)
    signed = {number(one.id): _packed(bands) for one, bands in zip(chunks, made, strict=True)}
    text, band = tables.duplicate_text, tables.duplicate_band
    rows = {
        number(one.id): {"id": number(one.id), "kb": app.kb, "chunk": one.id, "document": document, "version": version}
        for one in chunks
    }
    with app.database.write() as tx:
        stored = _stored(tx, signed)
        for part in _parts(at for at in stored if stored[at] == signed[at]):
            tx.execute(update(text).where(text.c.id.in_(part)).values(version=version))
        _drop(tx, app, {at: data for at, data in stored.items() if data != signed[at]})
        new = [at for at in signed if stored.get(at) != signed[at]]
        if new:
            mask = _mask(app)
            pairs = sorted({(one ^ mask, at) for at in new for one in _unpacked(signed[at])})
            tx.execute(tables.insert_ignore(text), [{**rows[at], "bands": signed[at]} for at in new])
            # Straight to the driver: dozens of rows for each chunk, and nothing of SQLAlchemy's is needed.
            into = tables.insert_ignore(band).compile(dialect=tx.dialect)
            named = ({"band": bucket, "text": at} for bucket, at in pairs)
            tx.exec_driver_sql(str(into), pairs if into.positional else list(named))


def forget(tx: Connection, app: "App", chunks: Sequence[str]) -> dict[str, int]:
    """Take chunks out of the corpus; counts by table."""
    stored = _stored(tx, map(number, chunks))
    return _drop(tx, app, stored)


def _rows(tx: Connection, query: str, values: Iterable[int]) -> Iterator[tuple[Any, ...]]:
    """Rows as the driver gives them. The query has `IN {}`; SQLite takes any number of values as one parameter, so that
    the statement is prepared once."""
    cursor: Any
    with closing(tx.connection.cursor()) as cursor:
        if tx.dialect.name == "sqlite":
            cursor.execute(query.format("(SELECT value FROM json_each(?))"), (json.dumps(list(values)),))
            yield from cursor
        else:
            for part in _parts(values):
                cursor.execute(query.format(f"({', '.join(['%s'] * len(part))})"), tuple(part))
                yield from cursor


def _stored(tx: Connection, numbers: Iterable[int]) -> dict[int, bytes]:
    return dict(_rows(tx, "SELECT id, bands FROM duplicate_text WHERE id IN {}", numbers))


def _drop(tx: Connection, app: "App", stored: Mapping[int, bytes]) -> dict[str, int]:
    text, band = tables.duplicate_text, tables.duplicate_band
    counts = {text.name: 0, band.name: 0}
    mask = _mask(app)
    for at, data in stored.items():
        mine = (band.c.text == at) & band.c.band.in_([one ^ mask for one in _unpacked(data)])
        counts[band.name] += tx.execute(delete(band).where(mine)).rowcount
        counts[text.name] += tx.execute(delete(text).where(text.c.id == at)).rowcount
    return counts


def link(tx: Connection, links: "Links") -> None:
    """Store what the pairs that were looked at are to one another; an earlier verdict on a pair gives way, unless a
    person took it."""
    table = tables.duplicate_link
    free = table.c.decided.is_(None)
    for chunk, partners in links.kept.items():
        tx.execute(delete(table).where(free, table.c.a == chunk, table.c.b.not_in(partners)))
        tx.execute(delete(table).where(free, table.c.b == chunk, table.c.a.not_in(partners)))
    looked = [*links.distinct, *((one.a, one.b) for one in links.found)]
    for part in _parts(looked):
        tx.execute(delete(table).where(free, tuple_(table.c.a, table.c.b).in_(part)))
    rows = [
        {**one.model_dump(exclude={"evidence"}), "evidence": one.evidence.model_dump(mode="json")}
        for one in links.found
    ]
    if rows:
        tx.execute(tables.insert_ignore(table), rows)


def linked_groups(tx: Connection, chunks: Sequence[str]) -> dict[str, str]:
    """Group of each of these chunks that says the same as another of them: the smallest id that links lead to.

    Texts that differ in a number, a negation or a party are linked too, but they say different things.
    """
    table = tables.duplicate_link
    wanted = sorted(set(chunks))
    known = frozenset(wanted)
    pairs: list[tuple[str, str]] = []
    for start in range(0, len(wanted), 500):
        alike = table.c.outcome.in_(("same", "near", "contained")) & table.c.decided.is_(None)
        part = table.c.a.in_(wanted[start : start + 500]) & (alike | (table.c.decided == "same"))
        pairs += [(a, b) for a, b in tx.execute(select(table.c.a, table.c.b).where(part)) if b in known]
    group: dict[str, str] = {}

    def home(one: str) -> str:
        while group.setdefault(one, one) != one:
            one = group[one]
        return one

    for a, b in pairs:
        left, right = sorted((home(a), home(b)))
        group[right] = left
    return {one: home(one) for one in list(group)}


class SqlCorpus:
    """DuplicateCorpus of a knowledge base. `texts` leaves out a document: a version is no duplicate of its own past."""

    def __init__(self, app: "App", without: str) -> None:
        self._app = app
        self._without = without
        self._mask = _mask(app)

    def bands(self, chunks: Sequence[str]) -> Mapping[str, Sequence[int]]:
        if not chunks:
            return {}
        with self._app.database.read() as tx:
            stored = _stored(tx, map(number, chunks))
        return {chunk: _unpacked(stored[number(chunk)]) for chunk in chunks if number(chunk) in stored}

    def members(self, bands: Sequence[int], first: int | None) -> Mapping[int, Sequence[str]]:
        found: dict[int, list[int]] = defaultdict(list)
        wanted = [one ^ self._mask for one in dict.fromkeys(bands)]
        if not wanted:
            return {}
        with self._app.database.read() as tx:
            whole = "SELECT band, text FROM duplicate_band WHERE band IN {}"
            for band, at in _rows(tx, whole, wanted) if first is None else _heads(tx, wanted, first):
                found[band ^ self._mask].append(at)
            names = _names(tx, {at for numbers in found.values() for at in numbers})
        return {band: [names[n] for n in sorted(numbers) if n in names] for band, numbers in found.items()}

    def texts(self, chunks: Sequence[str]) -> Mapping[str, str]:
        text, version = tables.duplicate_text, tables.version
        homes: dict[str, set[str]] = defaultdict(set)
        with self._app.database.read() as tx:
            for part in _parts(map(number, chunks)):
                rows = tx.execute(
                    select(text.c.chunk, version.c.artifacts)
                    .join(version, version.c.id == text.c.version)
                    .where(text.c.id.in_(part), text.c.document != self._without)
                )
                for chunk, artifacts in rows:
                    if "parse" in artifacts:
                        homes[artifacts["parse"]].add(chunk)
        return {
            chunk: found
            for key, members in homes.items()
            for chunk, found in _texts_of(self._app, key).items()
            if chunk in members
        }


def _heads(tx: Connection, bands: list[int], first: int) -> Iterator[tuple[int, int]]:
    """The first of each bucket, read from the head of the primary key."""
    cursor: Any
    with closing(tx.connection.cursor()) as cursor:
        if tx.dialect.name == "sqlite":
            head = f"SELECT x.text FROM duplicate_band x WHERE x.band = w.value ORDER BY x.text LIMIT {first}"
            query = "SELECT b.band, b.text FROM json_each(?) w JOIN duplicate_band b ON b.band = w.value"
            cursor.execute(f"{query} AND b.text IN ({head})", (json.dumps(bands),))
            yield from cursor
            return
        one = f"SELECT band, text FROM duplicate_band WHERE band = %s ORDER BY text LIMIT {first}"
        for part in _parts(bands):
            query = " UNION ALL ".join(f"SELECT * FROM ({one}) AS bucket{i}" for i in range(len(part)))
            cursor.execute(query, tuple(part))
            yield from cursor


def _names(tx: Connection, numbers: Iterable[int]) -> dict[int, str]:
    return dict(_rows(tx, "SELECT id, chunk FROM duplicate_text WHERE id IN {}", numbers))


@lru_cache(maxsize=256)
def _texts_of(app: "App", key: str) -> dict[str, str]:
    # A template family is met again and again in one batch: its artifacts are read once.
    parsed = Parsed.model_validate_json(app.artifacts.get(key))
    return {one.id: one.text for one in parsed.chunks}
