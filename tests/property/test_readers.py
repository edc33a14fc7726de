"""Whatever happens to access, releases and quarantine: nothing of a search shows what its reader may not see.

The real library over SQLite, the real search, cache and answer; the index is a hostile one that knows no filter. Half
of the changes leave no audit entry, so that the cache cannot know of them.
"""

import random
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import Connection, delete, insert, update

from pipelines import lifecycle
from pipelines.ask import find
from pipelines.library import Reader
from pipelines.migrate import migrate
from pipelines.retrieve.answer import Draft, answer
from pipelines.settings import Settings
from pipelines.wiring import wire
from schemas.index import FOREVER, IndexFilter, IndexHit
from sql import tables
from tests.fakes import FakeEmbedder, FakeLanguageModel

SETS = {1: "everyone", 2: "team:a", 3: "team:b", 4: "user:x,team:c", 5: "user:y"}
READERS = (Reader(), Reader("x"), Reader("y", ("a",)), Reader(None, ("b", "c")), Reader("z", ("a", "b")))
DOCUMENTS, RELEASES, EACH = 8, 4, 2
QUESTIONS = ("travel allowance", "what is the allowance of thing1", "alowance 20")
RECENT = 4
"""Most questions are one of the last that were asked, so that the cache answers them after changes it was not told."""
MARK = re.compile(r"mark\d+z")


@dataclass(frozen=True)
class Row:
    """One chunk in one interval of releases; its text holds a mark of its own."""

    id: str
    chunk: str
    document: str
    version: str
    source: str
    born: int
    died: int
    mark: str


@dataclass
class World:
    """What should be true, apart from the database."""

    rows: tuple[Row, ...]
    acl: dict[str, int]
    live: int = 1
    denied: set[tuple[str, str]] = field(default_factory=set)

    def visible(self, reader: Reader, release: int) -> set[str]:
        mine = {id_ for id_, who in SETS.items() if set(who.split(",")) & reader.principals()}
        return {
            row.id
            for row in self.rows
            if row.born <= release < row.died
            and self.acl[row.document] in mine
            and not self.denied & set(self._subjects(row))
        }

    @staticmethod
    def _subjects(row: Row) -> list[tuple[str, str]]:
        kinds = ("chunk", "document", "version", "source")
        return [(kind, getattr(row, kind)) for kind in kinds]


class HostileIndex:
    """Offers every row there is, best or worst, to everybody."""

    def __init__(self, rows: Sequence[Row], chance: random.Random) -> None:
        self._ids, self._chance = [row.id for row in rows], chance

    def ensure(self, collection: str, dimension: int) -> None: ...

    def dense(self, collection: str, vector: Any, where: IndexFilter, limit: int) -> list[IndexHit]:
        return [IndexHit(id=id_, score=0.99 - 0.001 * at) for at, id_ in enumerate(self._ids)]

    def lexical(self, collection: str, tokens: str, where: IndexFilter, limit: int) -> list[IndexHit]:
        return [IndexHit(id=id_, score=self._chance.random() + 1) for id_ in self._ids]


def make_world(chance: random.Random) -> World:
    rows: list[Row] = []
    acl: dict[str, int] = {}
    for number in range(DOCUMENTS):
        document, source = f"d{number}", f"s{number % 3}"
        acl[document] = chance.choice(list(SETS))
        border = chance.choice([1, 2, 3, RELEASES + 1])
        for version, (born, died) in enumerate([(1, border), (border, FOREVER)]):
            if born < died and born <= RELEASES:
                names = [f"c{number}v{version}n{part}" for part in range(EACH)]
                end = died if died <= RELEASES else FOREVER
                rows += [
                    Row(
                        f"{one}@{born}",
                        one,
                        document,
                        f"{document}v{version}",
                        source,
                        born,
                        end,
                        f"mark{len(rows) + at}z",
                    )
                    for at, one in enumerate(names)
                ]
    return World(tuple(rows), acl)


def store(tx: Connection, world: World) -> None:
    kb = {"name": "main", "live_release": 1, "last_release": RELEASES, "collection": "c", "embedder": "fa4e00000001"}
    tx.execute(delete(tables.knowledge_base))
    tx.execute(insert(tables.knowledge_base).values(**kb, created=0))
    tx.execute(insert(tables.access_set), [{"id": id_, "principals": who} for id_, who in SETS.items()])
    tx.execute(insert(tables.source), [{"kb": "main", "name": f"s{n}", "config": {}, "acl": 1} for n in range(3)])
    release = {"kb": "main", "state": "live", "kind": "sync", "created": 0, "created_by": "t", "published": 1.0}
    numbers = range(1, RELEASES + 1)
    tx.execute(insert(tables.release), [{**release, "number": number, "counts": {}} for number in numbers])
    for document in {row.document: row for row in world.rows}.values():
        facts = {"id": document.document, "kb": "main", "source": document.source, "uri": document.document}
        facts |= {"name_key": document.document, "name_sealed": ""}
        tx.execute(
            insert(tables.document).values(**facts, token="", sha256="", acl=world.acl[document.document], seen=0)
        )
    for row in {row.version: row for row in world.rows}.values():
        facts = {
            "id": row.version,
            "kb": "main",
            "document": row.document,
            "number": 1,
            "sha256": "",
            "uri": row.document,
        }
        facts |= {"state": "published", "artifacts": {}, "facts": {}, "ingested_by": "", "run": "", "created": 0}
        tx.execute(insert(tables.version).values(**facts))
        shown = {"document": row.document, "born": row.born, "died": row.died, "version": row.version}
        tx.execute(insert(tables.document_release).values(**shown, kb="main"))
    for number, row in enumerate(world.rows):
        facts = {"id": row.id, "kb": "main", "chunk": row.chunk, "document": row.document, "version": row.version}
        facts |= {"source": row.source, "born": row.born, "died": row.died, "content_hash": "", "kind": "text"}
        facts |= {"language": "en", "authority": 1 + number % 4, "section": [], "context": ""}
        text = f"The travel allowance of {row.mark} is twenty."
        tx.execute(insert(tables.chunk).values(**facts, text=text, parent=f"Section. {text}", quality=1))
        related = {"version": row.version, "chunk": row.chunk, "predicate": "needs", "method": "rule"}
        tx.execute(insert(tables.relation).values(**related, subject="allowance", object=f"thing{number % 3}"))
        tx.execute(
            insert(tables.entity).values(
                version=row.version, chunk=row.chunk, text=f"thing{number % 3}", type="t", method="rule"
            )
        )
    ends = [(world.rows[at], world.rows[-at - 1]) for at in range(len(world.rows) // 2)]
    for number, (a, b) in enumerate(ends):
        facts = {"id": f"k{number}", "kb": "main", "a": a.chunk, "b": b.chunk, "score": 1, "method": "rule", "found": 0}
        facts |= {"document_a": a.document, "document_b": b.document, "evidence": {"kinds": []}, "note": b.mark}
        tx.execute(insert(tables.conflict).values(**facts, winner=b.chunk if number % 2 else None))


def change(tx: Connection, world: World, chance: random.Random) -> None:
    """One act of governance, in the database and in the world."""
    row, act = chance.choice(world.rows), chance.randrange(4)
    if act == 0:
        world.live = chance.randint(1, RELEASES)
        tx.execute(update(tables.knowledge_base).values(live_release=world.live))
    elif act == 1:
        world.acl[row.document] = chance.choice(list(SETS))
        tx.execute(
            update(tables.document).where(tables.document.c.id == row.document).values(acl=world.acl[row.document])
        )
    elif world.denied and act == 2:
        kind, subject = chance.choice(sorted(world.denied))
        world.denied.discard((kind, subject))
        table = tables.deny
        tx.execute(delete(table).where(table.c.kind == kind, table.c.subject == subject))
    else:
        kind = chance.choice(["chunk", "chunk", "document", "version", "source"])
        subject = getattr(row, kind)
        if len(world.denied) < 6 and (kind, subject) not in world.denied:
            world.denied.add((kind, subject))
            deny = {"kb": "main", "kind": kind, "subject": subject, "actor": "t", "reason": "", "at": 0}
            tx.execute(insert(tables.deny).values(**deny))
    if chance.random() < 0.5:
        lifecycle.record(tx, "main", "t", "changed", "kb", "main", "")


def marks(*texts: str) -> set[str]:
    return set(MARK.findall(" ".join(texts)))


@pytest.mark.parametrize("cases", [500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_nothing_of_a_search_shows_what_its_reader_may_not_see(tmp_path: Path, cases: int) -> None:
    chance = random.Random(11)
    world = make_world(chance)
    app = wire(Settings(home=tmp_path, sources=tmp_path / "none.yaml", secret_key=SecretStr("test")), actor="tester")
    migrate(app)
    index, embedder = HostileIndex(world.rows, chance), FakeEmbedder()
    model = FakeLanguageModel(
        {"answer": lambda text: Draft(text=" ".join(f"The allowance of {m} is twenty [1]." for m in marks(text)))}
    )
    app = replace(app, index=lambda: index, embedder=lambda: embedder, llm=lambda: None, reranker=lambda: None)
    with app.database.write() as tx:
        store(tx, world)
    cached = shown = 0
    recent: deque[tuple[Reader, int | None, str, int]] = deque(maxlen=RECENT)
    for case in range(cases):
        if chance.random() < 0.2:
            with app.database.write() as tx:
                change(tx, world, chance)
        if len(recent) == RECENT and chance.random() < 0.8:
            reader, release, question, top = chance.choice(recent)
        else:
            reader, question, top = chance.choice(READERS), chance.choice(QUESTIONS), chance.choice([3, 10])
            release = chance.randint(1, RELEASES) if chance.random() < 0.3 else None
        recent.append((reader, release, question, top))
        _, result = find(app, question, reader, release, top)
        assert result is not None
        allowed = world.visible(reader, release or world.live)
        trace = result.trace
        ids = {hit.passage.id for hit in result.hits} | {id_ for id_, _ in (*trace.fused, *trace.reranked)}
        ids |= {id_ for route in trace.routes for id_, _ in route.candidates}
        assert ids <= allowed, (case, ids - allowed)
        may = {row.mark for row in world.rows if row.id in allowed}
        chunks = {row.chunk for row in world.rows if row.id in allowed}
        assert {one.other for hit in result.hits for one in hit.contradicts} <= chunks
        if result.hits and case % 5 == 0:
            made = answer(question, result.hits, model, app.retrieve)
            assert marks(made.text, made.prompt, *(one.quote for one in made.citations)) <= may
            assert {one.passage.id for one in made.citations} <= allowed
        assert marks(trace.model_dump_json(), *(hit.model_dump_json() for hit in result.hits)) <= may
        cached += trace.cached
        shown += bool(result.hits)
    app.database.engine.dispose()
    assert cached > cases // 3, cached
    assert shown > cases // 4
