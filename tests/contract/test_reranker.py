"""What every reranker keeps: the tests' own, one behind a real HTTP server, FlagEmbedding's cross-encoder."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI, Response

from pipelines.adapters.flag import FlagReranker
from pipelines.adapters.reranker import HttpReranker
from pipelines.errors import Misconfigured, Rejected, Transient
from pipelines.ports import Reranker
from pipelines.settings import RerankerSettings
from tests import flag_models
from tests.fakes import FakeReranker

QUESTION = "who approves contracts"
PASSAGES = ("the canteen opens at noon", "the finance director approves contracts", "cats sleep")


def app(style: str) -> FastAPI:
    """A server that scores by shared words, in the words of Jina and Cohere (`results`) or of TEI (a bare list)."""
    api = FastAPI()

    @api.post("/rerank")
    def rerank(body: dict[str, Any], response: Response) -> Any:
        if body["query"] == "busy":
            response.status_code, response.headers["Retry-After"] = 503, "0"
            return {"error": "busy"}
        if body["query"] == "nonsense":
            return {"results": [{"index": 0}]}
        scores = FakeReranker().score(body["query"], body["documents"])
        ranked = sorted(enumerate(scores), key=lambda one: -one[1])
        if style == "tei":
            return [{"index": at, "score": score} for at, score in ranked]
        return {"results": [{"index": at, "relevance_score": score} for at, score in ranked]}

    return api


@contextmanager
def served(style: str) -> Iterator[HttpReranker]:
    """The adapter with such a server on loopback."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app(style), log_level="error", lifespan="off", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        reranker = HttpReranker(RerankerSettings(name="http", model="m", base_url=url))
        yield reranker
        reranker.close()
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def http() -> Iterator[HttpReranker]:
    with served("jina") as reranker:
        yield reranker


@pytest.fixture(scope="module", params=["fake", "jina", "tei", "flag"])
def reranker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reranker]:
    match request.param:
        case "fake":
            yield FakeReranker()
        case "flag":
            pytest.importorskip("FlagEmbedding", reason="FlagEmbedding has an environment of its own: make flag")
            yield FlagReranker(str(flag_models.make(tmp_path_factory.mktemp("flag"), cross_encoder=True)))
        case style:
            with served(style) as over_http:
                yield over_http


def test_each_passage_has_one_score_in_its_place(reranker: Reranker) -> None:
    scores = reranker.score(QUESTION, PASSAGES)
    assert len(scores) == len(PASSAGES)
    assert all(isinstance(one, float) for one in scores)
    turned = reranker.score(QUESTION, PASSAGES[::-1])
    assert turned[::-1] == pytest.approx(scores, abs=1e-4)


def test_one_passage_is_a_list_of_one_and_none_is_none(reranker: Reranker) -> None:
    assert len(reranker.score(QUESTION, PASSAGES[:1])) == 1
    assert reranker.score(QUESTION, []) == []


def test_it_has_a_name(reranker: Reranker) -> None:
    assert reranker.name


def test_the_passage_that_answers_is_first_over_http(http: HttpReranker) -> None:
    scores = http.score(QUESTION, PASSAGES)
    assert scores.index(max(scores)) == 1


def test_a_busy_server_is_transient_and_an_answer_without_scores_is_refused(http: HttpReranker) -> None:
    with pytest.raises(Transient):
        http.score("busy", PASSAGES)
    with pytest.raises(Rejected):
        http.score("nonsense", PASSAGES)


def test_a_directory_that_is_no_model_is_an_error_and_never_a_download(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured):
        FlagReranker(str(tmp_path / "none")).score(QUESTION, PASSAGES)
