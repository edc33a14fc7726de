"""The pages in Chromium against a real Airflow. The tests share one installation and build on one another."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipelines.ask import reader, search
from pipelines.query_log import feedback
from tests.ui.real import Site, site, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.airflow, pytest.mark.browser]
ROOT = "/knowledge-base"
ADMINS = ("/audit?verify=1", "/quality", "/questions")


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    if os.environ.get("SLUICE_TEST_BROWSER", "0") == "0":
        pytest.skip("starts a real Airflow and Chromium: set SLUICE_TEST_BROWSER=1")
    if not shutil.which("chromium"):
        pytest.skip("no chromium on this machine")
    with site(tmp_path_factory.mktemp("site")) as made:
        yield made


class Person:
    """One signed-in person in a browser of their own, who notes every complaint of it."""

    def __init__(self, browser: Any, real: Site, user: str, locale: str) -> None:
        self.real, self.user = real, user
        self.url = real.airflow.url
        self.context = browser.new_context(viewport={"width": 1366, "height": 820}, locale=locale)
        self.page = self.context.new_page()
        self.page.set_default_timeout(120_000)
        self.complaints: list[str] = []
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.complaints.append(f"script: {error}"))
        self.page.on("request", self._asked)

    def _heard(self, message: Any) -> None:
        if message.type == "error":
            self.complaints.append(f"console: {message.text} {message.location}")

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self.url, "data:", "blob:", "about:")):
            self.complaints.append(f"outside: {request.url}")

    def open(self, path: str) -> Any:
        self.page.goto(self.url + path)
        return self.page

    def sign_in(self) -> None:
        self.open(f"{ROOT}/")
        self.page.get_by_label("Username").fill(self.user)
        self.page.locator("input[type=password]").fill(self.real.password(self.user))
        self.page.locator("button[type=submit]").click()
        self.page.wait_for_url(f"{self.url}{ROOT}/")

    def decide(self, button: str, reason: str) -> None:
        self.page.locator("input[name=reason]").fill(reason)
        self.page.get_by_role("button", name=button).first.click()
        self.page.wait_for_load_state()

    def decide_by_keyboard(self, button: str, reason: str) -> None:
        """Enter in the reason decides nothing; the focus that Tab moves can be seen."""
        keys, at = self.page.keyboard, "document.activeElement"
        keys.press("r")
        keys.type(reason)
        keys.press("Enter")
        for _ in range(12):
            keys.press("Tab")
            if self.page.evaluate(f"{at}.textContent") == button:
                break
        assert self.page.evaluate(f"[{at}.textContent, getComputedStyle({at}).outlineStyle]") == [button, "solid"]
        keys.press("Enter")
        self.page.wait_for_load_state()

    def found(self, release: int, question: str) -> tuple[str, str]:
        """What the search preview shows live, and at the release."""
        self.open(f"{ROOT}/releases/{release}/preview?q={question}")
        now, then = self.page.locator(".two > section").all()
        return now.inner_text(), then.inner_text()


@pytest.fixture(scope="module")
def browser(real: Site) -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        made = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture(scope="module")
def admin(browser: Any, real: Site) -> Iterator[Person]:
    made = Person(browser, real, "admin", "en-US")
    made.sign_in()
    yield made
    made.context.close()


def test_who_is_not_signed_in_is_sent_to_airflows_login_and_comes_back(admin: Person) -> None:
    assert admin.page.locator("h1").inner_text() == "Overview"
    assert admin.complaints == []


def test_the_pages_stand_in_airflows_own_navigation(admin: Person) -> None:
    page = admin.open("/")
    page.get_by_role("link", name=re.compile("Knowledge base")).first.click()
    frame = page.frame_locator("iframe")
    frame.get_by_role("link", name="Documents").first.click()
    frame.get_by_text("About leave").wait_for()
    assert "/plugin/knowledge-base" in page.url


def test_approval_through_required_actions(admin: Person, real: Site) -> None:
    real.write("leave", "Annual leave is thirty days.", "Unused days expire in March.")
    number = real.sync()
    run, question = real.asked(number)
    assert "/releases/" in question.body
    page = admin.open(f"/dags/kb_release/runs/{run.id}/tasks/ask/required_actions")
    page.get_by_role("button", name="Approve").click()
    wait_for("publication", lambda: real.live() == number)


def test_one_document_is_held_and_the_release_approved_on_the_page(admin: Person, real: Site) -> None:
    real.write("backup", "Backups are kept for ninety days.", "They are made every night.")
    real.write("canteen", "Lunch is served from one to three.", "There is a vegetarian dish every day.")
    number = real.sync()
    run, _ = real.asked(number)
    admin.open(f"{ROOT}/releases/{number}/review/{real.document('canteen')}")
    assert {"one", "three"} <= set(admin.page.locator("ins").all_inner_texts())
    admin.decide_by_keyboard("Hold", "the canteen has not confirmed it")
    admin.open(f"{ROOT}/releases/{number}/review")
    admin.decide("Approve release", "looked through")
    wait_for("publication", lambda: real.live() == number)
    assert real.airflow.wait(run) == "success"
    now, _ = admin.found(number, "when is lunch served and how long are backups kept")
    assert "ninety days" in now and "noon to two" in now and "one to three" not in now


def test_an_edit_of_a_chunk_survives_the_next_sync(admin: Person, real: Site) -> None:
    travel = real.document("travel")
    admin.open(f"{ROOT}/documents/{travel}")
    admin.page.get_by_role("link", name="Edit", exact=True).first.click()
    admin.page.locator("textarea").fill("The edited words of a reviewer.")
    admin.decide("Save the edit", "clearer like this")
    edited = real.release()
    real.write("canteen", "Lunch is served from eleven to three.", "There is a vegetarian dish every day.")
    real.release()
    assert "The edited words of a reviewer." in admin.found(edited, "edited words of a reviewer")[0]


def test_quarantine_on_the_documents_page_takes_it_from_the_search(admin: Person, real: Site) -> None:
    live, leave = real.live(), real.document("leave")
    assert "thirty days" in admin.found(live, "annual leave days")[0]
    admin.open(f"{ROOT}/documents/{leave}")
    admin.page.get_by_role("link", name="Quarantine", exact=True).last.click()
    admin.decide("Quarantine", "a wrong figure")
    wait_for("quarantine", lambda: "thirty days" not in admin.found(live, "annual leave days")[0])
    admin.open(f"{ROOT}/quarantine")
    assert admin.page.get_by_text("a wrong figure").is_visible()


def test_rollback_from_the_log_of_releases(admin: Person, real: Site) -> None:
    """To the release before the backups changed."""
    assert "ninety days" in admin.found(real.live(), "how long are backups kept")[0]
    admin.open(f"{ROOT}/releases")
    admin.page.locator("a[href$='/releases/2/rollback']").click()
    admin.decide("Roll back", "the backup figure is wrong")
    wait_for("rollback", lambda: real.live() == 2)
    assert "thirty days" in admin.found(2, "how long are backups kept")[0]


def test_a_question_that_found_nothing_is_labelled(admin: Person, real: Site) -> None:
    search(real.app, "unicorn stables", reader("viewer", ""), None, 5, False)
    answered = "There is a vegetarian dish every day."
    asked = search(real.app, "what can vegetarians eat", reader("viewer", ""), None, 5, False)["query"]
    feedback(real.app, asked, "down", "viewer")
    admin.open(f"{ROOT}/questions")
    admin.page.get_by_role("link", name="what can vegetarians eat").click()
    admin.page.get_by_label(answered).check()
    admin.page.get_by_role("button", name="This answers it").click()
    admin.page.get_by_role("status").wait_for()
    assert answered in admin.page.request.get(f"{admin.url}{ROOT}/questions/labelled.jsonl").text()


def test_forgetting_shows_its_impact_and_is_confirmed_in_airflow(admin: Person, real: Site) -> None:
    canteen = real.document("canteen")
    admin.open(f"{ROOT}/documents/{canteen}/forget/document/{canteen}")
    assert admin.page.get_by_text("what can vegetarians eat").is_visible()
    admin.decide("Forget", "asked for by its author")
    admin.page.get_by_role("status").wait_for()
    run = real.airflow.runs("kb_forget")[0]
    real.question(run)
    page = admin.open(f"/dags/kb_forget/runs/{run.id}/tasks/confirm/required_actions")
    page.get_by_role("button", name="Erase").click()
    assert real.airflow.wait(run) == "success"
    assert admin.page.request.get(f"{admin.url}{ROOT}/documents/{canteen}").status == 404
    assert "vegetarian" not in admin.found(real.live(), "what can vegetarians eat")[0]


@pytest.mark.parametrize(("user", "locale"), [("admin", "en-US"), ("admin", "zh-CN"), ("viewer", "zh-CN")])
def test_no_page_complains_or_asks_for_anything_outside(browser: Any, real: Site, user: str, locale: str) -> None:
    person = Person(browser, real, user, locale)
    token = real.airflow.as_user(user, real.password(user)).token()
    person.context.add_cookies([{"name": "_token", "value": token, "url": real.airflow.url}])
    travel = real.document("travel")
    paths = ["/", "/releases", "/releases/1", "/releases/1/review", f"/releases/1/review/{travel}?all=1", "/documents"]
    paths += [f"/documents/{travel}", "/quarantine", "/releases/compare?left=1&right=2", "/releases/1/preview?q=leave"]
    for path in [*paths, "/conflicts", *(ADMINS if user == "admin" else ())]:
        person.open(ROOT + path)
        person.page.wait_for_load_state("networkidle")
        assert person.page.locator("html").get_attribute("lang") == ("zh-CN" if locale == "zh-CN" else "en")
        assert person.complaints == [], path
        _picture(person, path, locale)
    images = person.page.evaluate("[...document.images].every((one) => one.naturalWidth > 0)")
    assert images
    person.context.close()


def _picture(person: Person, path: str, locale: str) -> None:
    if folder := os.environ.get("SLUICE_TEST_PICTURES"):
        name = re.sub(r"[^a-z0-9]+", "-", f"{person.user}-{locale}{path.partition('?')[0]}".lower())[:60]
        person.page.screenshot(path=str(Path(folder) / f"{name}.png"))


def test_a_viewer_finds_no_document_of_a_team(browser: Any, real: Site) -> None:
    person = Person(browser, real, "viewer", "en-US")
    token = real.airflow.as_user("viewer", real.password("viewer")).token()
    person.context.add_cookies([{"name": "_token", "value": token, "url": real.airflow.url}])
    wages = real.document("wages")
    assert "About leave" in person.open(f"{ROOT}/documents").locator("main").inner_text()
    assert "ages" not in person.page.locator("table").inner_text()
    assert "Wages" not in person.found(1, "when are wages paid")[1]
    assert person.context.request.get(f"{person.url}{ROOT}/documents/{wages}").status == 404
    assert person.context.request.post(f"{person.url}{ROOT}/releases/1/rollback").status == 403
    person.context.close()
