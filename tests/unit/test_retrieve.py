"""Fusion, understanding, search and answers."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from pipelines.retrieve.answer import Draft, answer
from pipelines.retrieve.fuse import minmax, reciprocal_ranks
from pipelines.retrieve.search import search
from pipelines.retrieve.settings import RetrieveSettings
from pipelines.retrieve.tokens import lexical_tokens
from pipelines.retrieve.understand import understand
from schemas.index import IndexFilter, IndexHit
from schemas.search import Hit, Passage
from tests.fakes import FakeLanguageModel

NOW = datetime(2026, 1, 15, tzinfo=UTC).timestamp()
SETTINGS = RetrieveSettings()


def _passage(id_: str, text: str, group: str | None = None) -> Passage:
    return Passage(
        id=id_,
        chunk=id_,
        document=id_,
        version="v",
        release=1,
        source="s",
        title="",
        uri=id_,
        text=text,
        duplicate_group=group,
    )


class _Library:
    collection, release, acl, denied_documents, hidden_rows, sources = "c", 1, (1,), (), (), ()

    def __init__(self, *visible: Passage) -> None:
        self._visible = {one.id: one for one in visible}

    def related(self, question: str) -> Mapping[str, float]:
        return {}

    def overruled(self, chunks: Sequence[str]) -> frozenset[str]:
        return frozenset()

    def hydrate(self, ids: Sequence[str]) -> Mapping[str, Passage]:
        return {id_: self._visible[id_] for id_ in ids if id_ in self._visible}


class _Index:
    """Ranks by shared tokens; only `lexical` is asked here."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def lexical(self, collection: str, tokens: str, where: IndexFilter, limit: int) -> list[IndexHit]:
        asked = set(tokens.split())
        found = {id_: len(asked & set(lexical_tokens(text).split())) for id_, text in self._texts.items()}
        best = sorted((-score, id_) for id_, score in found.items() if score)
        return [IndexHit(id=id_, score=-score) for score, id_ in best][:limit]


def _search(text: str, library: _Library, texts: Mapping[str, str], top: int = 10) -> Any:
    index: Any = _Index(texts)
    return search(text, library=library, index=index, embedder=None, settings=SETTINGS, top=top, clock=lambda: NOW)


def test_a_zero_score_gets_no_rank() -> None:
    fused = reciprocal_ranks([(1.0, {"a": 0.0, "b": 2.0})])
    assert "a" not in fused
    assert "a" not in minmax([(1.0, {"a": 0.0, "b": 2.0})])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("上个月的报销", "2025年12月的报销"), ("去年的营收", "2025年的营收"), ("sales last month", "sales 2025-12")],
)
def test_relative_time_becomes_a_date(text: str, wanted: str) -> None:
    queries = understand(text, SETTINGS, lambda: NOW)
    assert queries[0].text == text
    assert wanted in [one.text for one in queries]


def test_a_question_that_leans_on_the_last_one_is_completed() -> None:
    assert "差旅标准是什么 那住宿呢" in [
        one.text for one in understand("那住宿呢", SETTINGS, lambda: NOW, ["差旅标准是什么"])
    ]


def test_search_fetches_on_until_enough_may_be_seen() -> None:
    texts = {f"r{n:04}": "差旅报销标准" for n in range(900)}
    library = _Library(*(_passage(f"r{n:04}", "差旅报销标准") for n in range(890, 900)))
    found = _search("差旅报销", library, texts)
    assert len(found.hits) == 10
    assert all(id_ >= "r0890" for route in found.trace.routes for id_, _ in route.candidates)


def test_linked_passages_collapse_to_the_best() -> None:
    texts = {"a": "差旅报销标准", "b": "差旅报销标准", "c": "差旅"}
    library = _Library(_passage("a", texts["a"], "g"), _passage("b", texts["b"], "g"), _passage("c", texts["c"]))
    assert [hit.passage.id for hit in _search("差旅报销标准", library, texts).hits] == ["a", "c"]


def _hits(*texts: str) -> list[Hit]:
    return [Hit(passage=_passage(f"p{n}", text), score=1.0) for n, text in enumerate(texts)]


def test_an_answer_cites_its_sentence_and_thin_evidence_is_refused() -> None:
    hits = _hits("住宿费上限为每晚500元。会议室在三楼。")
    found = answer("住宿费上限是多少", hits, None, SETTINGS)
    assert found.found
    assert found.text.splitlines()[0] == "住宿费上限为每晚500元。 [1]"
    assert not answer("火星轨道周期是多少", hits, None, SETTINGS).found


def test_a_model_sentence_without_evidence_is_cut() -> None:
    model = FakeLanguageModel({"answer": lambda _: Draft(text="住宿费上限为每晚500元[1]。上限是900元[1]。随便说。")})
    found = answer("住宿费上限是多少", _hits("住宿费上限为每晚500元。"), model, SETTINGS)
    assert (found.text, len(found.citations)) == ("住宿费上限为每晚500元[1]。", 1)
