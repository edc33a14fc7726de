"""The labelling queue: what readers were not answered becomes an evaluation set, by a person's label."""

import json

import pytest
from starlette.testclient import TestClient

from pipelines import query_log
from pipelines.ask import reader, search
from tests.fakes_host import FakeHost
from tests.ui.conftest import Browser, Kb


@pytest.fixture
def queued(kb: Kb) -> str:
    """Id of a question whose answer a reader called wrong."""
    asked = search(kb.app, "how long do laptops last", reader("viewer", ""), None, 5, False)
    query_log.feedback(kb.app, asked["query"], "down", "viewer")
    with kb.app.database.read() as tx:
        (row,) = query_log.queue(tx, kb.app.kb)
    return str(row["id"])


def test_a_question_is_labelled_by_its_sentence_and_joins_the_evaluation_set(
    client: TestClient, kb: Kb, queued: str
) -> None:
    admin, path = Browser(client, "admin"), f"/questions/{queued}"
    assert "called wrong" in admin.get("/questions")
    words = "Laptops are replaced every three years by the desk."
    assert f'value="{words}"' in admin.get(path)
    answer = admin.post(path, {"act": "label", "span": words, "pinned": "1"}, path)
    assert answer.headers["location"] == "/questions?done=labelled"
    made = json.loads(admin.get("/questions/labelled.jsonl"))
    assert (made["question"], made["spans"], made["pinned"]) == ("how long do laptops last", [words], True)
    assert made["documents"] == ["laptop.md"]
    assert words in admin.get("/questions?state=labelled")
    assert "question" in admin.get("/audit?action=question.labelled")


@pytest.mark.parametrize("data", [{}, {"span": "words that stand nowhere"}, {"words": "Wages are paid by magic."}])
def test_a_label_that_no_passage_holds_is_refused(
    client: TestClient, kb: Kb, queued: str, data: dict[str, str]
) -> None:
    path = f"/questions/{queued}"
    Browser(client, "admin").post(path, {"act": "label", **data}, path, status=422)
    with kb.app.database.read() as tx:
        assert query_log.labelled(tx, kb.app.kb) == ()


@pytest.mark.parametrize(("act", "state"), [("none", "labelled"), ("dismiss", "dismissed")])
def test_a_question_may_have_no_answer_or_no_worth(
    client: TestClient, kb: Kb, queued: str, act: str, state: str
) -> None:
    path = f"/questions/{queued}"
    Browser(client, "admin").post(path, {"act": act}, path)
    with kb.app.database.read() as tx:
        (row,) = query_log.queue(tx, kb.app.kb, state)
        made = query_log.labelled(tx, kb.app.kb)
    assert row["actor"] == "admin"
    assert [one.unanswerable for one in made] == [True] * (state == "labelled")


def test_the_labelled_set_is_asked_by_its_dag(client: TestClient, queued: str, host: FakeHost) -> None:
    admin = Browser(client, "admin")
    admin.post(f"/questions/{queued}", {"act": "none"}, f"/questions/{queued}")
    admin.post("/questions/evaluate", {}, "/questions?state=labelled")
    assert host.started == [("kb_evaluate", {"set": "labelled"})]


@pytest.mark.parametrize("user", ["viewer", "reviewer"])
def test_what_others_asked_is_for_admins(client: TestClient, queued: str, user: str) -> None:
    for path in ("/questions", f"/questions/{queued}", "/questions/labelled.jsonl"):
        Browser(client, user).get(path, status=403)
