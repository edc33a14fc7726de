"""Which chunks share a band, kept ready on this machine: sorted segments over the signatures that SQL holds.

SQL decides; a segment is a copy of a range of its rows, sorted. Rows of a knowledge base are counted as they come, and
no count is used twice, so a range of counts only ever loses rows: a segment with as many rows as SQL has in its range,
and the same sum of numbers, is right. Ranges are the binary digits of how many blocks there are, so segments merge
pairwise and each row is moved some twenty times in a million. Long ones are files, read through memory maps; a file
that is missing, damaged or of another state is made anew from SQL. Killed anywhere, nothing has to be repaired.
"""

import os
import tempfile
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection, bindparam, func, select

from pipelines.dedup.postings import Segment, merged, segment
from pipelines.dedup.signature import WIDTH
from sql import tables

if TYPE_CHECKING:
    import numpy

    from pipelines.adapters.database import Database

    Array = numpy.ndarray[Any, Any]

_MAGIC = 0x31544F504C53  # "SLPOT1", little-endian
_HEAD = 6
"""64-bit numbers before the data: magic, texts, postings, checksum of the data, sum of numbers, checksum of these."""
_STALE = 3600.0
_MODULUS = 4294967291
"""Keeps the sum of numbers inside 64 bits: the highest prime of 32 bits."""


class Range(NamedTuple):
    """Counts `start` to `end`, without `end`."""

    start: int
    end: int


def ranges(count: int, block: int) -> list[Range]:
    """The whole blocks of `count` rows in aligned ranges, the longest first: 7 blocks are 4, 2 and 1."""
    found, start, blocks = [], 0, count // block
    for bit in range(blocks.bit_length() - 1, -1, -1):
        if blocks >> bit & 1:
            found.append(Range(start, start + (block << bit)))
            start = found[-1].end
    return found


class BandIndex:
    """The segments of one knowledge base in this process. `block`: rows that are sorted together; from `file` on a
    segment is a file."""

    def __init__(self, database: "Database", kb: str, folder: Path, block: int = 512, file: int = 8192) -> None:
        self._database, self._kb, self._folder = database, kb, folder
        self._block, self._file = block, file
        self._segments: dict[Range, Segment] = {}
        self._tail: dict[int, tuple[int, bytes]] = {}
        self._gone = -1
        self._lock = Lock()

    def refresh(self) -> tuple[Segment, ...]:
        """All that is committed by now. What is returned stays as it is, whatever comes later."""
        with self._lock, self._database.read() as tx:
            counted, gone = counts(tx, self._kb)
            if gone != self._gone:
                self._forget(tx, gone)
            wanted = ranges(counted, self._block)
            if wanted != list(self._segments):
                self._segments = {one: self._segments.get(one) or self._made(tx, one) for one in wanted}
                self._sweep()
            start = wanted[-1].end if wanted else 0
            self._tail = {at: row for at, row in self._tail.items() if at >= start}
            for at, number, bands in _rows(tx, self._kb, Range(max(self._tail, default=start - 1) + 1, counted)):
                self._tail[at] = (number, bands)
            return (*self._segments.values(), *self._open())

    def purge(self) -> None:
        """Take what has left the corpus out of the files of this machine."""
        with self._lock, self._database.read() as tx:
            for path in self._folder.glob("*-*.bands"):
                start, end = path.stem.split("-")
                if _load(path, *_state(tx, self._kb, Range(int(start), int(end)))) is None:
                    path.unlink(missing_ok=True)
            self._segments = {}

    def _open(self) -> Iterator[Segment]:
        """The rows behind the last whole block."""
        import numpy as np

        if self._tail:
            numbers = np.array([number for number, _ in self._tail.values()], dtype=np.int64)
            yield segment(numbers, _unpacked(b"".join(bands for _, bands in self._tail.values())))

    def _forget(self, tx: Connection, gone: int) -> None:
        import numpy as np

        table = tables.duplicate_gone
        query = select(table.c.text).where(table.c.kb == self._kb, table.c.at > self._gone)
        left = np.array(tx.execute(query).scalars().all() if self._gone >= 0 else [], dtype=np.int64)
        if self._gone >= 0 and len(left) < gone - self._gone:
            self._segments = {}  # the list was cut short by a vacuum: files that are still right are found again
        self._segments = {at: one.without(left) for at, one in self._segments.items()}
        self._tail, self._gone = {}, gone

    def _made(self, tx: Connection, wanted: Range) -> Segment:
        """From its file, its two halves, or SQL."""
        long = wanted.end - wanted.start >= self._file
        if long and (found := _load(self._path(wanted), *_state(tx, self._kb, wanted))):
            return found
        middle = (wanted.start + wanted.end) // 2
        halves = (Range(wanted.start, middle), Range(middle, wanted.end))
        if wanted.end - wanted.start > self._file or all(half in self._segments for half in halves):
            parts = [self._segments.get(half) or self._made(tx, half) for half in halves]
        else:
            parts = [_from_sql(tx, self._kb, wanted)]
        if not long:
            return parts[0] if len(parts) == 1 else _joined(parts)
        _save(self._path(wanted), parts)
        return _load(self._path(wanted), None, None) or _joined(parts)

    def _path(self, one: Range) -> Path:
        return self._folder / f"{one.start}-{one.end}.bands"

    def _sweep(self) -> None:
        """Halves that have been merged; a process that still has one mapped keeps it until it ends."""
        kept = {self._path(one) for one in self._segments}
        for path in self._folder.glob("*-*.bands"):
            if path not in kept:
                path.unlink(missing_ok=True)
        for path in self._folder.glob("*.part"):  # of a process that was killed, unless it is young
            if path.stat().st_mtime < time.time() - _STALE:
                path.unlink(missing_ok=True)


# Made once: a statement costs more to build than to run.
_TEXT, _COUNT = tables.duplicate_text, tables.duplicate_count
_INSIDE = (_TEXT.c.kb == bindparam("kb")) & (_TEXT.c.at >= bindparam("start")) & (_TEXT.c.at < bindparam("end"))
_COUNTS = select(_COUNT.c.given, _COUNT.c.gone).where(_COUNT.c.kb == bindparam("kb"))
_STATE = select(func.count(), func.coalesce(func.sum(_TEXT.c.id % _MODULUS), 0)).where(_INSIDE)
_ROWS = select(_TEXT.c.at, _TEXT.c.id, _TEXT.c.bands).where(_INSIDE).order_by(_TEXT.c.at)


def counts(tx: Connection, kb: str) -> tuple[int, int]:
    """How many rows a knowledge base has been given so far, and how many of them have left."""
    row = tx.execute(_COUNTS, {"kb": kb}).one_or_none()
    return (row.given, row.gone) if row else (0, 0)


def _state(tx: Connection, kb: str, wanted: Range) -> tuple[int, int]:
    """How many rows SQL has in a range, and the sum of their numbers."""
    held, numbers = tx.execute(_STATE, {"kb": kb, **wanted._asdict()}).one()
    return int(held), int(numbers)


def _rows(tx: Connection, kb: str, wanted: Range) -> list[tuple[int, int, bytes]]:
    return [(at, number, bands) for at, number, bands in tx.execute(_ROWS, {"kb": kb, **wanted._asdict()})]


def _from_sql(tx: Connection, kb: str, wanted: Range) -> Segment:
    import numpy as np

    rows = _rows(tx, kb, wanted)
    numbers = np.array([number for _, number, _ in rows], dtype=np.int64)
    return segment(numbers, _unpacked(b"".join(bands for _, _, bands in rows)))


def _unpacked(bands: bytes) -> "Array":
    import numpy as np

    return np.frombuffer(bands, dtype="<u4").reshape(-1, WIDTH)


def _joined(parts: list[Segment]) -> Segment:
    import numpy as np

    numbers, order, pieces = merged(parts)
    rows = np.concatenate([one.rows for one in parts])[order]
    return Segment(numbers, rows, np.concatenate(list(pieces)))


def _save(path: Path, parts: list[Segment]) -> None:
    """All or nothing: written beside its place, flushed to the disk, then renamed."""
    import numpy as np

    numbers, order, pieces = merged(parts)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    with os.fdopen(handle, "wb") as file:
        file.write(bytes(8 * _HEAD))
        checksum, held = 0, 0

        def put(array: "Array") -> None:
            nonlocal checksum
            data = array.tobytes()
            checksum = zlib.crc32(data, checksum)
            file.write(data)

        for piece in pieces:
            put(piece)
            held += len(piece)
        put(numbers)
        starts = np.cumsum([0, *(len(one.numbers) for one in parts)])
        for at in range(0, len(order), 4096):
            some = order[at : at + 4096]
            rows = np.empty((len(some), WIDTH), dtype=np.uint32)
            for one, start in zip(parts, starts, strict=False):
                mine = (some >= start) & (some < start + len(one.numbers))
                rows[mine] = one.rows[some[mine] - start]
            put(rows)
        head = [_MAGIC, len(numbers), held, checksum, int((numbers % _MODULUS).sum())]
        file.seek(0)
        file.write(np.array([*head, zlib.crc32(np.array(head, dtype="<i8").tobytes())], dtype="<i8").tobytes())
        file.flush()
        os.fsync(file.fileno())
    Path(name).replace(path)


def _load(path: Path, texts: int | None, total: int | None) -> Segment | None:
    """The segment of a file; None where there is none, where it is damaged, or not of this count and sum."""
    import numpy as np

    try:
        data = np.memmap(path, dtype=np.uint8, mode="r")
    except (OSError, ValueError):
        return None
    head = np.frombuffer(data[: 8 * _HEAD], dtype="<i8") if len(data) >= 8 * _HEAD else np.zeros(_HEAD, dtype=np.int64)
    magic, held, postings, checksum, numbers, own = head.tolist()
    size = 8 * (_HEAD + postings + held) + 4 * WIDTH * held
    if magic != _MAGIC or len(data) != size or own != zlib.crc32(head[:-1].tobytes()):
        return None
    if texts is not None and ((held, numbers) != (texts, total) or zlib.crc32(data[8 * _HEAD :].data) != checksum):
        return None
    edges = np.cumsum([8 * _HEAD, 8 * postings, 8 * held, 4 * WIDTH * held]).tolist()
    return Segment(
        numbers=data[edges[1] : edges[2]].view("<i8"),
        rows=data[edges[2] : edges[3]].view("<u4").reshape(-1, WIDTH),
        postings=data[edges[0] : edges[1]].view("<u8"),
    )
