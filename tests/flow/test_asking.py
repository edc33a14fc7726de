"""What is asked: the log, the queue of questions, filters, remembered searches, and the road over HTTP."""

import json
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from fastapi.testclient import TestClient
from pydantic import SecretStr
from sqlalchemy import select

from pipelines.ask import ask, find, narrowed, reader, search
from pipelines.errors import Code, SluiceError
from pipelines.evaluate.evaluate import evaluate
from pipelines.evaluate.generate import Generated, generate
from pipelines.publish.rollback import rollback
from pipelines.query_log import dismiss, feedback, label, queue
from pipelines.review.quarantine import quarantine, restore
from pipelines.serve import create, warm
from pipelines.settings import ServeSettings
from sql import tables
from tests.fakes import FakeLanguageModel
from tests.flow.conftest import Kb

NOBODY = reader(None, "")


def waiting(kb: Kb, state: str = "open") -> list[dict[str, Any]]:
    with kb.app.database.read() as tx:
        return queue(tx, "main", state)


def test_what_finds_no_answer_waits_for_a_label_and_becomes_a_set(kb: Kb) -> None:
    kb.release()
    for _ in range(2):
        assert not ask(kb.app, "zebra quantum 13812345678", NOBODY)["found"]
    (row,) = waiting(kb)
    assert (row["reason"], row["times"]) == ("no_hit", 2)
    assert "13812345678" not in row["question"]
    with pytest.raises(SluiceError) as caught:
        label(kb.app, row["id"])
    assert caught.value.code is Code.BAD_SETTING
    label(kb.app, row["id"], question="When are laptops replaced?", documents=("laptop.md",), tags=("desk",))
    assert not waiting(kb)
    report = evaluate(kb.app, ["labelled"])
    assert (report["metrics"]["questions"], report["metrics"]["Success@5"]) == (1, 1)


def test_what_is_asked_before_the_first_release_waits_for_a_label_too(kb: Kb) -> None:
    assert not ask(kb.app, "When are laptops replaced?", NOBODY)["found"]
    search(kb.app, "travel expenses", NOBODY, None, 5, False)
    assert {(row["question"], row["reason"]) for row in waiting(kb)} == {
        ("When are laptops replaced?", "no_hit"),
        ("travel expenses", "no_hit"),
    }


def test_thumbs_down_queues_the_question_and_a_dismissed_one_stays_away(kb: Kb) -> None:
    kb.release()
    answered = ask(kb.app, "Are laptops replaced every four years by the desk?", NOBODY)
    assert answered["found"]
    feedback(kb.app, answered["query"], "up", "ann")
    before = len(waiting(kb))
    feedback(kb.app, answered["query"], "down", "ann", "wrong, call 13812345678")
    rows = waiting(kb)
    assert len(rows) >= max(1, before)
    dismiss(kb.app, rows[0]["id"])
    assert rows[0]["id"] not in [one["id"] for one in waiting(kb)]
    feedback(kb.app, answered["query"], "down", "bob")
    assert len(waiting(kb, "dismissed")) == 1
    with kb.app.database.read() as tx:
        assert not [one for one in tx.execute(select(tables.feedback.c.comment)).scalars() if "138" in one]
    with pytest.raises(SluiceError) as caught:
        feedback(kb.app, "nothing", "up", "ann")
    assert caught.value.code is Code.UNKNOWN_SUBJECT


def test_generated_questions_rest_on_words_of_their_passage_and_are_marked(kb: Kb) -> None:
    kb.release()
    spans = iter(["every four years", "words that nobody wrote", *["at"] * 20])
    model = FakeLanguageModel({"generate": lambda text: Generated(question=f"What of {text[:20]}?", span=next(spans))})
    app = replace(kb.app, llm=lambda: model)
    made = generate(app, 1, 3)
    rows = waiting(kb)
    assert len(rows) == made
    assert {row["reason"] for row in rows} == {"generated"}
    if rows:
        assert "generated" in label(kb.app, rows[0]["id"], spans=rows[0]["label"]["spans"]).tags
    with pytest.raises(SluiceError):
        generate(kb.app, 1, 3)


def test_a_search_is_narrowed_by_source_type_and_date(kb: Kb) -> None:
    kb.release()

    def hits(**limits: Any) -> int:
        return len(search(kb.app, "laptops office", NOBODY, None, 10, False, narrowed(**limits))["hits"])

    assert hits() and hits(sources=["notes"]) and hits(kinds=["text"])
    assert not hits(sources=["elsewhere"])
    assert not hits(kinds=["table"])
    assert not hits(dated_from=datetime(2090, 1, 1))


def test_a_search_explains_itself_and_shows_nothing_of_the_index_that_is_not_readable(kb: Kb) -> None:
    kb.release()
    trace = search(kb.app, "When are laptops replaced?", NOBODY, None, 5, True)["trace"]
    assert trace["original"] == "When are laptops replaced?"
    assert {one["route"] for one in trace["routes"]} == {"lexical", "dense"}
    assert set(trace["seconds"]) == {"understand", "recall", "fuse", "rank"}
    made = ask(kb.app, "When are laptops replaced?", NOBODY, explain=True)["trace"]
    assert made["evidence"] > 0


def test_a_remembered_search_never_outlives_a_publish_a_rollback_or_a_quarantine(kb: Kb) -> None:
    kb.release()

    def texts() -> tuple[bool, set[str]]:
        _, result = find(kb.app, "unused holidays expire", NOBODY, None, 10)
        assert result is not None
        return result.trace.cached, {hit.passage.text for hit in result.hits}

    old = texts()
    assert old[0] is False and texts() == (True, old[1])
    kb.write("leave", "Annual leave is twenty five days for everybody.", "Unused holidays never expire.")
    kb.release()
    new = texts()
    assert new[0] is False and new[1] != old[1]
    rollback(kb.app, 1, "wrong")
    assert texts() == (False, old[1])
    document = kb.document("expire at the end of March")
    quarantine(kb.app, "document", document, "wrong")
    assert not any("March" in one for one in texts()[1])
    restore(kb.app, "document", document, "right")
    assert texts()[1] == old[1]


def test_a_misspelt_word_is_read_as_the_one_that_the_candidates_hold(kb: Kb) -> None:
    kb.release()
    trace = search(kb.app, "vegetarien dishes", NOBODY, None, 5, True)["trace"]
    assert ("vegetarian dishes", "spelling") in [(one["text"], one["origin"]) for one in trace["queries"]]


@pytest.fixture
def client(kb: Kb) -> TestClient:
    kb.release()
    settings = kb.app.settings.model_copy(update={"serve": ServeSettings(token=SecretStr("t0ken"))})
    return TestClient(create(replace(kb.app, settings=settings)))


def test_http_searches_and_answers_as_the_command_line_does(client: TestClient, kb: Kb) -> None:
    found = client.post("/v1/search", json={"text": "laptops replaced", "top": 3}).json()
    assert found["schema"] == "sluice.search/1" and found["hits"]
    answer = client.post("/v1/ask", json={"text": "Are laptops replaced every four years by the desk?"}).json()
    assert answer["found"] and answer["citations"]
    said = client.post("/v1/feedback", json={"query": answer["query"], "verdict": "up"})
    assert said.status_code == 200
    assert client.get("/v1/health").json() == {"status": "ok", "kb": "main", "release": 1}
    assert client.post("/v1/search", json={"text": "laptops", "dated_from": "2090-01-01"}).json()["hits"] == []


def test_http_trusts_an_identity_only_with_the_token(client: TestClient, kb: Kb) -> None:
    body = {"text": "laptops"}
    for headers in ({"X-Sluice-User": "ann"}, {"Authorization": "Bearer wrong"}, {"X-Sluice-Groups": "staff"}):
        refused = client.post("/v1/search", json=body, headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (401, "http.unauthorised")
    trusted = {"X-Sluice-User": "ann", "Authorization": "Bearer t0ken"}
    query = client.post("/v1/search", json=body, headers=trusted).json()["query"]
    with kb.app.database.read() as tx:
        assert tx.execute(select(tables.query_log.c.user).where(tables.query_log.c.id == query)).scalar() == "ann"


def test_a_server_that_has_warmed_up_remembers_nothing_and_logs_nothing(kb: Kb) -> None:
    warm(kb.app)  # before the first release there is nothing to load
    kb.release()
    warm(kb.app)
    with kb.app.database.read() as tx:
        assert not tx.execute(select(tables.query_log.c.id)).all()


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/v1/search", {"text": ""}, 422, "http.bad_request"),
        ("/v1/search", {"text": "a", "who": "me"}, 422, "http.bad_request"),
        ("/v1/ask", {"text": "a", "as_of": 99}, 404, "release.unknown"),
        ("/v1/feedback", {"query": "x", "verdict": "up"}, 404, "subject.unknown"),
        ("/v1/ask", {"text": " \n"}, 422, "http.bad_request"),
        ("/v1/ask", {"text": "a", "history": ["x" * 4001]}, 422, "http.bad_request"),
        ("/v1/search", {"text": "a", "dated_from": "yesterday"}, 422, "http.bad_request"),
        ("/v1/elsewhere", {}, 404, "http.bad_request"),
        ("/v1/health", {}, 405, "http.bad_request"),
    ],
)
def test_http_errors_carry_their_code(client: TestClient, path, body, status, code) -> None:
    answer = client.post(path, content=json.dumps(body), headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (status, code)
