"""Sources behind http: what is asked, what is never asked, and what each trouble means."""

import gzip
import json
import logging

import pytest

from pipelines.adapters.json_api import dug
from pipelines.adapters.remote import Busy, Patience, named
from pipelines.adapters.web import page_uri
from pipelines.errors import Code, Misconfigured, Rejected
from pipelines.wiring import make_reader
from schemas.source import Source
from tests.fakes_sources import ApiPlace, PagesPlace, Site, SitemapPlace, secrets_of
from tests.reading import code_of, read


@pytest.fixture
def site():
    made = Site()
    yield made
    made.close()


@pytest.fixture
def pauses():
    return []


@pytest.fixture
def reader(tmp_path, pauses):
    def make(location, secrets=None, **http):
        source = Source(name="s", kind="http", location=location, http=http)
        place = type("Place", (), {"secrets": secrets or {}})
        return make_reader(source, tmp_path, tmp_path / "state", secrets_of(place), Patience(pauses.append))

    return make


# --- pages -----------------------------------------------------------------------------------------------------


def test_an_unchanged_page_is_answered_without_a_body(site, reader):
    site.page("/a", "one")
    site.page("/b", "two")
    for _ in range(3):
        assert len(list(reader(f"{site.url}/", pages=["a", "b"]).files())) == 2
    assert sorted(site.bodies) == ["/a", "/b"]


def test_lost_answers_cost_a_body_and_change_no_token(site, reader, tmp_path):
    site.page("/a", "one")
    (before,) = reader(f"{site.url}/a").files()
    for file in (tmp_path / "state").iterdir():
        file.write_text("[]")
    (after,) = reader(f"{site.url}/a").files()
    assert before.token == after.token and len(site.bodies) == 2


def test_a_body_that_a_listing_brought_is_not_fetched_again(site, reader):
    site.page("/a", "one", etag=False)
    one = reader(f"{site.url}/a")
    texts = [read(one, file.uri) for file in one.files()]
    assert texts == ["one"] and site.bodies == ["/a"]


def test_without_etag_and_date_the_content_is_the_token(site, reader):
    site.page("/a", "one", etag=False)
    (before,) = reader(f"{site.url}/a").files()
    site.page("/a", "two", etag=False)
    (after,) = reader(f"{site.url}/a").files()
    assert before.token != after.token


def test_a_page_that_fails_is_a_problem_and_not_gone(site, reader):
    site.page("/a", "one")
    site.page("/b", "two")
    site.trouble = lambda path: (503, {}, b"") if path == "/b" else None
    one = reader(f"{site.url}/", pages=["a", "b"])
    assert [file.uri for file in one.files()] == [page_uri(f"{site.url}/a")]
    assert [(uri, code) for uri, code, _ in one.problems] == [(page_uri(f"{site.url}/b"), Code.SCAN_UNREADABLE)]


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (401, Code.SCAN_SOURCE_DENIED),
        (403, Code.SCAN_SOURCE_DENIED),
        (404, Code.SCAN_SOURCE_GONE),
        (410, Code.SCAN_SOURCE_GONE),
        (429, Code.SCAN_SOURCE_DOWN),
        (500, Code.SCAN_SOURCE_DOWN),
        (503, Code.SCAN_SOURCE_DOWN),
    ],
)
@pytest.mark.parametrize("http", [{}, {"api": {}}, {"sitemap": True}], ids=["page", "api", "sitemap"])
def test_a_source_as_a_whole_says_what_is_wrong(site, reader, http, status, code):
    site.trouble = lambda _path: (status, {}, b"")
    assert code_of(lambda: list(reader(f"{site.url}/a", **http).files())) is code


def test_a_server_that_is_not_there_is_down(reader):
    assert code_of(lambda: list(reader("http://127.0.0.1:9/a").files())) is Code.SCAN_SOURCE_DOWN


def test_a_trouble_that_passes_is_waited_out_as_long_as_the_server_asks(site, reader, pauses):
    site.page("/a", "one")
    left = [(503, {"Retry-After": "7"}, b""), (500, {}, b"")]
    site.trouble = lambda _path: left.pop(0) if left else None
    assert len(list(reader(f"{site.url}/a").files())) == 1
    assert pauses[0] == 7 and 0 < pauses[1] < 10


def test_five_items_in_a_row_that_fail_end_the_source(site, reader):
    names = [f"p{number}" for number in range(9)]
    for name in names:
        site.page(f"/{name}", name)
    site.trouble = lambda path: None if path == "/p0" else (500, {}, b"")
    with pytest.raises(Busy):
        list(reader(f"{site.url}/", pages=names).files())


# --- where requests and secrets may go ---------------------------------------------------------------------------


@pytest.fixture
def other():
    made = Site()
    made.page("/secret", "of the other host")
    yield made
    made.close()


def test_a_page_of_another_host_is_not_asked(site, other, reader):
    site.page("/a", "one")
    one = reader(f"{site.url}/", pages=["a", f"{other.url}/secret", "file:///etc/passwd", "ftp://x/y"])
    assert len(list(one.files())) == 1 and other.asked == []
    assert {code for _, code, _ in one.problems} == {Code.SCAN_OUTSIDE}


def test_a_redirect_to_another_host_is_not_followed(site, other, reader):
    site.pages["/a"] = lambda _query: (302, {"Location": f"{other.url}/secret"}, b"")
    assert code_of(lambda: list(reader(f"{site.url}/a").files())) is Code.SCAN_BAD_LISTING
    assert other.asked == []


def test_a_named_host_is_asked_without_the_secret(site, other, reader):
    site.pages["/a"] = lambda _query: (302, {"Location": f"{other.url}/secret"}, b"")
    headers = {"Authorization": "SLUICE_SOURCE_AUTH"}
    secrets = {"SLUICE_SOURCE_AUTH": "Bearer t0ps3cret"}
    one = reader(f"{site.url}/a", secrets, headers=headers, hosts=[other.url.removeprefix("http://")])
    assert len(list(one.files())) == 1
    assert site.sent[0]["authorization"] == "Bearer t0ps3cret"
    assert "authorization" not in other.sent[0]


def test_redirects_without_end_end(site, reader):
    site.pages["/a"] = lambda _query: (302, {"Location": "/a"}, b"")
    list_it = reader(f"{site.url}/", pages=["a"]).files
    assert code_of(lambda: list(list_it())) is Code.SCAN_SOURCE_DOWN
    assert len(site.asked) == 5


def test_no_secret_and_no_query_is_in_an_error_or_in_the_log(site, reader, caplog):
    caplog.set_level(logging.DEBUG, "httpx")
    headers = {"Authorization": "SLUICE_SOURCE_AUTH"}
    one = reader(f"{site.url}/a?token=abc", {"SLUICE_SOURCE_AUTH": "Bearer t0ps3cret"}, api={}, headers=headers)
    with pytest.raises(Misconfigured) as caught:
        list(one.files())
    for text in (str(caught.value), caplog.text):
        assert "t0ps3cret" not in text and "token=abc" not in text


# --- JSON listings -----------------------------------------------------------------------------------------------


def listing(site, path, value, **headers):
    site.pages[path] = lambda _query: (200, headers, json.dumps(value).encode())


def test_pages_follow_the_link_header(site, reader):
    listing(site, "/a", [{"id": 1, "text": "one"}], Link=f'<{site.url}/b>; rel="next"')
    listing(site, "/b", [{"id": 2, "text": "two"}])
    one = reader(f"{site.url}/a", api={"content": "text", "format": "markdown"})
    assert [file.uri for file in one.files()] == ["1.md", "2.md"]
    assert read(one, "1.md").strip() == "one" and read(one, "2.md").strip() == "two"


def test_without_content_the_item_is_the_document(site, reader):
    listing(site, "/a", {"data": {"rows": [{"key": {"n": "x"}, "limit": 500}]}})
    one = reader(f"{site.url}/a", api={"items": "data.rows", "id": "key.n"})
    assert [file.uri for file in one.files()] == ["x.json"]
    assert json.loads(read(one, "x.json"))["limit"] == 500


def test_a_link_in_an_item_is_the_document(site, reader):
    listing(site, "/a", [{"id": "x", "file": "files/report.md", "rev": 3}])
    site.page("/files/report.md", "# Report")
    one = reader(f"{site.url}/a", api={"link": "file", "updated": "rev"})
    assert [file.uri for file in one.files()] == ["x.md"] and site.bodies == ["/a"]
    assert read(one, "x.md") == "# Report"


@pytest.mark.parametrize(
    "answer",
    [
        b"<html>log in</html>",
        b"{}",
        b'{"results": null}',
        b'{"results": {}}',
        b'{"results": [{"title": "no id"}]}',
        b"[",
    ],
)
def test_an_answer_that_is_no_listing_is_never_an_empty_one(site, reader, answer):
    site.pages["/a"] = lambda _query: (200, {}, answer)
    call = reader(f"{site.url}/a", api={"items": "results"}).files
    assert code_of(lambda: list(call())) is Code.SCAN_BAD_LISTING


def test_pages_in_a_circle_are_refused(site, reader):
    listing(site, "/a", {"results": [{"id": 1}], "next": "/b"})
    listing(site, "/b", {"results": [{"id": 2}], "next": "/a"})
    call = reader(f"{site.url}/a", api={"items": "results", "next": "next"}).files
    assert code_of(lambda: list(call())) is Code.SCAN_BAD_LISTING


def test_a_next_page_on_another_host_is_refused(site, other, reader):
    listing(site, "/a", {"results": [{"id": 1}], "next": f"{other.url}/secret"})
    call = reader(f"{site.url}/a", api={"items": "results", "next": "next"}).files
    assert code_of(lambda: list(call())) is Code.SCAN_BAD_LISTING and other.asked == []


def test_only_changed_items_are_asked_for(tmp_path):
    place = ApiPlace(tmp_path)
    place.write("a", "text")
    place.entry["http"]["api"]["title"] = "title"
    one = make_reader(Source(name="s", **place.entry), tmp_path, tmp_path, secrets_of(place), Patience(lambda _: None))
    (file,) = one.files()
    assert place.site.bodies == ["/wiki/rest/content"]
    assert "<h1>a</h1>" in read(one, file.uri) and "<p>text</p>" in read(one, file.uri)
    place.close()


@pytest.mark.parametrize(
    ("path", "found"), [("", {"a": [{"b": 1}]}), ("a.0.b", 1), ("a.1.b", None), ("a.b", None), ("x.y", None)]
)
def test_a_path_digs_into_an_answer(path, found):
    assert dug({"a": [{"b": 1}]}, path) == found


# --- sitemaps ----------------------------------------------------------------------------------------------------


def test_dated_pages_are_not_asked_for(tmp_path):
    place = SitemapPlace(tmp_path)
    place.write("a", "text")
    one = make_reader(Source(name="s", **place.entry), tmp_path, tmp_path, secrets_of(place), Patience(lambda _: None))
    assert len(list(one.files())) == 1 and place.site.bodies == ["/sitemap.xml", "/part.xml"]
    place.close()


def test_a_packed_sitemap_is_read_and_entities_are_not(site, reader, tmp_path):
    (tmp_path / "secret").write_text("secret")
    entity = f'<!DOCTYPE urlset [<!ENTITY e SYSTEM "file://{tmp_path}/secret">]>'
    text = f"{entity}<urlset><url><loc>{site.url}/p&e;</loc><lastmod>2026-01-01</lastmod></url></urlset>"
    site.pages["/map"] = lambda _query: (200, {}, gzip.compress(text.encode()))
    assert "secret" not in "".join(file.uri for file in reader(f"{site.url}/map", sitemap=True).files())


@pytest.mark.parametrize("answer", [b"<html><body>moved</body></html>", b"no xml", b"\x1f\x8bbroken"])
def test_what_is_no_sitemap_is_refused(site, reader, answer):
    site.pages["/map"] = lambda _query: (200, {}, answer)
    assert code_of(lambda: list(reader(f"{site.url}/map", sitemap=True).files())) is Code.SCAN_BAD_LISTING


# --- names -------------------------------------------------------------------------------------------------------


def test_addresses_are_readable_names():
    assert page_uri("https://w.example/%E5%BC%A0%E4%B8%89/a%20b?q=1#part") == "w.example/张三/a b?q=1"


def test_names_hold_no_control_characters_and_differ_still():
    found = [named(one) for one in ("a\nb", "a%0Ab", "a\ud800b", "a%D800b")]
    assert len(set(found)) == 4 and all(one.encode() and one.isprintable() for one in found)


def test_an_item_of_an_unlisted_page_is_refused(site, reader, tmp_path):
    place = PagesPlace(tmp_path)
    one = make_reader(Source(name="s", **place.entry), tmp_path, tmp_path, secrets_of(place), Patience(lambda _: None))
    with pytest.raises(Rejected):
        one.open("localhost/secret")
    place.close()
