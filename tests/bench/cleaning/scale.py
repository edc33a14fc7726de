"""What linking costs at a size: the product's own way through SQL, beside two others in memory."""

import resource
import tempfile
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines import corpus as living
from pipelines.adapters.database import Database
from pipelines.dedup import compare, link, signatures
from pipelines.dedup.settings import DedupSettings
from pipelines.ids import number
from pipelines.settings import Settings
from schemas.chunk import Chunk
from sql import tables
from tests.bench.cleaning.corpus import Made, corpus

VERSION = 20
"""Chunks that arrive together: one version of a document."""


def _rss() -> int:
    """Resident bytes now (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


_WIDE, _HALF = 2**60, 30
_ODD = 0x9E3779B97F4A7C1
_BACK = pow(_ODD, -1, _WIDE)


def _number(position: int) -> int:
    """60 bits that look like chance, one to one: so the bench keeps no table of ids, which would count as memory."""
    mixed = position * _ODD % _WIDE
    return (mixed ^ mixed >> _HALF) * _ODD % _WIDE


def _position(found: int) -> int:
    mixed = found * _BACK % _WIDE
    return (mixed ^ mixed >> _HALF) * _BACK % _WIDE


def _id(position: int) -> str:
    return f"{_number(position):015x}".ljust(32, "0")


class _Texts:
    """Raw texts in a file, as the artifact store keeps them: they are not the index's memory."""

    def __init__(self, folder: Path) -> None:
        self._file = (folder / "texts").open("w+b")
        self._starts = array("q", [0])

    def add(self, text: str) -> None:
        self._file.seek(0, 2)
        self._file.write(text.encode())
        self._starts.append(self._file.tell())

    def get(self, wanted: int) -> tuple[str, str]:
        at = _position(wanted)
        self._file.seek(self._starts[at])
        return _id(at), self._file.read(self._starts[at + 1] - self._starts[at]).decode()


class _Copies:
    """Whose copy each text is, and which of them were linked with it."""

    def __init__(self) -> None:
        self._source = array("q")
        self._linked = bytearray()

    def add(self, source: int | None) -> None:
        self._source.append(-1 if source is None else source)
        self._linked.append(0)

    def link(self, a: str, b: str) -> None:
        source, copy = sorted((_position(number(a)), _position(number(b))))
        if self._source[copy] == source:
            self._linked[copy] = 1

    def share(self) -> float:
        """Of all copies, those that are linked."""
        return sum(self._linked) / sum(source >= 0 for source in self._source)


class _Corpus(living.SqlCorpus):
    """The product's corpus, with texts from a file instead of the artifacts of a whole installation."""

    def __init__(self, app: Any, texts: _Texts) -> None:
        super().__init__(app, "")
        self._texts = texts

    def texts(self, numbers: Sequence[int]) -> Mapping[int, tuple[str, str]]:
        return {one: self._texts.get(one) for one in numbers}


def ours(size: int, settings: DedupSettings) -> dict[str, Any]:
    """CPU seconds and memory from `size` chunks, and how many of the known copies are linked. What a million costs is
    the slope of the last three quarters: by then libraries are loaded and caches are full."""
    compare("预热。", "预热吧。", settings)  # models and libraries are loaded once, however many chunks there are
    signatures(["预热。"], settings, b"")
    with tempfile.TemporaryDirectory() as folder:
        app = _app(Path(folder), settings)
        texts, copies = _Texts(Path(folder)), _Copies()
        outcomes: Counter[str] = Counter()
        spent, early, before, measured = 0.0, 0.0, _rss(), 0
        for at, made in enumerate(_versions(size)):
            if at == size // VERSION // 4:
                early, before, measured = spent, _rss(), at * VERSION
            chunks = _chunks(made, at * VERSION)
            for one in made:
                texts.add(one.text)
                copies.add(one.copy_of)
            started = time.process_time()
            living.remember(app, f"{at:032x}", f"{at:032x}", chunks)
            links = link(chunks, _Corpus(app, texts), settings)
            with app.database.write() as tx:
                living.link(tx, links)
            spent += time.process_time() - started
            for found in links.found:
                outcomes[found.outcome] += 1
                copies.link(found.a, found.b)
        grown = _rss() - before
    rest = (1e6 - measured) / (size - measured)
    return {
        "chunks": size,
        "cpu_seconds_per_million": round(early + (spent - early) * rest),
        "rss_mb": round(_rss() / 1e6),
        "rss_mb_at_a_million": round((before + grown * rest) / 1e6),
        "copies_linked": round(copies.share(), 4),
        "links": dict(sorted(outcomes.items())),
    }


@dataclass(frozen=True, eq=False)
class _App:
    """As much of the product's App as the corpus needs."""

    database: Database
    settings: Settings
    kb: str = "bench"
    key: bytes = b"bench"


def _app(folder: Path, settings: DedupSettings) -> Any:
    database = Database(f"sqlite:///{folder}/bench.db", folder)
    tables.metadata.create_all(database.engine)
    return _App(database, Settings(home=folder, dedup=settings))


def _versions(size: int) -> Iterator[list[Made]]:
    batch: list[Made] = []
    for one in corpus(size):
        batch.append(one)
        if len(batch) == VERSION:
            yield batch
            batch = []
    if batch:
        yield batch


def _chunks(made: Iterable[Made], first: int) -> list[Chunk]:
    return [Chunk(id=_id(first + at), ordinal=at, kind="text", text=one.text) for at, one in enumerate(made)]


def peer(size: int, make: Callable[[], tuple[Callable[[int, str], Iterable[int]], str]]) -> dict[str, Any]:
    """Another tool over the same texts, in memory: `insert` takes (position, text) and names earlier ones alike."""
    insert, note = make()
    all_made = list(corpus(size))
    before = _rss()
    started = time.process_time()
    found = {(other, at) for at, one in enumerate(all_made) for other in insert(at, one.text)}
    spent = time.process_time() - started
    wanted = {(one.copy_of, at) for at, one in enumerate(all_made) if one.copy_of is not None}
    alike = sum(all_made[a].family is not None and all_made[a].family == all_made[b].family for a, b in found)
    return {
        "chunks": size,
        "cpu_seconds_per_million": round(spent / size * 1e6),
        "rss_mb_at_a_million": round((before + (_rss() - before) * 1e6 / size) / 1e6),
        "copies_found": round(len(found & wanted) / len(wanted), 4),
        "called_duplicates": len(found),
        "of_them_other_contracts": alike,
        "note": note,
    }


def datasketch() -> tuple[Callable[[int, str], Iterable[int]], str]:
    """MinHashLSH over character 3-grams, 128 permutations, threshold 0.6."""
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=0.6, num_perm=128)
    empty = MinHash(num_perm=128)

    def insert(at: int, text: str) -> Iterable[int]:
        state = empty.copy()
        state.update_batch([text[i : i + 3].encode() for i in range(len(text) - 2)])
        alike = list(index.query(state))
        index.insert(at, state)
        return alike

    return insert, "character 3-grams, threshold 0.6, its own bands; no look at what differs"


def datatrove_like() -> tuple[Callable[[int, str], Iterable[int]], str]:
    """datatrove's defaults, simulated: 5-grams of words, numbers as 0, 14 buckets of 8, no check."""
    import re

    import rjieba
    from rensa import RMinHash

    buckets: dict[tuple[int, ...], list[int]] = {}

    def insert(at: int, text: str) -> Iterable[int]:
        words = [word for word in rjieba.cut(re.sub(r"\d+", "0", text.lower())) if word.isalnum()]
        state = RMinHash(num_perm=112, seed=1)
        state.update([" ".join(words[i : i + 5]) for i in range(max(1, len(words) - 4))])
        row = state.digest()
        alike: set[int] = set()
        for bucket in range(14):
            members = buckets.setdefault((bucket, *row[bucket * 8 : bucket * 8 + 8]), [])
            alike.update(members)
            members.append(at)
        return alike

    return insert, "simulated: word 5-grams, numbers as 0, 14 x 8, no check"


def simhash() -> tuple[Callable[[int, str], Iterable[int]], str]:
    """The classic recipe: jieba words, 64-bit SimHash, distance 3, through the simhash package's index."""
    import logging
    import warnings

    import rjieba

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from simhash import Simhash, SimhashIndex

    logging.getLogger().setLevel(logging.ERROR)
    index = SimhashIndex([], k=3)

    def insert(at: int, text: str) -> Iterable[int]:
        value = Simhash([word for word in rjieba.cut(text) if word.isalnum()])
        alike = [int(one) for one in index.get_near_dups(value)]
        index.add(str(at), value)
        return alike

    return insert, "words, 64 bits, distance 3"
