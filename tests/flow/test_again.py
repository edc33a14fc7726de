"""What is known is processed anew: beside what readers see, only where something changed, and never half."""

from dataclasses import replace

import pytest
from sqlalchemy import select

from pipelines.backfill import Selection
from pipelines.errors import Code, Rejected
from pipelines.publish.publish import publish
from pipelines.review.decide import approve
from sql import tables
from tests.flow.conftest import TOPICS, Kb

LONG = " ".join(
    f"Sentence {number} says what is to be known about rule {number} of the handbook." for number in range(4)
)


def changed(kb: Kb, **settings) -> None:
    """The same knowledge base under other settings."""
    kb.app = replace(kb.app, settings=kb.app.settings.model_copy(update=settings))


def broken(*_):
    raise Rejected(Code.PARSE_CORRUPT, "cannot be read")


def states(kb: Kb) -> list[tuple[str, int, str]]:
    v, d = tables.version, tables.document
    with kb.app.database.read() as tx:
        rows = tx.execute(select(d.c.uri, v.c.number, v.c.state).join(d, d.c.id == v.c.document))
        return sorted(map(tuple, rows))


def settings(kb: Kb, part: str, **values):
    return {part: getattr(kb.app.settings, part).model_copy(update=values)}


def test_nothing_is_processed_anew_when_neither_code_nor_settings_changed(kb: Kb) -> None:
    kb.release()
    before = states(kb)
    report = kb.sync(again=Selection("parse")).as_json()
    assert (report["release"], report["files"]["parsed"]) == (None, 0)
    assert states(kb) == before


def test_a_changed_setting_reaches_only_the_layers_that_read_it(kb: Kb) -> None:
    kb.release()
    kb.embedder.embedded.clear()
    changed(kb, **settings(kb, "extract", keywords=3))
    report = kb.sync(again=Selection("parse")).as_json()
    assert report["files"]["parsed"] == 0 and report["calls"]["embed"] == 0
    assert kb.embedder.embedded == []


def test_what_comes_out_the_same_is_nothing_to_review_and_is_done_once(kb: Kb) -> None:
    kb.release()
    before = states(kb)
    changed(kb, **settings(kb, "dedup", max_candidates=63))
    assert kb.sync(again=Selection("parse")).built.number is None
    assert states(kb) == before
    with kb.app.database.read() as tx:
        actions = tx.execute(select(tables.audit.c.action)).scalars().all()
    assert actions.count("version.unchanged") == len(TOPICS)
    kb.sync(again=Selection("parse"))
    with kb.app.database.read() as tx:
        assert tx.execute(select(tables.audit.c.action)).scalars().all() == actions


def test_what_comes_out_changed_is_a_new_item_while_readers_keep_what_they_have(kb: Kb) -> None:
    kb.write("rules", LONG)
    kb.release()
    before = kb.hits("rule handbook office")
    texts = kb.texts()
    changed(kb, **settings(kb, "chunk", max_characters=60))
    report = kb.sync(again=Selection("parse"))
    assert report.built.number == 2
    assert kb.hits("rule handbook office") == before
    approve(kb.app, 2, "finer chunks")
    publish(kb.app, 2)
    assert len(kb.texts()) > len(texts)
    assert kb.texts(as_of=1) == texts


def test_a_layer_before_the_chosen_one_is_left_alone(kb: Kb) -> None:
    kb.release()
    before = states(kb)
    changed(kb, **settings(kb, "chunk", max_characters=60))
    assert kb.sync(again=Selection("mask")).built.number is None
    assert states(kb) == before


def test_a_forced_run_goes_on_in_slices_and_ends(kb: Kb) -> None:
    kb.release()
    parsed = []
    for _ in range(4):
        report = kb.sync(again=Selection("parse", token="t1", limit=2)).as_json()
        parsed.append(report["files"]["parsed"])
    assert parsed == [2, 2, 1, 0]
    assert kb.sync(again=Selection("parse")).as_json()["files"]["parsed"] == 0


@pytest.mark.parametrize(("chosen", "count"), [({"glob": "l*.md"}, 2), ({"sources": ("other",)}, 0), ({}, 5)])
def test_a_selection_by_path_and_source(kb: Kb, chosen, count) -> None:
    kb.release()
    report = kb.sync(again=Selection("parse", token="t1", **chosen)).as_json()
    assert report["files"]["parsed"] == count


def test_what_a_layer_rejects_anew_leaves_readers_what_they_have(kb: Kb) -> None:
    kb.release()
    before = kb.texts()
    sound = kb.app.parse
    kb.app = replace(kb.app, parser_version="broken", parse=broken)
    report = kb.sync(again=Selection("parse"))
    assert {one["code"] for one in report.rejected_files} == {"parse.corrupt"}
    assert report.built.number is None and kb.texts() == before
    assert kb.sync(again=Selection("parse")).rejected_files == []
    kb.app = replace(kb.app, parser_version="mended", parse=sound)
    report = kb.sync(again=Selection("parse"))
    assert (report.built.number, report.rejected_files) == (None, [])
    assert {state for _, _, state in states(kb)} == {"published"}


def test_content_that_comes_back_is_a_new_edition_and_history_stays(kb: Kb) -> None:
    kb.release()
    kb.write("leave", "Nobody has any leave at all.")
    kb.release()
    kb.write("leave", *TOPICS["leave"])
    kb.release()
    assert kb.shows("twenty five days") and not kb.shows("Nobody has any")
    assert kb.shows("Nobody has any", as_of=2) and kb.shows("twenty five days", as_of=1)


def test_a_change_that_is_taken_back_before_its_review_leaves_nothing_to_review(kb: Kb) -> None:
    kb.release()
    kb.write("leave", "Nobody has any leave at all.")
    assert kb.sync().built.number == 2
    kb.write("leave", *TOPICS["leave"])
    assert kb.sync().built.number is None
    with kb.app.database.read() as tx:
        assert tx.execute(select(tables.release.c.state).where(tables.release.c.number == 2)).scalar() == "superseded"
