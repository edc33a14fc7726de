"""What every vector index keeps, whatever is behind it."""

import json
import os
import signal
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipelines.adapters.milvus import BATCH_ROWS, MilvusIndex, batches, expression
from pipelines.adapters.milvus_local import local_index, stop_local_server
from pipelines.errors import Code, SluiceError, Transient
from pipelines.ports import VectorIndex
from schemas.index import FOREVER, IndexFilter, IndexRow
from tests.fakes_index import FakeIndex

SERVER = "SLUICE_TEST_MILVUS_URL"


def row(name: str, **more: object) -> IndexRow:
    fields: dict[str, object] = {
        "id": name, "born": 1, "document": "d", "source": "s", "authority": 1, "kind": "text", "language": "zh",
        "dated": 100, "acl": 1, "lexical": "合同 审批", "vector": (1.0, 0.0, 0.0, 0.0),
    }  # fmt: skip
    return IndexRow.model_validate(fields | more)


@pytest.fixture(scope="session")
def lite_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("lite")
    yield home
    stop_local_server(home)


@pytest.fixture(params=["fake", "lite", pytest.param("server", marks=pytest.mark.milvus)])
def index(request: pytest.FixtureRequest) -> VectorIndex:
    if request.param == "fake":
        return FakeIndex()
    if request.param == "lite":
        return local_index(request.getfixturevalue("lite_home"), 300)
    if SERVER not in os.environ:
        if os.environ.get("SLUICE_TEST_REQUIRE_SERVERS") == "1":
            pytest.fail(f"a Milvus server is required: {SERVER} is not set")
        pytest.skip(f"no Milvus server: {SERVER} is not set")
    return MilvusIndex(os.environ[SERVER])


@pytest.fixture
def name(index: VectorIndex) -> Iterator[str]:
    made = f"t_{uuid.uuid4().hex}"
    index.ensure(made, 4)
    yield made
    index.drop(made)


def found(index: VectorIndex, name: str, **where: object) -> set[str]:
    list(index.states(name))  # a strong read first: Bounded readers of a real server lag a little
    asked = IndexFilter.model_validate({"release": 1, "acl": (1,)} | where)
    return {hit.id for hit in index.dense(name, (1.0, 0.0, 0.0, 0.0), asked, 10)}


def test_filters_decide_what_is_found(index: VectorIndex, name: str) -> None:
    quote = 'say "so" \\ or born > 0'
    index.upsert(name, [
        row("a@1"), row("old@1", died=2), row("new@2", born=2), row("b@1", acl=2, dated=7),
        row("q@1", source=quote, document=quote, kind="table", language="en"),
    ])  # fmt: skip
    index.ensure(name, 4)
    cases: list[tuple[dict[str, object], set[str]]] = [
        ({}, {"a@1", "old@1", "q@1"}),
        ({"release": 2}, {"a@1", "new@2", "q@1"}),
        ({"acl": ()}, set()),
        ({"acl": (1, 2)}, {"a@1", "old@1", "b@1", "q@1"}),
        ({"sources": (quote,)}, {"q@1"}),
        ({"not_documents": (quote,)}, {"a@1", "old@1"}),
        ({"kinds": ("table",)}, {"q@1"}),
        ({"languages": ("zh",)}, {"a@1", "old@1"}),
        ({"acl": (1, 2), "dated_to": 50}, {"b@1"}),
        ({"dated_from": 101}, set()),
        ({"also_ids": ("new@2",), "not_ids": ("old@1",)}, {"a@1", "q@1", "new@2"}),
    ]
    assert [found(index, name, **where) for where, _ in cases] == [expected for _, expected in cases]


def test_the_nearest_comes_first_with_its_cosine(index: VectorIndex, name: str) -> None:
    index.upsert(name, [row("near@1"), row("far@1", vector=(0.6, 0.8, 0.0, 0.0))])
    list(index.states(name))
    hits = index.dense(name, (1.0, 0.0, 0.0, 0.0), IndexFilter(release=1, acl=(1,)), 2)
    assert [hit.id for hit in hits] == ["near@1", "far@1"]
    assert [hit.score for hit in hits] == pytest.approx([1.0, 0.6], abs=1e-4)


def test_words_find_only_rows_that_share_one(index: VectorIndex, name: str) -> None:
    index.upsert(name, [row("a@1"), row("b@1", lexical="beta 财务"), row("c@1", lexical="gamma")])
    hits = index.lexical(name, "合同 nothing", IndexFilter(release=1, acl=(1,)), 5)
    old_server = isinstance(index, MilvusIndex) and not index._has_lexical(name)
    assert [hit.id for hit in hits] == ([] if old_server else ["a@1"])
    assert all(hit.score > 0 for hit in hits)
    assert index.lexical(name, "", IndexFilter(release=1, acl=(1,)), 5) == []


def test_a_second_write_replaces_and_a_delete_removes(index: VectorIndex, name: str) -> None:
    index.upsert(name, [row(f"{n}@1") for n in range(BATCH_ROWS + 5)])
    index.upsert(name, [row("1@1", died=9), row("1@1", died=7)])
    index.delete(name, ["0@1", "never@1"])
    index.flush(name)
    states = {state.id: state.died for state in index.states(name)}
    assert len(states) == BATCH_ROWS + 4
    assert (states["1@1"], states["2@1"]) == (7, FOREVER)
    assert index.fetch(name, ["2@1", "0@1"]) == [row("2@1")]
    assert [state.id for state in index.states(name, ["2@1", "0@1"])] == ["2@1"]


def test_a_collection_that_is_not_there_is_said_so_and_not_made_by_a_reader(index: VectorIndex) -> None:
    name, where = f"t_{uuid.uuid4().hex}", IndexFilter(release=1, acl=(1,))
    index.ensure(name, 4)
    index.upsert(name, [row("a@1")])
    found(index, name)
    index.drop(name)
    reads: list[Callable[[], object]] = [
        lambda: index.dense(name, (1.0, 0.0, 0.0, 0.0), where, 5),
        lambda: index.lexical(name, "合同", where, 5),
        lambda: list(index.states(name)),
        lambda: index.fetch(name, ["a@1"]),
    ]
    for read in reads * 2:
        with pytest.raises(Transient) as gone:
            read()
        assert gone.value.code is Code.INDEX_GONE


def test_a_killed_local_server_comes_back_with_all_that_was_acknowledged(lite_home: Path) -> None:
    index = local_index(lite_home, 300)
    index.ensure("killed", 4)
    index.upsert("killed", [row("a@1"), row("b@1")])
    os.kill(json.loads((lite_home / "index" / "server.json").read_text())["server"], signal.SIGKILL)
    assert {state.id for state in index.states("killed")} == {"a@1", "b@1"}


def test_a_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(SluiceError) as refused:
        list(batches([row("a@1", lexical="字" * 22_000)]))
    assert refused.value.code is Code.INDEX_REFUSED


def test_a_value_cannot_leave_its_quotes() -> None:
    assert '"a\\" or 1"' in expression(IndexFilter(release=1, acl=(1,), sources=('a" or 1',)))
