"""The gate: a release that answers worse stays away from readers, a harmless one goes live."""

import json

import pytest
from sqlalchemy import select

from pipelines.errors import Code, SluiceError
from pipelines.evaluate.evaluate import evaluate
from pipelines.publish.gate import overrule
from pipelines.publish.publish import publish
from pipelines.publish.rows import live_release
from pipelines.report import views
from pipelines.review.decide import approve, decline
from sql import tables
from tests.flow.conftest import SOURCES, TOPICS, Kb, open_kb

SET = [
    {"question": "How often are laptops replaced?", "spans": ["replaced every four years"], "tags": ["desk"]},
    {"question": "When do unused holidays expire?", "spans": ["expire at the end of March"], "tags": ["hr"]},
    {"question": "When are travel expenses paid?", "documents": ["travel.md"], "tags": ["hr"], "pinned": True},
    {"question": "What is served on every weekday?", "spans": ["Vegetarian dishes"]},
    {"question": "quantum chromodynamics lattice", "unanswerable": True},
]


@pytest.fixture
def gated(kb: Kb) -> Kb:
    """The five documents, published, with an evaluation set in sources.yaml."""
    folder = kb.docs.parent
    (folder / "set.jsonl").write_text("\n".join(map(json.dumps, SET)), encoding="utf-8")
    (folder / "sources.yaml").write_text(f"{SOURCES}\nevaluation: {{sets: [set.jsonl]}}\n", encoding="utf-8")
    found = open_kb(kb.home, kb.docs, kb.index, kb.embedder)
    found.release()
    return found


def state(kb: Kb, number: int) -> str:
    with kb.app.database.read() as tx:
        return str(tx.execute(select(tables.release.c.state).where(tables.release.c.number == number)).scalar_one())


def spoil(kb: Kb) -> int:
    """A release in which one document is replaced by a worse one: approved, not published."""
    kb.write("leave", "Annual leave is granted to everybody who asks.", "Holidays are a fine thing to have.")
    number = int(kb.sync().built.number or 0)
    approve(kb.app, number, "looks right")
    return number


def test_a_worse_release_is_stopped_by_name_and_readers_stay_where_they_are(gated: Kb) -> None:
    before = gated.texts()
    number = spoil(gated)
    for _ in range(2):  # the same gate twice, the same verdict
        with pytest.raises(SluiceError) as caught:
            publish(gated.app, number)
        assert caught.value.code is Code.GATE_FAILED
        assert "When do unused holidays expire?" in caught.value.reason
        assert "rank 1 to not found" in caught.value.reason
        assert state(gated, number) == "failed"
        assert gated.texts() == before
        with gated.app.database.read() as tx:
            assert live_release(tx, "main") == 1
            shown = views.release(tx, "main", number)["gate"]
        assert [(one["question"], one["gone"]) for one in shown["worse"]] == [(SET[1]["question"], True)]
        approve(gated.app, number, "try again")
    decline(gated.app, number, "the edit was wrong")
    assert state(gated, number) == "declined"


def test_a_harmless_release_goes_live_with_its_figures(gated: Kb) -> None:
    gated.write("sports", "The swimming pool is free for members of staff.")
    published = gated.release()
    assert published is not None
    gate = published.gate
    assert (gate["verdict"], gate["against"], gate["worse"]) == ("pass", 1, [])
    assert gate["metrics"]["Success@10"] == gate["baseline"]["Success@10"] == 1.0
    assert gate["interval"]["low"] <= gate["interval"]["mean"] <= gate["interval"]["high"]


def test_a_person_may_overrule_the_gate_with_a_reason(gated: Kb) -> None:
    number = spoil(gated)
    with pytest.raises(SluiceError):
        publish(gated.app, number)
    overrule(gated.app, number, "the old rule is void")
    published = publish(gated.app, number)
    assert published.live_release == number
    assert published.gate["overruled"] is True


def test_a_document_that_crowds_the_evidence_out_is_named(gated: Kb) -> None:
    words = "When are travel expenses paid, and travel expenses, and when are travel expenses paid?"
    for number in range(12):
        gated.write(f"spam{number}", f"{words} Number {number}.", "Nothing else.")
    number = int(gated.sync().built.number or 0)
    approve(gated.app, number, "looks right")
    with pytest.raises(SluiceError) as caught:
        publish(gated.app, number)
    assert "pinned question lost: When are travel expenses paid?" in caught.value.reason
    assert "displaced by chunk" in caught.value.reason


def test_an_evaluation_compares_releases_and_settings_and_tells_by_tag(gated: Kb) -> None:
    gated.write("sports", "The swimming pool is free for members of staff.")
    gated.release()
    sets = [str(gated.docs.parent / "set.jsonl")]
    report = evaluate(gated.app, sets, 2, 1)
    assert (report["release"], report["against"], set(report["tags"])) == (2, 1, {"desk", "hr"})
    assert report["gate"]["verdict"] == "pass"
    assert report["metrics"]["false_answers"] == 0
    assert evaluate(gated.app, sets, changes=["fusion=rrf"])["against"] == 2
    assert evaluate(gated.app, sets)["interval"] is None


def test_what_an_evaluation_reads_is_the_release_and_not_the_state_of_today(gated: Kb) -> None:
    sets = [str(gated.docs.parent / "set.jsonl")]
    before = evaluate(gated.app, sets, 1)
    gated.write("canteen", *[text.replace("Vegetarian", "Various") for text in TOPICS["canteen"]])
    number = int(gated.sync().built.number or 0)
    approve(gated.app, number, "looks right")
    with pytest.raises(SluiceError):
        publish(gated.app, number)
    after = evaluate(gated.app, sets, 1)
    assert {**before, "seconds": 0} == {**after, "seconds": 0}


def test_a_wrong_line_of_a_set_is_named(gated: Kb) -> None:
    path = gated.docs.parent / "set.jsonl"
    path.write_text('{"question": "a"}\n{"question": ""}\n', encoding="utf-8")
    with pytest.raises(SluiceError) as caught:
        evaluate(gated.app, [str(path)])
    assert "line 2: question" in caught.value.reason
