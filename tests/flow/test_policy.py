"""What the review policies let through, whom they ask, and what they say when nobody answers."""

from dataclasses import replace

import pytest
from sqlalchemy import select

from pipelines import airflow_tasks, flow
from pipelines.ask import reader, search
from pipelines.errors import Conflict
from pipelines.publish.publish import publish
from pipelines.review import policy
from pipelines.review.decide import approve, approve_by_policy, approve_part, hold
from pipelines.review.edit import edit
from sql import tables
from tests.flow.conftest import TOPICS, Kb

POLICIES = """
knowledge_base: main
sources:
  - {name: free, location: docs/free, review: {approver: auto, hold_on: [pii]}}
  - {name: own, location: docs/own, scope: "user:ann", review: {approver: admin}}
  - name: hand
    location: docs/hand
    owner: hans
    review: {approver: owner, deadline_hours: 5, on_timeout: decline, escalate_to: [boss]}
  - {name: law, location: docs/law, review: {approver: admin, reviewers: [lea, leo], four_eyes: true, approvers: 2}}
"""


@pytest.fixture
def four(kb: Kb) -> Kb:
    """One document in each of four sources."""
    for file in kb.docs.iterdir():
        file.unlink()
    (kb.docs.parent / "sources.yaml").write_text(POLICIES, encoding="utf-8")
    kb.app.sources.cache_clear()
    for name, topic in zip(("free", "own", "hand", "law"), TOPICS, strict=False):
        (kb.docs / name).mkdir()
        kb.write(f"{name}/{topic}", *TOPICS[topic])
    return kb


def sources(kb: Kb, number: int) -> dict[str, str]:
    """Decision by source."""
    item, d = tables.release_item, tables.document
    with kb.app.database.read() as tx:
        query = select(d.c.source, item.c.decision).join(item, item.c.document == d.c.id)
        return dict(tx.execute(query.where(item.c.release == number)).all())


def state(kb: Kb, number: int) -> str:
    with kb.app.database.read() as tx:
        return str(tx.execute(select(tables.release.c.state).where(tables.release.c.number == number)).scalar_one())


def acting(kb: Kb, actor: str):
    return replace(kb.app, actor=actor)


def test_what_needs_no_person_does_not_wait_for_what_does(four: Kb) -> None:
    number = int(four.sync().built.number or 0)
    approved, rest = approve_by_policy(acting(four, policy.POLICY), number)
    assert approved and rest == number + 1
    assert sources(four, number) == {"free": "approved", "own": "approved"}
    assert sources(four, rest) == {"hand": "pending", "law": "pending"}
    publish(four.app, number)
    assert four.sync().built.number == rest
    asked = policy.question(four.app, rest, escalated=False)
    assert (asked.users, asked.hours, asked.escalates) == (("hans", "lea", "leo"), 5, True)
    assert policy.question(four.app, rest, escalated=True).users == ("boss", "lea", "leo")


def test_a_personal_document_is_seen_by_its_user_only(four: Kb) -> None:
    number = int(four.sync().built.number or 0)
    approve_by_policy(acting(four, policy.POLICY), number)
    publish(four.app, number)
    found = {who: search(four.app, "holidays", reader(who, ""), None, 9, False)["hits"] for who in ("ann", "bob")}
    own = TOPICS[list(TOPICS)[1]][0]
    assert any(own in hit["text"] for hit in found["ann"]) and not any(own in hit["text"] for hit in found["bob"])


def test_two_people_approve_and_neither_is_the_maker(four: Kb) -> None:
    number = int(four.sync().built.number or 0)
    with pytest.raises(Conflict, match="tester"):
        approve(four.app, number, "my own")
    assert approve(acting(four, "lea"), number, "fine") is False
    assert approve(acting(four, "lea"), number, "still fine") is False
    assert policy.question(four.app, number, escalated=False).users == ("admin", "hans", "leo")
    assert approve(acting(four, "leo"), number, "fine") is True
    assert state(four, number) == "approved"


def test_who_edited_a_chunk_does_not_approve_it(four: Kb) -> None:
    number = int(four.sync().built.number or 0)
    vc, v, d = tables.version_chunk, tables.version, tables.document
    with four.app.database.read() as tx:
        home = select(vc.c.chunk).join(v, v.c.id == vc.c.version).join(d, d.c.id == v.c.document)
        chunk = tx.execute(home.where(d.c.source == "law").limit(1)).scalar_one()
    edit(acting(four, "lea"), chunk, "Flights are for distances above six hundred kilometres.", "as agreed")
    number = int(flow.take_up(four.app).number or 0)
    with pytest.raises(Conflict, match="lea"):
        approve(acting(four, "lea"), number, "my own words")


def test_part_of_a_release_is_approved_by_its_owner_and_the_rest_is_asked_on(four: Kb) -> None:
    number = int(four.sync().built.number or 0)
    with four.app.database.read() as tx:
        items = policy.undecided(tx, four.app.kb, number)
    mine = [one.document for one in items if "hans" in policy.reviewers(one.source)]
    assert approve_part(acting(four, "hans"), number, mine, "mine") == (True, number + 1)
    assert (state(four, number), state(four, number + 1)) == ("approved", "in_review")
    assert set(sources(four, number)) == {"hand"}


def test_four_eyes_and_two_people_count_for_the_sources_that_ask_for_them(four: Kb) -> None:
    """The maker of the release decides on what another source holds; one person is not two, in a part as in all."""
    number = int(four.sync().built.number or 0)
    with four.app.database.read() as tx:
        items = policy.undecided(tx, four.app.kb, number)
    law = [one.document for one in items if one.source.name == "law"]
    hand = [one.document for one in items if one.source.name == "hand"]
    assert approve_part(acting(four, "lea"), number, law, "mine") == (False, None)
    assert state(four, number) == "in_review"
    with pytest.raises(Conflict, match="tester"):
        approve_part(four.app, number, law, "my own")
    assert approve_part(four.app, number, hand, "not of the law") == (True, number + 1)


def test_no_answer_escalates_first_and_then_each_policy_counts(four: Kb, monkeypatch) -> None:
    number = int(four.sync().built.number or 0)
    monkeypatch.setattr(airflow_tasks, "_wired", lambda actor: acting(four, actor))
    nobody = {"chosen_options": ["Hold"], "responded_by_user": None, "params_input": {}}
    assert airflow_tasks.decide(number, nobody)["next"]["conf"] == {"release": number, "escalated": True}
    assert sources(four, number)["hand"] == "pending"
    assert airflow_tasks.decide(number, nobody, escalated=True)["next"] is None
    assert sources(four, number) == {"free": "pending", "own": "pending", "hand": "declined", "law": "pending"}
    assert state(four, number) == "in_review"


def test_what_a_person_held_is_asked_about_again_whatever_the_policy_says(four: Kb) -> None:
    first = int(four.sync().built.number or 0)
    with four.app.database.read() as tx:
        free = next(x.document for x in policy.undecided(tx, four.app.kb, first) if x.source.name == "free")
    hold(four.app, first, [free], "look again")
    four.write("free/travel", "Travel expenses are paid within sixty days.")
    second = int(four.sync().built.number or 0)
    _, rest = approve_by_policy(acting(four, policy.POLICY), second)
    assert sources(four, int(rest or 0))["free"] == "pending"
