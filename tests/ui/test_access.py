"""Nobody sees or does what is not theirs: by page, export, preview, page image; with or without our forms."""

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from pipelines.report.scope import Person, scope_of
from pipelines.settings import PagesSettings
from sluice_ui.host import Account
from sluice_ui.security import csrf_token, csrf_valid, viewer
from sql import tables
from tests.fakes_host import FakeHost
from tests.ui.conftest import Browser, Kb, addresses, document, places, routes


def test_no_route_answers_without_a_login(looking: TestClient) -> None:
    assert len(routes(looking)) > 30
    for route in routes(looking):
        path = route.path.replace("{number}", "1").replace("{form}", "csv").replace("{", "x").replace("}", "x")
        for method in route.methods:
            answer = looking.request(method, path, headers={"accept": "application/json"}, follow_redirects=False)
            assert answer.status_code == 401, (method, path)
            if method == "GET":
                page = looking.get(path, headers={"accept": "text/html"}, follow_redirects=False)
                assert page.status_code == 302 and page.headers["location"].startswith("/auth/login?next=/"), path


def test_every_form_is_refused_without_the_token_of_its_page(looking: TestClient) -> None:
    for route in routes(looking):
        if "POST" in route.methods:
            path = route.path.replace("{number}", "1").replace("{", "x").replace("}", "x")
            for data in ({}, {"csrf": "1.2"}, {"csrf": "9999999999." + "0" * 64}):
                answer = looking.post(path, data=data, headers={"x-user": "admin"})
                assert answer.status_code == 403, path


@pytest.mark.parametrize(
    "headers",
    [{"sec-fetch-site": "cross-site"}, {"origin": "https://evil.example"}, {"origin": "null"}],
)
def test_a_form_of_another_site_is_refused_though_it_had_the_token(
    built: Kb, looking: TestClient, headers: dict[str, str]
) -> None:
    token = csrf_token(built.app.key, "admin")
    answer = looking.post("/quarantine/requeue", data={"csrf": token}, headers={"x-user": "admin", **headers})
    assert answer.status_code == 403


def test_a_token_serves_its_user_and_its_time() -> None:
    token = csrf_token(b"key", "ann", now=1000)
    assert csrf_valid(b"key", "ann", token, now=1001)
    for key, user, now in ((b"other", "ann", 1001), (b"key", "bob", 1001), (b"key", "ann", 1e9)):
        assert not csrf_valid(key, user, token, now=now)
    assert not any(csrf_valid(b"key", "ann", bad) for bad in ("", ".", "²³.x", "1e9.x", token[:-1]))


SECRETS = ("Bonus", "bonus is secret", "bonus.md", "Wages", "wages.md", "last day")
"""Words of documents of team staff."""


QUERIES = ("", "?q=wages+bonus+paid+secret", "?text=wages", "?group=low", "?left=0&right=2", "?left=2&right=3")


@pytest.mark.parametrize(("user", "name"), [("viewer", "wages"), ("outsider", "bonus")])
def test_no_route_gives_a_person_of_no_team_anything_of_a_teams_documents(
    kb: Kb, client: TestClient, host: FakeHost, user: str, name: str
) -> None:
    """Every route, with the ids of the document in its address; `outsider` may run DAGs, `viewer` may not."""
    host.accounts["outsider"] = Account("outsider", "outsider", ("user",))
    person, given = Browser(client, user), places(kb, name)
    for path in addresses(client, "GET", given):
        concerned = given["document"][0] in path
        for query in ("",) if concerned else QUERIES:
            answer = person.raw("GET", path + query)
            assert answer.status_code in ((403, 404) if concerned else (200, 303, 403, 404, 422)), path
            assert not [word for word in SECRETS if word in answer.text], path + query
    assert [word for word in SECRETS if word in Browser(client, "admin").get(f"/documents/{given['document'][0]}")]


@pytest.mark.parametrize("user", ["viewer", "outsider"])
def test_no_form_lets_a_person_of_no_team_do_anything_to_a_teams_documents(
    kb: Kb, client: TestClient, host: FakeHost, user: str
) -> None:
    host.accounts["outsider"] = Account("outsider", "outsider", ("user",))
    person, token = Browser(client, user), csrf_token(kb.app.key, user)
    given = places(kb, "bonus")
    for path in addresses(client, "POST", given):
        for verdict in ("approve", "reject", "approve_release", "decline_release"):
            form = {"csrf": token, "reason": "because", "text": "other words", "act": "hold", "verdict": verdict}
            form |= {"document": given["document"][0], "version": given["version"][0], "strategy": "newest"}
            answer = person.raw("POST", path, form)
            # Going back to a whole release is for whom Airflow lets run its DAG.
            allowed = user == "outsider" and path.endswith("/rollback")
            assert answer.status_code in ((303,) if allowed else (403, 404, 422)), (path, verdict)
            assert not [word for word in SECRETS if word in answer.text], path
    assert {dag for dag, _ in host.started} <= {"kb_rollback"}
    with kb.app.database.read() as tx:
        assert tx.execute(select(tables.overlay)).all() == tx.execute(select(tables.deny)).all() == []
        assert set(tx.execute(select(tables.release.c.state)).scalars()) == {"superseded", "live", "in_review"}


def test_what_is_personal_is_seen_by_its_person_alone(built: Kb, looking: TestClient) -> None:
    mine = document(built, "mine.md")
    assert "A note to myself" in Browser(looking, "viewer").get(f"/documents/{mine}")
    for other in ("admin", "reviewer"):
        Browser(looking, other).get(f"/documents/{mine}", 404)
        assert "mine.md" not in Browser(looking, other).get("/documents")


def test_a_reviewer_decides_on_the_sources_that_name_them_and_on_no_others(client: TestClient, kb: Kb) -> None:
    reviewer, page = Browser(client, "reviewer"), "/releases/3/review"
    leave, bonus = document(kb, "leave"), document(kb, "bonus")
    token = reviewer.token(page)
    for data in (
        {"verdict": "approve", "document": leave},
        {"verdict": "reject", "document": [leave, bonus]},
        {"verdict": "decline_release"},
    ):
        refused = reviewer.raw("POST", "/releases/3/decide", {"csrf": token, "reason": "because", **data})
        assert refused.status_code == 403, data
    reviewer.post("/releases/3/decide", {"verdict": "hold", "document": bonus, "reason": "too early"}, page)
    with kb.app.database.read() as tx:
        decided = dict(tx.execute(select(tables.release_item.c.document, tables.release_item.c.decision)).all())
    assert (decided[bonus], decided[leave]) == ("held", "pending")


def test_who_may_not_run_dags_cannot_act(client: TestClient, kb: Kb, host: FakeHost) -> None:
    host.accounts["boss"] = Account("boss", "boss", ("viewer", "admin"))
    boss, leave = Browser(client, "boss"), document(kb, "leave")
    token = csrf_token(kb.app.key, "boss")
    for path, data in (
        ("/releases/3/decide", {"verdict": "approve_release"}),
        ("/releases/1/rollback", {}),
        (f"/documents/{leave}/quarantine/document/{leave}", {}),
    ):
        assert boss.raw("POST", path, {"csrf": token, "reason": "because", **data}).status_code == 403
    assert host.started == []


def test_the_audit_is_for_admins_and_auditors(looking: TestClient) -> None:
    for path in ("/audit", "/audit/export.csv", "/audit/export.json"):
        assert Browser(looking, "viewer").raw("GET", path).status_code == 403
        assert Browser(looking, "admin").raw("GET", path).status_code == 200


@pytest.mark.parametrize(
    ("account", "admin", "teams"),
    [
        (Account("ann", "Ann", ("Admin",)), True, ()),
        (Account("ann", "Ann", ("Public",), ("ops",)), False, ("ops",)),
        (Account("bob", "Bob"), False, ("staff",)),
        (Account("role:admin", "Eve"), False, ()),
        (Account("eve", "Eve", ("Op",)), False, ("ops",)),
    ],
)
def test_roles_and_teams_come_from_airflow_and_from_the_settings(
    account: Account, admin: bool, teams: tuple[str, ...]
) -> None:
    settings = PagesSettings(teams={"staff": ("bob",), "ops": ("role:op",)})
    made = viewer(account, settings, FakeHost())
    assert (made.person.admin, made.person.teams) == (admin, teams)


def test_an_admin_searches_with_every_teams_rights_but_not_with_those_of_a_person(built: Kb) -> None:
    with built.app.database.read() as tx:
        scope = scope_of(tx, "main", Person("root", admin=True))
    assert scope.reader.principals() == {"everyone", "user:root", "team:staff"}
    assert "diary" not in scope.sources
