"""Script in a title, a chunk, a table or a file name is text on every page, and nothing comes from outside."""

import re
from html.parser import HTMLParser
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from pipelines.ask import reader, search
from pipelines.review.decide import hold
from pipelines.review.quarantine import quarantine
from sluice_ui.markup import safe_table
from tests.ui.conftest import Browser, Kb, addresses, document, places, routes

ALIEN = "<script>alert(1)</script>\"><img src=x onerror=alert(2)>'"


class Alive(HTMLParser):
    """Collects everything of a page that could run or load something, as a browser would read it."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            address = (value or "").strip().lower()
            bad = name.startswith("on") or name in ("style", "srcdoc")
            bad |= name in ("href", "src", "action", "formaction", "xlink:href", "data") and not OURS.match(address)
            if bad:
                self.found.append(f"<{tag} {name}={value}>")
        if tag in ("iframe", "object", "embed", "base", "style") or (tag == "script" and not dict(attrs).get("src")):
            self.found.append(f"<{tag}>")


OURS = re.compile(r"(/(?![/\\])|#|\?|$)")
"""Addresses on these pages are paths of this host."""


def alive(html: str) -> list[str]:
    parser = Alive()
    parser.feed(html)
    return parser.found


@pytest.mark.parametrize("language", ["en", "zh"])
def test_hostile_words_are_inert_on_every_page_and_in_every_parameter(
    kb: Kb, client: TestClient, language: str
) -> None:
    """In title, text, table and file name; in questions, reasons and notes; in every query parameter of every route."""
    hostile, admin = document(kb, "hostile"), Browser(client, "admin", "zh")
    hold(kb.app, 3, [hostile], ALIEN)
    quarantine(kb.app, "document", document(kb, "leave"), ALIEN)
    search(kb.app, f"unknown {ALIEN}", reader(ALIEN, ""), None, 5, False)
    given = {**places(kb, "hostile"), "code": ["zh", ALIEN.replace("/", "")], "number": ["3"]}
    parameters = {route.path: [one.alias for one in route.dependant.query_params] for route in routes(client)}
    assert sum(map(len, parameters.values())) > 20
    for path in addresses(client, "GET", given):
        asked = {name: ALIEN for names in parameters.values() for name in names if name not in NUMBERS}
        for query in (
            ({},)
            if hostile in path and "/releases/" not in path
            else ({}, asked, {"q": f"pwned {ALIEN}"}, {"left": 2, "right": 3, "document": hostile, "verify": 1})
        ):
            answer = admin.raw("GET", f"{path}?{urlencode(query)}")
            assert answer.status_code < 500, path
            if "html" in answer.headers.get("content-type", ""):
                assert alive(answer.text) == [], (path, query)
    assert "alert(&#34;pwned&#34;)" in admin.get(f"/documents/{hostile}")


NUMBERS = ("start", "before", "left", "right", "release", "run", "verify", "all", "one")
"""Parameters that a word makes invalid: the page that says so is asked for by the others."""


def test_what_could_run_would_be_found() -> None:
    for one in ("<script>x()</script>", "<img src=x onerror=y()>", "<a href='javascript:x()'>", "<p style='a'>"):
        assert alive(one)
    assert alive('<script src="/static/app.js"></script><a href="/documents?x=1">') == []


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ('<table><tr><td onclick="x()" colspan="2">a</td></tr></table>', '<td colspan="2">a</td>'),
        ("<table><tr><td><script>x()</script>b</td></tr></table>", "<td>b</td>"),
        ('<table style="position:fixed"><tr><th><a href="javascript:x()">c</a></th></tr></table>', "<th>c</th>"),
        ('<table><tr><td><img src="http://evil.example/x.png">d</td></tr></table>', "<td>d</td>"),
        ("<table><tr><td>1 &lt; 2</td></tr></table>", "<td>1 &lt; 2</td>"),
        ('<svg onload="x()"></svg><iframe src="/"></iframe><table><tr><td>e</td></tr></table>', "<td>e</td>"),
    ],
)
def test_of_a_table_its_structure_and_its_text_remain(given: str, made: str) -> None:
    shown = safe_table(given)
    assert made in shown
    assert not re.search(r"<(?!/?(table|thead|tbody|tr|th|td|br)\b)|on\w+=|style=|href=|src=", shown)


def test_every_answer_forbids_what_is_not_ours(looking: TestClient) -> None:
    for path in ("/", "/static/app.css", "/nothing/here", "/documents/unknown"):
        headers = Browser(looking, "admin").raw("GET", path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'self'" in policy
        assert "unsafe" not in policy and "http" not in policy and "*" not in policy
        assert headers["x-content-type-options"] == "nosniff"


def test_pages_hold_no_inline_script_and_no_style_that_the_policy_would_block(looking: TestClient) -> None:
    page = Browser(looking, "admin").get("/releases/3/review")
    assert not re.search(r"<script(?![^>]*src=)|<style|\sstyle=|\son[a-z]+=\"", page)
    assert not re.search(r"(?:src|href|action)=\"(?:https?:)?//", page)
