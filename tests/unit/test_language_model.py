"""The language model against a scripted OpenAI-compatible server on loopback."""

from collections.abc import Iterator
from typing import Any

import pytest

from pipelines.adapters.language_model import OpenAILanguageModel, cache_key, read_reply
from pipelines.errors import Code, Misconfigured, Rejected, SluiceError, Transient
from pipelines.settings import LlmSettings
from schemas.base import Record
from tests.fakes_model import ModelServer, says
from tests.fakes_rules import RuleServer


class Fact(Record):
    name: str
    amounts: tuple[int, ...]


GOOD = '{"name": "王强", "amounts": [500, 20]}'
FACT = Fact(name="王强", amounts=(500, 20))


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer([says(GOOD)]) as running:
        yield running


@pytest.fixture
def model(server: ModelServer) -> Iterator[OpenAILanguageModel]:
    made = connect(server)
    yield made
    made.close()


def connect(server: ModelServer, cache: dict[str, str] | None = None, **settings: Any) -> OpenAILanguageModel:
    return OpenAILanguageModel(LlmSettings(base_url=server.url, model="m", **settings), cache)


def ask(model: OpenAILanguageModel, text: str = "王强批准了500元和20元。") -> Fact:
    return model.ask("extract", "Find the fact.", text, Fact)


FAULTS: dict[str, tuple[list[dict[str, Any] | int], dict[str, int]]] = {
    "good": ([says(GOOD)], {}),
    "too many requests": ([429, says(GOOD)], {}),
    "server error": ([500, says(GOOD)], {}),
    "no json_schema": ([says(GOOD)], {"json_schema": 400}),
    "fenced": ([says(f"Here it is:\n```json\n{GOOD}\n```\nAnything else?")], {}),
    "thinking": ([says("<think>Is it {500}? Yes.</think>\n" + GOOD)], {}),
    "truncated once": ([says(GOOD[:30], "length"), says(GOOD)], {}),
    "wrong type once": ([says('{"name": "王强", "amounts": "many"}'), says(GOOD)], {}),
    "trailing comma": ([says('{"name": "王强", "amounts": [500, 20,],}')], {}),
    "json_schema breaks the server": ([says(GOOD)], {"json_schema": 500}),
    "no response format at all": ([says(GOOD)], {"json_schema": 400, "json_object": 422}),
    "thinking without its opening tag": ([says("It says 500.</think>" + GOOD)], {}),
    "cut without saying so": ([says('{"name": "王强", "amounts": [500'), says(GOOD)], {}),
    "empty once": ([says(""), says(GOOD)], {}),
    "unknown field once": ([says('{"name": "王强", "amounts": [1], "x": 1}'), says(GOOD)], {}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_survives(server: ModelServer, model: OpenAILanguageModel, fault: str) -> None:
    server.script, server.refuses = list(FAULTS[fault][0]), FAULTS[fault][1]
    assert ask(model) == FACT


def test_a_refused_format_is_not_asked_for_again(server: ModelServer, model: OpenAILanguageModel) -> None:
    server.refuses = {"json_schema": 400}
    ask(model, "one")
    ask(model, "two")
    assert [r["response_format"]["type"] for r in server.requests] == ["json_schema", "json_object", "json_object"]


def test_the_repair_turn_shows_the_model_its_error(server: ModelServer, model: OpenAILanguageModel) -> None:
    server.script = [says('{"name": "王强"}'), says(GOOD)]
    ask(model)
    assert "amounts" in server.requests[1]["messages"][-1]["content"]


def test_the_same_question_is_asked_once_even_by_another_run(server: ModelServer) -> None:
    cache: dict[str, str] = {}
    for _ in range(2):
        model = connect(server, cache)
        assert ask(model) == FACT
        model.close()
    assert len(server.requests) == 1


def test_a_failed_answer_is_not_cached(server: ModelServer, model: OpenAILanguageModel) -> None:
    server.script = [says("no"), says("no"), says(GOOD)]
    with pytest.raises(Rejected) as caught:
        ask(model)
    assert caught.value.code is Code.LLM_FAILED
    assert ask(model) == FACT


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, Misconfigured), (403, Misconfigured), (400, Rejected), (503, Transient), (429, Transient)],
)
def test_a_status_becomes_the_right_kind_of_error(
    server: ModelServer, model: OpenAILanguageModel, status: int, kind: type[SluiceError]
) -> None:
    server.script = [status]
    with pytest.raises(kind):
        ask(model)


def test_a_server_that_is_away_is_transient() -> None:
    with ModelServer([says(GOOD)]) as closed:
        pass
    model = connect(closed, timeout_seconds=1)
    with pytest.raises(Transient):
        ask(model)
    model.close()


def test_a_server_that_hangs_is_waited_for_once_and_then_left_alone() -> None:
    with RuleServer() as server:
        server.fault = "hang"
        model = connect(server, task_seconds={"extract": 0.2})
        for _ in range(3):
            with pytest.raises(Transient):
                ask(model)
        assert len(server.requests) == 1
        model.close()


def test_the_budget_stops_before_the_next_request(server: ModelServer) -> None:
    model = connect(server, max_tokens_per_run=400)
    ask(model, "one")
    with pytest.raises(Rejected) as caught:
        ask(model, "x" * 800)
    assert caught.value.code is Code.LLM_BUDGET
    assert model.tokens_used == 100
    assert ask(model, "one") == FACT
    assert len(server.requests) == 1
    model.close()


def test_every_part_of_the_question_is_in_the_cache_key() -> None:
    parts = ["task", "instructions", "schema", "model", "text"]
    keys = {cache_key(*parts)} | {cache_key(*parts[:i], parts[i] + "x", *parts[i + 1 :]) for i in range(5)}
    assert len(keys) == 6
    assert cache_key("ab", "c", "", "", "") != cache_key("a", "bc", "", "", "")


def test_text_that_looks_like_thinking_or_fences_survives_inside_a_value() -> None:
    reply = read_reply('{"name": "<think>a</think> ```json {", "amounts": []}', True, Fact)
    assert reply.name == "<think>a</think> ```json {"
