"""Every use of the language model against a server on loopback: what it adds when it answers, and what is left when it
does not. The kinds of faults are those of weak servers."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select

from pipelines.adapters.language_model import OpenAILanguageModel
from pipelines.app import App
from pipelines.ask import ask, reader, search
from pipelines.backfill import Selection
from pipelines.derived import StoredReplies
from pipelines.errors import Transient
from pipelines.evaluate.evaluate import evaluate
from pipelines.evaluate.generate import generate
from pipelines.retrieve.settings import RetrieveSettings
from pipelines.settings import LlmSettings
from sql import tables
from tests.fakes_rules import RuleServer
from tests.flow.conftest import Kb, five_documents

NOBODY = reader(None, "")
QUESTION = "When are laptops replaced and when does the office open?"
MENDED = ("fenced", "thinking")
FAULTS = ("429", "500", "truncated", "wrong types", "prose", "no choices", "hang")
DOWN = ("429", "500", "hang")
SET = '{"question": "Are laptops replaced every four years by the desk?", "spans": ["every four years"]}\n'


@pytest.fixture
def server() -> Iterator[RuleServer]:
    with RuleServer() as made:
        yield made


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kb]:
    """One release that the tests only read."""
    with five_documents(tmp_path_factory.mktemp("kb")) as made:
        made.release()
        (made.home.parent / "set.jsonl").write_text(SET, encoding="utf-8")
        yield made


def asking(kb: Kb, server: RuleServer) -> App:
    """Asks this server, and remembers nothing of what was asked before."""
    with kb.app.database.write() as tx:
        tx.execute(tables.llm_cache.delete())
    waits = {"understand": 0.3, "answer": 0.3}
    settings = LlmSettings(base_url=server.url, model="rules", timeout_seconds=0.3, task_seconds=waits)
    model = OpenAILanguageModel(settings, StoredReplies(kb.app.database))
    every = RetrieveSettings(hyde=True, routing="model")
    return replace(kb.app, llm=lambda: model, settings=kb.app.settings.model_copy(update={"retrieve": every}))


@pytest.fixture
def app(published: Kb, server: RuleServer) -> Iterator[App]:
    made = asking(published, server)
    yield made
    made.llm().close()


def origins(found: dict[str, Any]) -> list[str]:
    return [one["origin"] for one in found["trace"]["queries"]]


@pytest.mark.parametrize("fault", ["", *MENDED])
def test_a_search_is_also_asked_in_the_wordings_of_the_model_and_once_only(app, server, fault) -> None:
    server.fault = fault
    found = search(app, QUESTION, NOBODY, None, 5, True)
    assert {"original", "hypothetical", "sub-question"} <= set(origins(found)) and not found["trace"]["failed"]
    follow = search(app, "who pays for it?", NOBODY, None, 5, True, history=["What about travel expenses?"])
    assert {"original", "history"} <= set(origins(follow))
    before = len(server.requests)
    again = search(app, QUESTION, NOBODY, None, 5, True)
    assert len(server.requests) == before and again["hits"] == found["hits"]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_search_goes_on_without_a_model_that_fails_and_says_so(app, server, fault) -> None:
    plain = search(replace(app, llm=lambda: None), QUESTION, NOBODY, None, 5, True)
    server.fault = fault
    found = search(app, QUESTION, NOBODY, None, 5, True)
    assert found["hits"] == plain["hits"]
    assert [one.split(": ")[:2] for one in found["trace"]["failed"]] == [["understand", code_of(fault)]]
    server.fault = ""
    app.llm()._away_until = 0.0
    assert not search(app, QUESTION, NOBODY, None, 5, True)["trace"]["failed"]


@pytest.mark.parametrize("fault", FAULTS)
def test_an_answer_is_taken_from_the_passages_where_no_model_writes_it(app, server, fault) -> None:
    text = "Are laptops replaced every four years by the desk?"
    written = ask(app, text, NOBODY, explain=True)
    assert written["found"] and written["trace"]["prompt"] and not written["trace"]["reason"]
    with app.database.write() as tx:
        tx.execute(tables.llm_cache.delete())
    server.fault = fault
    taken = ask(app, text, NOBODY, explain=True)
    assert taken["found"] and taken["citations"] and "four years" in taken["answer"]
    assert taken["trace"]["reason"].startswith(f"answer: {code_of(fault)}")


def code_of(fault: str) -> str:
    return "model.down" if fault in DOWN else "llm.failed"


@pytest.mark.parametrize("fault", ["", *MENDED, *FAULTS])
def test_a_judge_that_fails_leaves_the_question_unjudged_and_the_figures_whole(app, server, fault) -> None:
    server.fault = fault
    report = evaluate(app, ["set.jsonl"], written=True)
    assert report["metrics"]["Success@5"] == 1
    assert report["judged"] == (0 if fault in FAULTS else 1)
    if not report["judged"]:
        assert "faithfulness" not in report["metrics"]
        return
    assert report["metrics"]["faithfulness"] == report["metrics"]["citation_accuracy"] == 1


@pytest.mark.parametrize("fault", ["", *FAULTS])
def test_generated_questions_come_from_the_model_or_not_at_all(app, server, fault) -> None:
    server.fault = fault
    if fault in DOWN:
        with pytest.raises(Transient):
            generate(app, 1, 3)
    else:
        assert generate(app, 1, 3) == (0 if fault else 3)
    server.fault = ""
    app.llm()._away_until = 0.0
    assert generate(app, 1, 3) == 3


@pytest.mark.parametrize("fault", ["", "fenced", "truncated", "wrong types", *DOWN])
def test_extraction_is_by_rule_or_tried_again_and_never_invents(kb: Kb, server, fault) -> None:
    for topic in ("leave", "office", "laptop", "canteen"):
        (kb.docs / f"{topic}.md").unlink()
    kb.write("travel", "Travel expenses over 900 euros are approved by Anna Petrov alone.")
    server.fault = fault
    ours = Kb(kb.home, kb.docs, kb.index, kb.embedder, asking(kb, server))
    if fault in DOWN:
        with pytest.raises(Transient):
            ours.sync()
        server.fault = ""
        ours = Kb(kb.home, kb.docs, kb.index, kb.embedder, asking(kb, server))
    assert ours.sync().built.number == 1
    with kb.app.database.read() as tx:
        methods = dict(tx.execute(select(tables.entity.c.text, tables.entity.c.method)).all())
    assert "Nobody Wrote This" not in methods
    assert ("rules" in methods.values()) == (fault not in ("truncated", "wrong types"))
    before = len(server.requests)
    ours.sync(again=Selection(layer="extract", token="again"))
    assert len(server.requests) == before or fault in ("truncated", "wrong types")
    ours.app.llm().close()
