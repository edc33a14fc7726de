"""Documents that contradict each other: found while a release is built, decided by people, respected by search."""

from dataclasses import replace
from typing import Any

import pytest

from pipelines.conflict.decide import decide, rulings
from pipelines.conflict.judge import Judgement
from pipelines.conflict.views import conflict, conflicts
from pipelines.errors import Code, Conflict
from pipelines.library import Reader
from pipelines.lifecycle import verify_audit
from pipelines.publish.rows import live_release
from pipelines.report import views
from pipelines.review.preview import preview
from tests.fakes import FakeLanguageModel
from tests.flow.conftest import Kb

RULE = (
    "# {title}\n\n## Hotel limit\n\nFor a business trip inside the country the hotel limit is {limit} euros a night.\n"
)
NEAR = "# Wellness\n\n## Hotel limit\n\nThe spa of the hotel opens at nine and closes before midnight on most days.\n"


def put(kb: Kb, name: str, text: str) -> None:
    (kb.docs / f"{name}.md").write_text(text, encoding="utf-8")


def listed(kb: Kb, strategy: str | None = None) -> list[dict[str, Any]]:
    with kb.app.database.read() as tx:
        found: list[dict[str, Any]] = conflicts(tx, kb.app.kb, strategy)["conflicts"]
    return found


def items(kb: Kb, number: int | None) -> dict[str, list[str]]:
    with kb.app.database.read() as tx:
        return {one["title"]: one["risk"] for one in views.release(tx, kb.app.kb, int(number or 0))["items"]}


@pytest.fixture
def two(kb: Kb) -> Kb:
    """Two live documents with another limit each, and one on another thing under the same heading."""
    put(kb, "rules", RULE.format(title="Travel rules", limit=120))
    put(kb, "guide", RULE.format(title="Guide for travellers", limit=150))
    put(kb, "spa", NEAR)
    kb.release()
    return kb


def test_two_documents_with_another_number_in_one_slot_are_a_conflict_with_both_values(two: Kb) -> None:
    (found,) = listed(two)
    assert {found["a"]["title"], found["b"]["title"]} == {"Travel rules", "Guide for travellers"}
    (place,) = found["differences"]
    assert place["kind"] == "number"
    assert {place["a_text"], place["b_text"]} == {"120", "150"}


def test_a_conflict_is_a_risk_of_the_release_before_anybody_approves_it(kb: Kb) -> None:
    put(kb, "rules", RULE.format(title="Travel rules", limit=120))
    kb.release()
    put(kb, "guide", RULE.format(title="Guide for travellers", limit=150))
    risk = items(kb, kb.sync().built.number)
    assert "conflict" in risk["Guide for travellers"]


def test_a_newer_version_of_the_same_document_supersedes_and_does_not_conflict(kb: Kb) -> None:
    put(kb, "rules", RULE.format(title="Travel rules", limit=120))
    kb.release()
    put(kb, "rules", RULE.format(title="Travel rules", limit=150))
    kb.release()
    assert listed(kb) == []


def test_a_conflict_is_over_when_one_side_comes_round(two: Kb) -> None:
    put(two, "guide", RULE.format(title="Guide for travellers", limit=120))
    two.release()
    assert listed(two) == []


def test_the_decision_is_audited_and_survives_the_next_sync(two: Kb) -> None:
    (found,) = listed(two)
    decide(two.app, found["conflict"][:8], "newest", "the guide replaced the rules")
    put(two, "spa", NEAR.replace("nine", "ten"))
    two.release()
    (again,) = listed(two, "newest")
    assert again["winner"] in (found["a"]["chunk"], found["b"]["chunk"])
    assert again["actor"] == "tester"
    with two.app.database.read() as tx:
        entry = next(
            one for one in views.audit(tx, two.app.kb, False)["entries"] if one["action"] == "conflict.decided"
        )
        assert verify_audit(tx)[1] is None
    assert entry["reason"] == "the guide replaced the rules"


def ruled(kb: Kb, chunks: list[str], acl: tuple[int, ...] | None = None) -> list[tuple[str, str]]:
    with kb.app.database.read() as tx:
        found = rulings(tx, kb.app.kb, live_release(tx, kb.app.kb), chunks, acl)
    return [(one.chunk, one.action) for one in found]


def test_search_is_told_to_note_an_open_conflict_and_to_drop_the_loser_of_a_decided_one(two: Kb) -> None:
    (found,) = listed(two)
    chunks = [found["a"]["chunk"], found["b"]["chunk"]]
    assert sorted(ruled(two, chunks)) == sorted((one, "note") for one in chunks)
    winner = decide(two.app, found["conflict"], "newest", "newer")["winner"]
    (loser,) = set(chunks) - {winner}
    assert ruled(two, chunks) == [(loser, "drop")]
    assert ruled(two, [loser]) == [(loser, "drop")]


def test_the_loser_stays_where_this_reader_may_not_see_the_winner(two: Kb) -> None:
    (found,) = listed(two)
    winner = decide(two.app, found["conflict"], "newest", "newer")["winner"]
    (loser,) = {found["a"]["chunk"], found["b"]["chunk"]} - {winner}
    assert ruled(two, [loser], acl=()) == []


def test_both_valid_needs_a_note_and_tells_it_to_readers(two: Kb) -> None:
    (found,) = listed(two)
    with pytest.raises(Conflict) as refused:
        decide(two.app, found["conflict"], "both", "both hold")
    assert refused.value.code == Code.CONFLICT_UNDECIDABLE
    decide(two.app, found["conflict"], "both", "both hold", note="120 for staff, 150 for guests")
    with two.app.database.read() as tx:
        told = rulings(tx, two.app.kb, live_release(tx, two.app.kb), [found["a"]["chunk"]])
    assert [one.note for one in told] == ["120 for staff, 150 for guests"]


def test_a_strategy_that_names_no_winner_is_refused(two: Kb) -> None:
    (found,) = listed(two)
    with pytest.raises(Conflict) as refused:
        decide(two.app, found["conflict"], "authority", "same source")
    assert refused.value.code == Code.CONFLICT_UNDECIDABLE


def test_both_texts_can_be_read_side_by_side(two: Kb) -> None:
    (found,) = listed(two)
    shown = conflict(two.app, found["conflict"])
    assert {"120" in shown["text_a"], "120" in shown["text_b"]} == {True, False}


def test_a_language_model_may_overrule_the_rule_and_its_silence_leaves_it_to_the_rule(kb: Kb) -> None:
    llm = FakeLanguageModel({"conflict": lambda _: Judgement(verdict="different", reason="two countries")})
    app = replace(kb.app, llm=lambda: llm)
    put(kb, "rules", RULE.format(title="Travel rules", limit=120))
    put(kb, "guide", RULE.format(title="Guide for travellers", limit=150))
    replace(kb, app=app).release()
    assert [task for task, _ in llm.asked].count("conflict") == 1
    assert listed(kb) == []
    put(kb, "card", RULE.format(title="Card", limit=170))
    replace(kb, app=replace(kb.app, llm=lambda: FakeLanguageModel({}))).release()
    assert {one["method"] for one in listed(kb)} == {"rule"}


def test_numbered_things_and_fillings_of_one_template_are_no_conflicts(kb: Kb) -> None:
    yard = (
        "# {title}\n\n## Gate\n\nThe gate of yard {n} opens at six and lets {lorries} lorries through each morning.\n"
    )
    for n in range(3):
        put(kb, f"yard{n}", yard.format(title=f"Yard {n}", n=n, lorries=10 + n))
    for n, name in enumerate(("Ash", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Gorse", "Hazel")):
        put(kb, name, yard.format(title=name, n=90, lorries=300 + n).replace("opens at six", "closes after seven"))
    kb.release()
    assert listed(kb) == []
    put(kb, "Ivy", yard.format(title="Ivy", n=90, lorries=321).replace("opens at six", "closes after seven"))
    kb.release()
    assert listed(kb) == []


def test_a_preview_drops_the_loser_among_passages_that_only_its_release_shows(kb: Kb) -> None:
    put(kb, "spa", NEAR)
    kb.release()
    put(kb, "rules", RULE.format(title="Travel rules", limit=120))
    put(kb, "guide", RULE.format(title="Guide for travellers", limit=150))
    number = int(kb.sync().built.number or 0)
    winner = decide(kb.app, listed(kb)[0]["conflict"], "newest", "newer")["winner"]
    result = preview(kb.app, number, "hotel limit for a business trip", Reader())
    assert result is not None
    assert [hit.passage.chunk for hit in result.hits if "euros" in hit.passage.text] == [winner]
