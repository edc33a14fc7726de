"""Rows as documents, over a real SQLite."""

import csv
import sqlite3

import pytest
from sqlalchemy.exc import OperationalError

from pipelines.adapters import sql
from pipelines.adapters.remote import Patience
from pipelines.adapters.rendering import render
from pipelines.errors import Code, Misconfigured, Rejected, SluiceError
from pipelines.wiring import make_reader
from schemas.source import Source
from tests.fakes_sources import secrets_of
from tests.reading import code_of, read


@pytest.fixture
def run(tmp_path):
    connection = sqlite3.connect(tmp_path / "a.db")

    def execute(statement, *values):
        with connection:
            connection.execute(statement, values)

    execute("CREATE TABLE faq (id INTEGER, question TEXT, answer TEXT, product TEXT, at TEXT)")
    yield execute
    connection.close()


@pytest.fixture
def reader(tmp_path):
    def make(location="faq", url=f"sqlite:///{tmp_path / 'a.db'}", **options):
        options = {"url": "SLUICE_SOURCE_DB", "key": "id", **options}
        source = Source(name="s", kind="sql", location=location, sql=options)
        place = type("Place", (), {"secrets": {"SLUICE_SOURCE_DB": url}})
        return make_reader(source, tmp_path, tmp_path, secrets_of(place), Patience(lambda _: None))

    return make


def test_a_row_is_a_title_a_list_and_a_body(run, reader):
    run("INSERT INTO faq VALUES (1, 'How *much*?', 'First.\n\nSecond.', 'A & B', 'now')")
    one = reader(title="question", body="answer", columns=["product"])
    assert [file.uri for file in one.files()] == ["1.html"]
    text = read(one, "1.html")
    for part in ("<h1>How *much*?</h1>", "<li>product: A &amp; B</li>", "<p>First.</p>\n<p>Second.</p>"):
        assert part in text
    assert "now" not in text
    one = reader(title="question", body="answer", format="markdown")
    list(one.files())
    assert read(one, "1.md").startswith("# How \\*much\\*?\n\n- product: A \\& B\n- at: now\n\nFirst.")


def test_without_a_column_for_it_any_change_of_a_row_is_seen(run, reader):
    run("INSERT INTO faq VALUES (1, 'q', 'a', 'p', 't'), (2, 'q', 'a', 'p', 't')")
    before = {file.uri: file.token for file in reader().files()}
    run("UPDATE faq SET product = 'x' WHERE id = 2")
    after = {file.uri: file.token for file in reader().files()}
    assert [uri for uri in before if before[uri] != after[uri]] == ["2.html"]


def test_with_a_column_for_it_no_other_is_read(run, reader, monkeypatch):
    run("INSERT INTO faq VALUES (1, 'q', 'a', 'p', 't')")
    asked = []
    page = sql.SqlReader._page
    monkeypatch.setattr(sql.SqlReader, "_page", lambda *given: [asked.append(one) or one for one in page(*given)])
    assert len(list(reader(updated="at").files())) == 1 and asked == [{"id": 1, "at": "t"}]


def test_more_rows_than_a_page_are_all_listed_once(run, reader):
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ?)"
    run(f"{many} INSERT INTO faq SELECT i, 'q', 'a', 'p', 't' FROM n", 2 * sql.PAGE + 1)
    assert len({file.uri for file in reader(updated="at").files()}) == 2 * sql.PAGE + 1


def test_a_query_chooses_rows(run, reader):
    run("INSERT INTO faq VALUES (1, 'q', 'a', 'p', 't'), (2, 'q', 'a', 'other', 't')")
    one = reader("support", query="SELECT id, question FROM faq WHERE product = 'p';", title="question")
    assert [file.uri for file in one.files()] == ["1.html"] and "<h1>q</h1>" in read(one, "1.html")


def test_all_rows_as_one_table(run, reader):
    run("INSERT INTO faq VALUES (1, 'a,\"b\"', 'line\nline', 'p', NULL), (2, 'q', 'a', 'p', 't')")
    one = reader(rows="table")
    (before,) = one.files()
    rows = list(csv.reader(read(one, before.uri).splitlines(keepends=True)))
    assert before.uri == "faq.csv" and rows[0] == ["id", "question", "answer", "product", "at"]
    assert rows[1] == ["1", 'a,"b"', "line\nline", "p", ""] and len(rows) == 3
    run("DELETE FROM faq WHERE id = 2")
    (after,) = reader(rows="table").files()
    assert after.token != before.token


def test_rows_without_a_key_are_one_problem(run, reader):
    run("INSERT INTO faq VALUES (NULL, 'q', 'a', 'p', 't'), (NULL, 'q', 'a', 'p', 't'), (3, 'q', 'a', 'p', 't')")
    one = reader()
    assert [file.uri for file in one.files()] == ["3.html"]
    assert [code for _, code, _ in one.problems] == [Code.SCAN_BAD_LISTING]


def test_a_key_that_is_none_is_refused(run, reader):
    run("INSERT INTO faq VALUES (1, 'q', 'a', 'p', 't'), (1, 'q', 'b', 'p', 't')")
    assert code_of(lambda: list(reader().files())) is Code.SCAN_BAD_LISTING


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"location": "absent"}, Code.SCAN_SOURCE_GONE),
        ({"key": "absent"}, Code.SCAN_SOURCE_GONE),
        ({"key": "Absent"}, Code.SCAN_SOURCE_GONE),
        ({"updated": "changedAt"}, Code.SCAN_SOURCE_GONE),
        ({"query": "SELECT * FROM faq", "updated": "changedAt"}, Code.SCAN_SOURCE_GONE),
        ({"query": "SELEC id FROM faq"}, Code.SCAN_BAD_LISTING),
        ({"query": "DELETE FROM faq"}, Code.SCAN_BAD_LISTING),
        ({"location": 'faq"; DROP TABLE faq; --'}, Code.SCAN_SOURCE_GONE),
        ({"url": "sqlite:////no/such/file.db"}, Code.SCAN_SOURCE_GONE),
        ({"url": "postgresql+nodriver://u:pw@h/d"}, Code.BAD_SOURCES),
        ({"url": "no url with pw"}, Code.BAD_SOURCES),
        ({"url": "mysql+pymysql://u:pw@127.0.0.1:9/d"}, Code.SCAN_SOURCE_DOWN),
    ],
)
def test_what_is_wrong_has_a_code_and_names_no_secret(run, reader, more, code):
    run("INSERT INTO faq VALUES (1, 'q', 'a', 'p', 't')")
    with pytest.raises(SluiceError) as caught:
        list(reader(**more).files())
    assert caught.value.code is code and "pw" not in str(caught.value)
    assert len(list(reader().files())) == 1


class Said(Exception):
    """As a driver says it: PyMySQL a number and a state, psycopg a state."""

    sqlstate = None


@pytest.mark.parametrize(
    ("number", "state", "code"),
    [
        (1045, "28000", Code.SCAN_SOURCE_DENIED),  # login refused
        (1044, "42000", Code.SCAN_SOURCE_DENIED),  # no right to the database
        (1142, "42000", Code.SCAN_SOURCE_DENIED),  # no right to the table
        (1049, "42000", Code.SCAN_SOURCE_GONE),  # no such database
        (1146, "42S02", Code.SCAN_SOURCE_GONE),  # no such table
        (1054, "42S22", Code.SCAN_SOURCE_GONE),  # no such column
        (1064, "42000", Code.SCAN_BAD_LISTING),  # syntax
        (2003, None, Code.SCAN_SOURCE_DOWN),  # no connection
        (1205, "HY000", Code.SCAN_SOURCE_DOWN),  # lock wait
        ("permission denied", "42501", Code.SCAN_SOURCE_DENIED),
        ("password authentication failed", "28P01", Code.SCAN_SOURCE_DENIED),
        ("relation does not exist", "42P01", Code.SCAN_SOURCE_GONE),
        ("the database system is starting up", "57P03", Code.SCAN_SOURCE_DOWN),
    ],
)
def test_what_servers_say_has_a_code(number, state, code):
    said = Said(number, "for user 'x'")
    said.sqlstate = state
    found = sql._of_source(OperationalError("SELECT 1", {}, said), "source s")
    assert found.code is code and "'x'" not in found.reason


def test_a_column_that_is_missing_ends_the_source_and_a_row_that_is_gone_only_itself(run, reader):
    run("INSERT INTO faq VALUES (1, 'q', 'a', 'p', 't'), (2, 'q', x'ff00', 'p', 't')")
    one = reader(body="text")
    list(one.files())
    with pytest.raises(Misconfigured):
        one.open("1.html")
    one = reader(body="answer")
    list(one.files())
    with pytest.raises(Rejected, match="no text"):
        one.open("2.html")
    run("DELETE FROM faq WHERE id = 1")
    with pytest.raises(Rejected, match="gone"):
        one.open("1.html")


def test_a_whole_html_page_stays_as_it_is():
    assert render("t", {"a": "b"}, "<!DOCTYPE html><p>x", "html") == b"<!DOCTYPE html><p>x"
    assert b"<title>&lt;t&gt;</title>" in render("<t>", {}, "<p>x</p>", "html")
