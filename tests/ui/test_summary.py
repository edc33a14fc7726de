"""What Airflow's question tells about a release."""

import re

import pytest
from markdown_it import MarkdownIt

from pipelines.report.queue import Entry, Kind, Name, entries, queue
from pipelines.report.scope import Person, scope_of
from pipelines.report.summary import _row, summary


@pytest.fixture(scope="module")
def told(built):
    with built.app.database.read() as tx:
        return summary(tx, built.app.kb, 3)


def test_titles_come_in_the_order_of_the_queue_each_with_a_link_to_its_page(told, built):
    with built.app.database.read() as tx:
        scope = scope_of(tx, built.app.kb, Person("", admin=True))
        order = [one.document for one in entries(tx, scope, queue(tx, scope, 3))]
    linked = re.findall(r"/releases/3/review/(\w+)\)", told)
    assert [one for one in linked if one in order] == order
    assert "(restricted)" in told
    assert all(f"[{title}]" in told for title in ("About the leave", "About the canteen"))


def test_a_title_that_not_everyone_may_read_is_not_told(told):
    assert "bonus" not in told.lower()


@pytest.mark.parametrize(
    "title", ["a | b", "<img src=x onerror=alert(1)>", "[x](javascript:alert(1))", "![i](//e.x/p)"]
)
def test_marks_in_a_title_are_text(title):
    kind = Kind("docs", "add", ("pii",), "pending", "look", 1, True, 1, "[]")
    head = "| risk | document | source | change | decision |\n|---|---|---|---|---|\n"
    html = (
        MarkdownIt("commonmark", {"html": True})
        .enable("table")
        .render(head + _row(Entry("d1", kind), {"d1": Name(title, "uri")}, "/page"))
    )
    assert html.count("<td>") == 5 and html.count("<a ") == 1 and "<img" not in html
