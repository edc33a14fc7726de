"""A reviewer's edit of a chunk: masked, shown, kept over syncs, told when its ground is gone."""

import pytest
from sqlalchemy import select

from pipelines import flow
from pipelines.errors import Code, Conflict, Rejected
from pipelines.publish.publish import publish
from pipelines.report import views
from pipelines.review.decide import approve
from pipelines.review.edit import edit, hold_chunk, undo
from sql import tables
from tests.flow.conftest import TOPICS, Kb

OLD = TOPICS["leave"][1]
NEW = "Unused holidays expire at the end of May, says the staff council."


def chunk(kb: Kb, words: str) -> str:
    return next(str(one["chunk"]) for one in kb.hits(words) if words in one["text"])


def release(kb: Kb) -> int:
    number = int(flow.take_up(kb.app).number or 0)
    approve(kb.app, number, "agreed")
    publish(kb.app, number)
    return number


def risks(kb: Kb, number: int) -> list[str]:
    with kb.app.database.read() as tx:
        return list(
            tx.execute(select(tables.release_item.c.risk).where(tables.release_item.c.release == number)).scalar_one()
        )


def test_an_edit_is_reviewed_embedded_once_and_survives_syncs(kb: Kb) -> None:
    kb.release()
    kb.embedder.embedded.clear()
    edit(kb.app, chunk(kb, OLD), NEW, "the council said so")
    assert kb.shows(OLD)
    number = int(flow.take_up(kb.app).number or 0)
    assert "edited" in risks(kb, number) and kb.shows(OLD) and len(kb.embedder.embedded) == 1
    approve(kb.app, number, "agreed")
    publish(kb.app, number)
    assert kb.shows(NEW) and not kb.shows(OLD) and kb.shows(OLD, as_of=1)
    kb.write("leave", TOPICS["leave"][0] + " Ask your team lead first.", OLD)
    kb.release()
    assert kb.shows("Ask your team lead") and kb.shows(NEW) and not kb.shows(OLD)


def test_an_edit_ends_when_the_chunk_changes_and_the_reviewer_is_told(kb: Kb) -> None:
    kb.release()
    edit(kb.app, chunk(kb, OLD), NEW, "the council said so")
    release(kb)
    kb.write("leave", TOPICS["leave"][0], "Unused holidays never expire.")
    number = int(kb.sync().built.number or 0)
    assert "edit_lost" in risks(kb, number) and "edited" not in risks(kb, number)
    approve(kb.app, number, "seen")
    publish(kb.app, number)
    assert kb.shows("never expire") and not kb.shows(NEW)


def test_personal_data_in_an_edit_is_masked(kb: Kb) -> None:
    kb.release()
    edit(kb.app, chunk(kb, OLD), f"{NEW} Call 13812345678.", "a number to call")
    release(kb)
    assert kb.shows(NEW) and not kb.shows("13812345678")
    with kb.app.database.read() as tx:
        assert "13812345678" not in str(tx.execute(select(tables.overlay)).all())


def test_an_edit_can_be_taken_back_and_a_chunk_held(kb: Kb) -> None:
    kb.release()
    subject = chunk(kb, OLD)
    edit(kb.app, subject, NEW, "the council said so")
    release(kb)
    undo(kb.app, subject, "edit", "they did not")
    release(kb)
    assert kb.shows(OLD) and not kb.shows(NEW)
    hold_chunk(kb.app, subject, "under discussion")
    release(kb)
    assert not kb.shows(OLD) and kb.shows(TOPICS["leave"][0])
    undo(kb.app, subject, "hold", "settled")
    release(kb)
    assert kb.shows(OLD)


def test_an_edit_of_what_waits_for_review_takes_its_place_there(kb: Kb) -> None:
    first = int(kb.sync().built.number or 0)
    with kb.app.database.read() as tx:
        vc, v = tables.version_chunk, tables.version
        home = select(vc.c.chunk).join(v, v.c.id == vc.c.version).where(v.c.title == "About the leave")
        subject = str(tx.execute(home.order_by(vc.c.ordinal.desc()).limit(1)).scalar_one())
    edit(kb.app, subject, NEW, "the council said so")
    assert release(kb) == first + 1
    assert kb.shows(NEW) and not kb.shows(OLD) and kb.shows("Laptops")


def test_an_edit_is_shown(kb: Kb) -> None:
    kb.release()
    subject = chunk(kb, OLD)
    edit(kb.app, subject, NEW, "the council said so")
    release(kb)
    with kb.app.database.read() as tx:
        shown = views.show(tx, kb.app.kb, subject)
        change = views.diff(tx, kb.app.kb, 1, 2)
    (one,) = shown["overlays"]
    assert (one["kind"], one["actor"], one["reason"]) == ("edit", "tester", "the council said so")
    assert [(one["text"], one["edited"]) for one in change["added"]] == [(NEW, True)]


@pytest.mark.parametrize(("text", "code"), [("  ", Code.PARSE_NO_TEXT), ("word " * 600, Code.CHUNK_TOO_LONG)])
def test_an_edit_that_cannot_be_indexed_is_refused(kb: Kb, text: str, code: Code) -> None:
    kb.release()
    with pytest.raises(Rejected) as caught:
        edit(kb.app, chunk(kb, OLD), text, "why not")
    assert caught.value.code is code
    with pytest.raises(Conflict):
        edit(kb.app, "nothing", NEW, "why not")
