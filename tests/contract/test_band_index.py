"""The band index answers as SQL would: whatever was merged, damaged, lost or forgotten, in any process."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipelines import corpus
from pipelines.app import App
from pipelines.band_index import BandIndex, ranges
from pipelines.dedup.postings import NOBODY, Segment, heads, members, rows_of, segment
from pipelines.dedup.signature import WIDTH
from pipelines.ids import number
from schemas.chunk import Chunk
from sql import tables

WORDS = ("contract", "price", "delivery", "seven days", "notice", "party", "refund", "harbour", "invoice", "audit")


def chunks(seed: int, size: int) -> list[Chunk]:
    chance = random.Random(seed)
    texts = [" ".join(chance.choices(WORDS, k=6)) for _ in range(size)]
    return [
        Chunk(id=f"{chance.randrange(16**15):015x}{at:017x}", ordinal=at, kind="text", text=text)
        for at, text in enumerate(texts)
    ]


def small(app: App) -> BandIndex:
    """One whose every second block is a file."""
    return BandIndex(app.database, app.kb, app.settings.home / "small", block=2, file=4)


def truth(app: App) -> tuple[Segment, ...]:
    text = tables.duplicate_text
    with app.database.read() as tx:
        rows = tx.execute(text.select()).all()
    bands = np.frombuffer(b"".join(row.bands for row in rows), dtype="<u4").reshape(-1, WIDTH)
    return (segment(np.array([row.id for row in rows], dtype=np.int64), bands),)


def same(ours: Sequence[Segment], theirs: Sequence[Segment]) -> bool:
    """Whether both give the same answers about every text that either holds."""
    numbers = np.unique(np.concatenate([one.numbers for one in (*ours, *theirs)]))
    rows = rows_of(theirs, numbers)
    bands = np.repeat(np.arange(WIDTH), len(rows))
    pairs = [
        (rows_of(one, numbers), heads(one, rows, 3), *members(one, bands, rows.T.ravel())) for one in (ours, theirs)
    ]
    return all(np.array_equal(a, b) for a, b in zip(*pairs, strict=True))


def test_it_grows_and_shrinks_with_sql(app: App) -> None:
    running = small(app)
    for at in range(9):
        made = chunks(at, 3)
        corpus.remember(app, f"version{at}", f"document{at}", made)
        corpus.remember(app, f"version{at}", f"document{at}", made)
        assert same(running.refresh(), truth(app)), at
        if at % 3 == 2:
            with app.database.write() as tx:
                counted = corpus.forget(tx, app, [made[0].id, "f" * 32])
            assert counted == {"duplicate_text": 1}
            assert same(running.refresh(), truth(app)), at
            assert same(small(app).refresh(), truth(app)), at
    assert len(running.refresh()) > 2 and list(Path(app.settings.home / "small").glob("*.bands"))


def test_a_lost_or_damaged_file_is_made_anew(app: App) -> None:
    corpus.remember(app, "version", "document", chunks(0, 16))
    small(app).refresh()
    (path,) = (app.settings.home / "small").glob("*.bands")
    whole = path.read_bytes()
    for damaged in (b"", whole[:50], whole[:-1], whole[:60] + b"\xff" + whole[61:], b"x" + whole[1:], whole[::-1]):
        path.write_bytes(damaged)
        assert same(small(app).refresh(), truth(app))
        assert path.read_bytes() == whole
    path.unlink()
    assert same(small(app).refresh(), truth(app))


def test_what_was_forgotten_leaves_the_files(app: App) -> None:
    made = chunks(0, 16)
    corpus.remember(app, "version", "document", made)
    running, other = small(app), small(app)
    running.refresh()
    other.refresh()
    with app.database.write() as tx:
        corpus.forget(tx, app, [made[3].id])
    gone = number(made[3].id).to_bytes(8, "little")
    folder: Path = app.settings.home / "small"
    assert any(gone in path.read_bytes() for path in folder.glob("*"))
    corpus.purge(app)
    running.purge()
    assert not any(gone in path.read_bytes() for path in folder.glob("*"))
    for one in (running, other, small(app)):  # `other` finds that the list of what has gone was cut short
        assert same(one.refresh(), truth(app))
    assert not any(gone in path.read_bytes() for path in folder.glob("*"))


def test_knowledge_bases_do_not_mix(app: App) -> None:
    corpus.remember(app, "version", "document", chunks(0, 5))
    assert not BandIndex(app.database, "other", app.settings.home / "other").refresh()


@given(st.integers(0, 5000), st.integers(1, 64))
def test_ranges_are_aligned_and_cover_all_whole_blocks(count: int, block: int) -> None:
    found = ranges(count, block)
    assert [one.start for one in found] == [0, *(one.end for one in found)][:-1]
    assert sum(one.end - one.start for one in found) == count // block * block
    assert all(one.start % (one.end - one.start) == 0 for one in found)


@given(st.data(), st.integers(1, 4))
def test_many_segments_answer_as_one_and_the_dead_are_silent(data: Any, parts: int) -> None:
    size = data.draw(st.integers(parts, 24))
    chance = np.random.default_rng(size)
    numbers = chance.permutation(1000)[:size].astype(np.int64)
    rows = chance.integers(0, 3, (size, WIDTH)).astype(np.uint32)
    gone = numbers[np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), dtype=bool)]
    many = tuple(
        segment(numbers[at::parts], rows[at::parts]).without(gone) for at in range(parts) if len(numbers[at::parts])
    )
    left = ~np.isin(numbers, gone)
    assert same(many, (segment(numbers[left], rows[left]),))
    assert (heads(many, rows, 2) == NOBODY).any() or left.sum() > 1
