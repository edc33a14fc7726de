"""Who was answered with what: counts, questions, CSV, and the audit."""

import csv
import json
from pathlib import Path

import pytest
import typer

from pipelines import cli_impact
from pipelines.publish.rollback import rollback
from pipelines.report import views
from pipelines.report.impacts import asked
from pipelines.review.quarantine import impact
from tests.flow.conftest import Kb


@pytest.fixture
def used(kb: Kb) -> Kb:
    kb.release()
    kb.hits("laptops are replaced")
    return kb


def test_the_impact_of_a_document_counts_questions_between_two_times(used: Kb) -> None:
    document = used.document("Laptops")
    now = used.app.clock()
    with used.app.database.read() as tx:
        all_, later = (
            impact(tx, used.app.kb, "document", document, since=since, until=until)
            for since, until in ((now - 600, now + 600), (now + 600, 0))
        )
        rows = asked(tx, used.app.kb, "document", document, since=now - 600)
    assert (all_.queries, all_.users, later.queries) == (2, 1, 0)
    assert {row.query for row in rows} == {"laptops are replaced", "Laptops"}


def test_a_rollback_notes_who_was_answered_by_the_release_that_was_left(used: Kb) -> None:
    rollback(used.app, 0, "all wrong")
    with used.app.database.read() as tx:
        entries = views.audit(tx, used.app.kb, True)
    (noted,) = [one for one in entries["entries"] if one["action"] == "kb.rollback_impact"]
    assert (noted["subject"], noted["reason"]) == ("1", "all wrong")
    assert json.loads(noted["detail"])["queries"] == 1
    assert entries["verified"]


def test_the_csv_opens_in_a_spreadsheet_and_runs_no_formula(tmp_path: Path) -> None:
    row = {"at": "2026-11-30T08:00:00+00:00", "user": "ann", "release": 1, "chunks": 2, "cited": True}
    cli_impact._write(tmp_path / "out.csv", [{**row, "query": "=HYPERLINK(1)"}, {**row, "query": "年假, 几天"}])
    text = (tmp_path / "out.csv").read_bytes()
    assert text.startswith(b"\xef\xbb\xbf")
    read = list(csv.DictReader(text.decode("utf-8-sig").splitlines()))
    assert [one["query"] for one in read] == ["'=HYPERLINK(1)", "年假, 几天"]


def test_a_time_is_iso_and_utc_unless_it_says_so() -> None:
    assert cli_impact._seconds("1970-01-02") == 86400
    assert cli_impact._seconds("1970-01-01T08:00:00+08:00") == 0
    assert cli_impact._seconds(None) == 0
    with pytest.raises(typer.BadParameter):
        cli_impact._seconds("yesterday")
