"""The living corpus as the dedup layer sees it: signatures in SQL, sorted on this machine, texts in the raw zone."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection, Select, bindparam, delete, select, update

from pipelines.ids import number
from schemas.chunk import Chunk, Parsed
from sql import tables

if TYPE_CHECKING:
    import numpy

    from pipelines.app import App
    from pipelines.band_index import BandIndex
    from pipelines.dedup.link import Links

    Array = numpy.ndarray[Any, Any]

T = TypeVar("T")
# Made once: a statement costs more to build than to run.
_TEXT, _LINK = tables.duplicate_text, tables.duplicate_link
_IN_NUMBERS = _TEXT.c.id.in_(bindparam("numbers", expanding=True))
_BANDS = select(_TEXT.c.id, _TEXT.c.bands).where(_IN_NUMBERS)
_NAMES = select(_TEXT.c.chunk).where(_IN_NUMBERS)
_LINKED = tuple(
    select(_LINK.c.a, _LINK.c.b).where(side.in_(bindparam("chunks", expanding=True)), _LINK.c.decided.is_(None))
    for side in (_LINK.c.a, _LINK.c.b)
)
_UNLINK = delete(_LINK).where(_LINK.c.a == bindparam("one"), _LINK.c.b == bindparam("other"))
_COUNT = tables.duplicate_count
_COUNTED = select(_COUNT.c.given, _COUNT.c.gone).where(_COUNT.c.kb == bindparam("whose"))
_MOVE = (
    update(_COUNT)
    .where(_COUNT.c.kb == bindparam("whose"))
    .values(given=_COUNT.c.given + bindparam("more"), gone=_COUNT.c.gone + bindparam("less"))
)
_ADD_TEXT, _ADD_LINK = tables.insert_ignore(_TEXT), tables.insert_ignore(_LINK)
_AT_ONCE = 480
"""Values in one statement; a server has limits on packets."""


def _parts(values: Iterable[T]) -> Iterator[list[T]]:
    wanted = list(values)
    return (wanted[start : start + _AT_ONCE] for start in range(0, len(wanted), _AT_ONCE))


def remember(app: "App", version: str, document: str, chunks: Sequence[Chunk]) -> None:
    """Store the signatures of a version's chunks; doing it twice is harmless."""
    from pipelines.dedup.signature import signatures

    made = signatures([one.text for one in chunks], app.settings.dedup, app.key)
    signed = {number(one.id): bands.astype("<u4").tobytes() for one, bands in zip(chunks, made, strict=True)}
    names = {number(one.id): one.id for one in chunks}
    text = tables.duplicate_text
    with app.database.write() as tx:
        stored = _stored(tx, signed)
        for part in _parts(at for at in stored if stored[at] == signed[at]):
            tx.execute(update(text).where(text.c.id.in_(part)).values(version=version))
        _drop(tx, app, [at for at, data in stored.items() if data != signed[at]])
        new = [at for at in signed if stored.get(at) != signed[at]]
        if new:
            whose = {"kb": app.kb, "document": document, "version": version}
            start = _counted(tx, app.kb, given=len(new))
            rows = [
                {"id": one, "at": start + place, "chunk": names[one], "bands": signed[one], **whose}
                for place, one in enumerate(new)
            ]
            tx.execute(_ADD_TEXT, rows)


def forget(tx: Connection, app: "App", chunks: Sequence[str]) -> dict[str, int]:
    """Take chunks out of the corpus; counts by table. `purge` afterwards takes them out of this machine's files."""
    return {tables.duplicate_text.name: _drop(tx, app, list(_stored(tx, map(number, chunks))))}


def purge(app: "App") -> None:
    """Leave nothing of what was forgotten, neither in files nor in the list that running processes read."""
    gone = tables.duplicate_gone
    with app.database.write() as tx:
        tx.execute(delete(gone).where(gone.c.kb == app.kb))
    _index(app).purge()


def _counted(tx: Connection, kb: str, given: int = 0, gone: int = 0) -> int:
    """Count rows that come or go, and say where the count was before. The row is locked until the transaction ends, so
    whoever sees a count sees all rows below it."""
    moved = {"whose": kb, "more": given, "less": gone}
    if not tx.execute(_MOVE, moved).rowcount:
        tx.execute(tables.insert_ignore(tables.duplicate_count), {"kb": kb, "given": 0, "gone": 0})
        tx.execute(_MOVE, moved)
    now = tx.execute(_COUNTED, {"whose": kb}).one()
    return int(now.given) - given if given else int(now.gone) - gone


def _by_number(tx: Connection, query: Select[Any], numbers: Iterable[int]) -> Iterator[Any]:
    for part in _parts(numbers):
        yield from tx.execute(query, {"numbers": part})


def _stored(tx: Connection, numbers: Iterable[int]) -> dict[int, bytes]:
    return {row.id: row.bands for row in _by_number(tx, _BANDS, numbers)}


def _drop(tx: Connection, app: "App", numbers: Sequence[int]) -> int:
    text = tables.duplicate_text
    if not numbers:
        return 0
    dropped = sum(tx.execute(delete(text).where(text.c.id.in_(part))).rowcount for part in _parts(numbers))
    start = _counted(tx, app.kb, gone=len(numbers))
    rows = [{"kb": app.kb, "at": start + place, "text": one} for place, one in enumerate(numbers, 1)]
    tx.execute(tables.duplicate_gone.insert(), rows)
    return dropped


def link(tx: Connection, links: "Links") -> None:
    """Store what the pairs that were looked at are to one another; an earlier verdict on a pair gives way, unless a
    person took it."""
    looked = {*links.distinct, *((one.a, one.b) for one in links.found)}
    kept = (row.chunk for row in _by_number(tx, _NAMES, links.kept))
    stale = [
        {"one": a, "other": b}
        for a, b in _undecided(tx, {*kept, *(a for a, _ in looked)})
        if (a, b) in looked or not _keeps(links.kept, number(a), number(b))
    ]
    if stale:
        tx.execute(_UNLINK, stale)
    rows = [
        {**one.model_dump(exclude={"evidence"}), "evidence": one.evidence.model_dump(mode="json")}
        for one in links.found
    ]
    if rows:
        tx.execute(_ADD_LINK, rows)


def _keeps(kept: Mapping[int, Set[int]], one: int, other: int) -> bool:
    return other in kept.get(one, (other,)) and one in kept.get(other, (one,))


def _undecided(tx: Connection, chunks: Iterable[str]) -> set[tuple[str, str]]:
    """Pairs of links that no person decided, from either side."""
    found: set[tuple[str, str]] = set()
    for part in _parts(sorted(chunks)):
        for query in _LINKED:
            found.update((a, b) for a, b in tx.execute(query, {"chunks": part}))
    return found


@cache
def _alike() -> Select[Any]:
    """Links of `chunks` to others that say the same. Built once: building costs more than running."""
    table = tables.duplicate_link
    alike = table.c.outcome.in_(("same", "near", "contained")) & table.c.decided.is_(None)
    mine = table.c.a.in_(bindparam("chunks", expanding=True))
    return select(table.c.a, table.c.b).where(mine, alike | (table.c.decided == "same"))


def linked_groups(tx: Connection, chunks: Sequence[str]) -> dict[str, str]:
    """Group of each of these chunks that says the same as another of them: the smallest id that links lead to.

    Texts that differ in a number, a negation or a party are linked too, but they say different things.
    """
    wanted = sorted(set(chunks))
    known = frozenset(wanted)
    pairs: list[tuple[str, str]] = []
    for start in range(0, len(wanted), 500):
        found = tx.execute(_alike(), {"chunks": wanted[start : start + 500]})
        pairs += [(a, b) for a, b in found if b in known]
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
    """DuplicateCorpus of a knowledge base: all that is committed when it is made. `texts` leaves out a document: a
    version is no duplicate of its own past."""

    def __init__(self, app: "App", without: str) -> None:
        self._app = app
        self._without = without
        self._segments = _index(app).refresh()

    def rows(self, numbers: "Array") -> "Array":
        from pipelines.dedup.postings import rows_of

        return rows_of(self._segments, numbers)

    def heads(self, rows: "Array", first: int) -> "Array":
        from pipelines.dedup.postings import heads

        return heads(self._segments, rows, first)

    def members(self, bands: "Array", values: "Array") -> tuple["Array", "Array"]:
        from pipelines.dedup.postings import members

        return members(self._segments, bands, values)

    def texts(self, numbers: Sequence[int]) -> Mapping[int, tuple[str, str]]:
        text, version = tables.duplicate_text, tables.version
        homes: dict[str, dict[str, int]] = defaultdict(dict)
        with self._app.database.read() as tx:
            for part in _parts(numbers):
                rows = tx.execute(
                    select(text.c.id, text.c.chunk, version.c.artifacts)
                    .join(version, version.c.id == text.c.version)
                    .where(text.c.id.in_(part), text.c.document != self._without)
                )
                for at, chunk, artifacts in rows:
                    if "parse" in artifacts:
                        homes[artifacts["parse"]][chunk] = at
        return {
            members[chunk]: (chunk, found)
            for key, members in homes.items()
            for chunk, found in _texts_of(self._app, key).items()
            if chunk in members
        }


@lru_cache(maxsize=8)
def _index(app: "App") -> "BandIndex":
    from pipelines.band_index import BandIndex

    return BandIndex(app.database, app.kb, app.settings.home.resolve() / "duplicates" / app.kb)


@lru_cache(maxsize=256)
def _texts_of(app: "App", key: str) -> dict[str, str]:
    # A template family is met again and again in one batch: its artifacts are read once.
    parsed = Parsed.model_validate_json(app.artifacts.get(key))
    return {one.id: one.text for one in parsed.chunks}
