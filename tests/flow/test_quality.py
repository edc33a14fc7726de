"""The quality report on a small knowledge base: green when all is well, and each seeded defect is found."""

import copy
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import delete, func, insert, select, update

from pipelines.app import App
from pipelines.errors import Code, SluiceError
from pipelines.migrate import migrate
from pipelines.publish.gate import overrule
from pipelines.publish.publish import publish
from pipelines.report import drift, quality
from pipelines.report.page import page
from pipelines.report.settings import ReportSettings
from pipelines.review.decide import approve
from pipelines.review.quarantine import quarantine
from sql import tables
from tests.fakes import FakeEmbedder
from tests.fakes_index import FakeIndex
from tests.flow.conftest import SOURCES, TOPICS, Kb, open_kb

LONG = "The warehouse ledger of {n} lists pallets, crates, labels and drivers for each gate of the yard in turn. "
YARDS = [f"North yard {n}" for n in range(30)]


def failed(report: dict[str, Any]) -> set[str]:
    return {one["code"] for suite in report["suites"] for one in suite["expectations"] if not one["success"]}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kb]:
    """Release 1, five documents; not to be changed."""
    folder = tmp_path_factory.mktemp("published")
    (folder / "docs").mkdir()
    (folder / "sources.yaml").write_text(SOURCES, encoding="utf-8")
    made = open_kb(folder / "home", folder / "docs", FakeIndex(), FakeEmbedder())
    for topic, paragraphs in TOPICS.items():
        made.write(topic, *paragraphs)
    migrate(made.app)
    made.release()
    made.app.database.dispose()
    yield made


@pytest.fixture
def live(published: Kb, tmp_path: Path) -> Iterator[Kb]:
    """A copy of it."""
    shutil.copytree(published.docs.parent, tmp_path / "kb")
    made = open_kb(tmp_path / "kb" / "home", tmp_path / "kb" / "docs", copy.deepcopy(published.index), FakeEmbedder())
    yield made
    made.app.database.dispose()


def rows(kb: Kb) -> dict[str, Any]:
    """What the index holds, by id."""
    (held,) = kb.index.rows.values()
    return held


def change(kb: Kb, **values: Any) -> None:
    """Another value in the index than in SQL."""
    row = rows(kb)[one_chunk(kb, 6).id]
    rows(kb)[row.id] = row.model_copy(update=values)


def lose(kb: Kb) -> None:
    del rows(kb)[one_chunk(kb, 7).id]


def in_sql(kb: Kb, statement: Any) -> None:
    with kb.app.database.write() as tx:
        tx.execute(statement)


def one_chunk(kb: Kb, n: int = 0) -> Any:
    """The n-th of ten; two belong to each document."""
    c = tables.chunk
    with kb.app.database.read() as tx:
        return tx.execute(select(c).where(c.c.born == 1).order_by(c.c.document, c.c.id).offset(n).limit(1)).one()


def set_chunk(kb: Kb, n: int = 0, **values: Any) -> None:
    in_sql(kb, update(tables.chunk).where(tables.chunk.c.id == one_chunk(kb, n).id).values(**values))


def double(kb: Kb) -> None:
    row = one_chunk(kb, 3)
    in_sql(kb, insert(tables.chunk).values(**{**row._mapping, "id": f"{row.chunk}@9", "born": 0}))


def age(kb: Kb) -> None:
    in_sql(kb, update(tables.version).values(created=1.0))
    s = tables.source
    with kb.app.database.write() as tx:
        config = tx.execute(select(s.c.config)).scalar_one()
        tx.execute(update(s).values(config={**config, "fresh_days": 365}))


def shift(kb: Kb) -> None:
    """The release before had other lengths."""
    quality.measure(kb.app, docs=False)
    for yard in YARDS:
        kb.write(yard.replace(" ", "-"), LONG.format(n=yard) * 8, LONG.format(n=yard[::-1]) * 8)
    q = tables.quality_run
    with kb.app.database.write() as tx:
        report = tx.execute(select(q.c.report)).scalar_one()
        past = {"length": {"50": 60}, "quality": {"0.9": 60}, "language": {"en": 60}, "kind": {"text": 60}}
        tx.execute(update(q).values(report={**report, "distributions": past}))
    kb.release()


def unlink(kb: Kb) -> None:
    in_sql(kb, delete(tables.version_chunk).where(tables.version_chunk.c.chunk == one_chunk(kb, 4).chunk))


def orphan(kb: Kb) -> None:
    row = rows(kb)[one_chunk(kb, 6).id]
    rows(kb)["0" * 32 + "@1"] = row.model_copy(update={"id": "0" * 32 + "@1"})


def shrink(kb: Kb) -> None:
    where = tables.vector.c.content_hash == one_chunk(kb, 5).content_hash
    in_sql(kb, update(tables.vector).where(where).values(data=b"\0" * 12))


DEFECTS: dict[str, tuple[str, Callable[[Kb], None]]] = {
    "a row lost in the index": ("index.missing", lose),
    "a row that SQL does not know": ("index.orphan", orphan),
    "other rights in the index": ("index.acl", lambda kb: change(kb, acl=99)),
    "another interval in the index": ("index.interval", lambda kb: change(kb, died=1)),
    "a vector of another dimension in the index": ("index.dimension", lambda kb: change(kb, vector=(1.0,) * 7)),
    "a stored vector of another dimension": ("reference.dimension", shrink),
    "a lost vector": ("reference.vector", lambda kb: in_sql(kb, delete(tables.vector))),
    "a telephone number that was not masked": ("chunk.leak", lambda kb: set_chunk(kb, 1, text="请致电 13912345678")),
    "an empty text": ("chunk.empty", lambda kb: set_chunk(kb, 2, text="  \n")),
    "a chunk that is shown twice": ("chunk.doubled", double),
    "a chunk without title and section": ("chunk.no_title", lambda kb: set_chunk(kb, context="")),
    "a quality score out of range": ("chunk.quality_range", lambda kb: set_chunk(kb, quality=1.7)),
    "an unknown kind": ("chunk.kind", lambda kb: set_chunk(kb, kind="poem")),
    "a document dated in the future": ("chunk.dated_ahead", lambda kb: set_chunk(kb, dated=10**6)),
    "a row whose version no longer has it": ("reference.version", unlink),
    "a document without a title": ("document.no_title", lambda kb: in_sql(kb, update(tables.version).values(title=""))),
    "a document without a chunk": (
        "document.no_chunk",
        lambda kb: in_sql(kb, delete(tables.chunk).where(tables.chunk.c.document == one_chunk(kb, 8).document)),
    ),
    "a stale document": ("document.stale", age),
    "lengths that have shifted": ("shift.length", shift),
}


def test_a_clean_release_is_green(live: Kb) -> None:
    report = quality.measure(live.app, docs=False)
    assert failed(report) == set()
    assert report["success"]
    assert {suite["name"] for suite in report["suites"]} == {"chunks", "documents", "references", "index", "shift"}


TOGETHER = set(DEFECTS) - {"a lost vector", "a document without a title", "lengths that have shifted"}


def test_seeded_defects_are_found_at_once(live: Kb) -> None:
    wanted = set()
    for name in sorted(TOGETHER):
        code, seed = DEFECTS[name]
        seed(live)
        wanted.add(code)
    assert wanted <= failed(quality.measure(live.app, docs=False))


@pytest.mark.slow
@pytest.mark.parametrize("name", DEFECTS)
def test_each_seeded_defect_is_found_by_its_expectation(live: Kb, name: str) -> None:
    code, seed = DEFECTS[name]
    seed(live)
    report = quality.measure(live.app, docs=False)
    assert code in failed(report)
    found = next(one for suite in report["suites"] for one in suite["expectations"] if one["code"] == code)
    assert found["failed"]
    assert found["examples"] or found["observed"] is not None


def test_what_is_in_quarantine_is_no_defect(live: Kb) -> None:
    set_chunk(live, text="请致电 13912345678")
    quarantine(live.app, "chunk", one_chunk(live).chunk, "a telephone number")
    assert "chunk.leak" not in failed(quality.measure(live.app, docs=False))


def test_the_report_is_stored_with_data_docs_that_load_nothing_from_outside(live: Kb) -> None:
    report = quality.measure(live.app)
    with live.app.database.read() as tx:
        stored = quality.latest(tx, live.app.kb, 1)
    assert stored is not None
    assert (stored["run"], stored["success"]) == (report["run"], True)
    keys = list(live.app.artifacts.keys(f"reports/main/{report['run']}"))
    assert report["data_docs"] in keys
    for key in keys:
        text = live.app.artifacts.get(key).decode()
        assert "<script" not in text
        assert 'src="http' not in text
        assert "<link" not in text


def broken(kb: Kb) -> int:
    """A release in review with a chunk of a quality out of range."""
    number = int(kb.sync().built.number or 0)
    vc = tables.version_chunk
    with kb.app.database.write() as tx:
        one = tx.execute(select(vc.c.chunk).order_by(vc.c.chunk).limit(1)).scalar_one()
        tx.execute(update(vc).where(vc.c.chunk == one).values(quality=1.7))
    return number


def with_settings(app: App, **values: Any) -> App:
    return replace(app, settings=app.settings.model_copy(update={"report": ReportSettings(**values)}))


def test_a_critical_failure_of_what_is_staged_is_a_risk_and_blocks_the_gate_until_a_person_overrules_it(kb: Kb) -> None:
    number = broken(kb)
    report = quality.measure(kb.app, number, docs=False)
    assert (report["scope"], failed(report)) == ("staged", {"chunk.quality_range"})
    with kb.app.database.read() as tx:
        risks = tx.execute(select(tables.release_item.c.risk)).scalars().all()
        assert quality.blocked(tx, kb.app.kb, number) == ["chunk.quality_range"]
    assert sum("quality" in risk for risk in risks) == 1
    approve(kb.app, number, "looks right")
    with pytest.raises(SluiceError) as stopped:
        publish(kb.app, number)
    assert stopped.value.code == Code.GATE_FAILED
    assert "chunk.quality_range" in stopped.value.reason
    overrule(kb.app, number, "known, and harmless")
    approve(kb.app, number, "looks right all the same")
    assert publish(kb.app, number).live_release == number


@pytest.mark.slow
def test_the_gate_can_be_off(kb: Kb) -> None:
    number = broken(kb)
    quality.measure(kb.app, number, docs=False)
    approve(kb.app, number, "looks right")
    assert publish(with_settings(kb.app, gate="off"), number).live_release == number


@pytest.mark.slow
def test_a_build_runs_the_suites_where_the_site_wants_it(kb: Kb) -> None:
    replace(kb, app=with_settings(kb.app, at_build=True)).sync()
    q = tables.quality_run
    with kb.app.database.read() as tx:
        runs = tx.execute(select(q.c.scope, func.count()).group_by(q.c.scope)).all()
    assert runs == [("staged", 1)]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_html_page_holds_no_script_and_each_chart(language: str) -> None:
    hostile = '<script>alert(1)</script>"><img src=x onerror=alert(2)>'
    shown = {"documents": 5, "outcomes": {"published": 5, hostile: 1}, "rejections": {hostile: 3}, "pages": 9}
    shown |= {"masking": {"PHONE": 4}, "duplicates": {"near": 2}, "ocr_pages": 3}
    one = {"code": hostile, "title": {"en": hostile, "zh": hostile}, "severity": "critical", "success": False}
    one |= {"checked": 5, "failed": 1, "observed": None, "examples": [{"row": hostile, "document": hostile}]}
    report = {
        "kb": hostile,
        "release": 3,
        "scope": "live",
        "at": 1.8e9,
        "failed": {"critical": 1, "warning": 0},
        "suites": [{"name": "chunks", "success": False, "expectations": [one]}],
        "distributions": {"length": {"0": 3}, "quality": {"0.8": 2}, "language": {"en": 2}, "kind": {"text": 2}},
        "shift": {"psi_length": 0.1, "psi_quality": 0.0, "psi_language": 0.0, "psi_kind": 0.0, "chunks_ratio": 1.0},
        "figures": {**shown, "parse_seconds": {"median": 0.2, "p95": 1.0, "total": 3.0}},
    }
    made = page(report, [{**report, "release": 2}, report], language)
    assert "<script" not in made
    assert "<img" not in made
    assert made.count("<svg") == 12


@given(
    st.dictionaries(st.text(max_size=4), st.integers(0, 10**6)), st.dictionaries(st.text(max_size=4), st.integers(0, 9))
)
def test_the_stability_index_is_never_negative_and_zero_for_the_same(
    before: dict[str, int], after: dict[str, int]
) -> None:
    assert drift.psi(before, before) == 0
    assert drift.psi(before, after) >= 0


def test_rules_on_trial_stand_beside_acting_ones_in_the_report(live: Kb) -> None:
    report = quality.measure(live.app, docs=False)
    trial = {one["rule"]: one["hits"] for one in report["rules"] if not one["acting"]}
    assert trial == {"outdated": 0, "template": 0}
    live.write("forms-template", "The approval form for a journey names the traveller, the town and the purpose.")
    live.release()
    report = quality.measure(live.app, docs=False)
    assert {one["rule"]: one["hits"] for one in report["rules"] if not one["acting"]} == {"outdated": 0, "template": 1}
    assert "on trial" in page(report, []) and "试运行" in page(report, [], "zh")
