"""Deciding on the page and in Airflow is the same decision, and the database is the one that holds it."""

from sqlalchemy import select
from starlette.testclient import TestClient

from pipelines.publish.publish import publish
from sql import tables
from tests.fakes_host import FakeHost
from tests.ui.conftest import Browser, Kb, document

PAGE = "/releases/3/review"


def _state(kb: Kb, number: int = 3) -> str:
    with kb.app.database.read() as tx:
        return str(tx.execute(select(tables.release.c.state).where(tables.release.c.number == number)).scalar_one())


def _decide(browser: Browser, **data: object) -> str:
    answer = browser.post("/releases/3/decide", {"reason": "looked at it", **data}, PAGE)
    return str(answer.headers["location"])


def test_approving_answers_airflows_question(client: TestClient, kb: Kb, host: FakeHost) -> None:
    host.asking.add(3)
    assert "done=publishing" in _decide(Browser(client, "admin"), verdict="approve_release")
    assert (_state(kb), host.answers, host.started) == ("approved", [(3, "Approve", "looked at it")], [])


def test_approving_starts_the_publishing_run_where_none_waits(client: TestClient, kb: Kb, host: FakeHost) -> None:
    _decide(Browser(client, "admin"), verdict="approve_release")
    assert (_state(kb), host.started) == ("approved", [("kb_release", {"release": 3})])


def test_declining_answers_too_and_nothing_is_published(client: TestClient, kb: Kb, host: FakeHost) -> None:
    host.asking.add(3)
    _decide(Browser(client, "admin"), verdict="decline_release")
    assert (_state(kb), host.answers) == ("declined", [(3, "Decline", "looked at it")])


def test_a_held_document_stays_out_and_the_rest_is_published(client: TestClient, kb: Kb) -> None:
    admin = Browser(client, "admin")
    _decide(admin, verdict="hold", document=document(kb, "leave"))
    _decide(admin, verdict="approve_release")
    publish(kb.app, 3)
    assert kb.shows("twenty five days") and not kb.shows("thirty days")


def test_a_rejected_document_is_in_quarantine_with_the_reason(client: TestClient, kb: Kb) -> None:
    admin, leave = Browser(client, "admin"), document(kb, "leave")
    _decide(admin, verdict="reject", document=leave)
    page = admin.get("/quarantine")
    assert "review.declined" in page and "looked at it" in page
    assert _state(kb) == "in_review"


def test_a_rejected_removal_keeps_the_document(client: TestClient, kb: Kb) -> None:
    admin = Browser(client, "admin")
    _decide(admin, verdict="reject", document=document(kb, "canteen"))
    _decide(admin, verdict="approve_release")
    publish(kb.app, 3)
    assert kb.shows("Vegetarian dishes")


def test_the_last_document_approved_approves_the_release(client: TestClient, kb: Kb) -> None:
    admin = Browser(client, "admin")
    with kb.app.database.read() as tx:
        items = tx.execute(select(tables.release_item.c.document).where(tables.release_item.c.release == 3)).scalars()
        documents = list(items)
    for one in documents:
        assert _state(kb) == "in_review"
        _decide(admin, verdict="approve", document=one, one=1)
    assert _state(kb) == "approved"


def test_all_of_low_risk_is_approved_by_one_click_and_nothing_else(client: TestClient, kb: Kb) -> None:
    admin = Browser(client, "admin")
    assert "Approve all of low risk (2)" in admin.get(f"{PAGE}?group=low")
    _decide(admin, verdict="approve_low")
    items = tables.release_item
    with kb.app.database.read() as tx:
        rows = tx.execute(
            select(items.c.document).where(items.c.release == 3, items.c.decision == "approved")
        ).scalars()
        assert set(rows) == {document(kb, "leave"), document(kb, "bonus")}


def test_a_decision_without_a_reason_is_refused(client: TestClient, kb: Kb) -> None:
    admin = Browser(client, "admin")
    answer = admin.raw("POST", "/releases/3/decide", {"csrf": admin.token(PAGE), "verdict": "approve_release"})
    assert (answer.status_code, _state(kb)) == (422, "in_review")


def test_acts_on_a_document_run_their_dag_with_the_reason(client: TestClient, kb: Kb, host: FakeHost) -> None:
    admin, leave = Browser(client, "admin"), document(kb, "leave")
    path = f"/documents/{leave}/quarantine/document/{leave}"
    admin.post(path, {"reason": "wrong figure"}, path)
    admin.post("/releases/1/rollback", {"reason": "start over"}, "/releases/1/rollback")
    assert host.started == [
        ("kb_quarantine", {"kind": "document", "subject": leave, "reason": "wrong figure"}),
        ("kb_rollback", {"release": 1, "reason": "start over"}),
    ]


def test_runs_of_a_dag_lead_to_their_page(client: TestClient, host: FakeHost) -> None:
    host.started += [("kb_release", {"release": 3}), ("kb_sync", {})]
    admin = Browser(client, "admin")
    assert admin.raw("GET", "/run/kb_release/run-1").headers["location"] == "/releases/3/review"
    assert admin.raw("GET", "/run/kb_sync/run-2").headers["location"] == "/"


def test_an_owner_approves_their_part_and_the_rest_becomes_a_release_of_its_own(
    client: TestClient, kb: Kb, host: FakeHost
) -> None:
    _decide(Browser(client, "reviewer"), verdict="approve_release")
    with kb.app.database.read() as tx:
        items = tables.release_item
        left = set(tx.execute(select(items.c.document).where(items.c.release == 4)).scalars())
        mine = dict(tx.execute(select(items.c.document, items.c.decision).where(items.c.release == 3)).all())
    assert mine == {document(kb, "bonus"): "approved"}
    assert document(kb, "leave") in left
    assert (_state(kb), _state(kb, 4)) == ("approved", "in_review")
    assert host.started == [("kb_release", {"release": 3}), ("kb_release", {"release": 4})]
