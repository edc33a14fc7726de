"""Script in a title, a chunk, a table or a file name is text on every page, and nothing comes from outside."""

import re

import pytest
from starlette.testclient import TestClient

from sluice_ui.markup import safe_table
from tests.ui.conftest import Browser, Kb, document

DANGEROUS = re.compile(
    r"<script(?! src=\"/static/app\.js\")|<img[^>]+onerror|<svg/onload|<b onmouseover|javascript:", re.I
)


def test_hostile_text_is_inert_on_every_page_that_shows_it(built: Kb, looking: TestClient) -> None:
    hostile, admin = document(built, "hostile"), Browser(looking, "admin")
    for path in (
        f"/documents/{hostile}",
        f"/releases/3/review/{hostile}",
        f"/documents/{hostile}/quarantine/document/{hostile}",
        "/releases/3/review?group=look",
        "/releases/3/review?group=low",
        "/releases/3",
        "/documents",
        "/releases/3/preview?q=<script>alert(1)</script>+pwned",
        "/documents?text=<script>alert(1)</script>",
        '/audit?actor="><script>alert(1)</script>',
        "/quarantine?code=<script>alert(1)</script>",
    ):
        page = admin.get(path)
        found = [one for one in DANGEROUS.findall(page) if "href" not in one]
        assert [one for one in found if one.lower() != "javascript:"] == [], path
        assert 'href="javascript:' not in page and "src=x" not in re.sub(r"&lt;.*?&gt;", "", page), path
    assert "alert(&#34;pwned&#34;)" in admin.get(f"/documents/{hostile}")


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
