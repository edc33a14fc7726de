"""Change of the embedder: beside the live collection, then at once; readers notice better answers at most."""

import threading
from dataclasses import replace

import pytest
from sqlalchemy import select

from pipelines.errors import Code, Conflict, Misconfigured, SluiceError
from pipelines.publish.collections import collections
from pipelines.publish.forget import forget
from pipelines.publish.index_rows import write_rows
from pipelines.publish.reconcile import reconcile
from pipelines.publish.reembed import fill, reembed
from pipelines.publish.rollback import rollback
from pipelines.publish.vacuum import vacuum
from sql import tables
from tests.fakes import FakeEmbedder
from tests.flow.conftest import Kb

EDITED = "Unused holidays now expire at the end of June."


class Crossed(FakeEmbedder):
    """Vectors of another model: as many numbers, other places."""

    def _vector(self, text):
        return super()._vector(text)[::-1].copy()


def with_next(kb: Kb) -> FakeEmbedder:
    """Wire a second embedder beside the first."""
    second = Crossed(dimension=32, fingerprint="fa4e00000002")
    kb.app = replace(kb.app, embedders={"next": lambda: second})
    return second


def states(kb: Kb) -> dict[str, str]:
    with kb.app.database.read() as tx:
        return {one.embedder: one.state for one in collections(tx, kb.app.kb)}


def test_readers_see_the_same_texts_before_and_after_and_only_texts_are_embedded(kb: Kb) -> None:
    kb.release()
    kb.write("leave", "Annual leave is twenty five days for everybody.", EDITED)
    kb.release()
    before = {as_of: kb.texts(as_of) for as_of in (None, 1, 2)}
    second = with_next(kb)
    done = reembed(kb.app, "next", "a better model")
    assert {as_of: kb.texts(as_of) for as_of in (None, 1, 2)} == before
    assert done["calls"]["embed"] == len(second.embedded) == len(set(second.embedded)) > 0
    assert states(kb) == {"fa4e00000001": "kept", "fa4e00000002": "live"}
    assert reconcile(kb.app, repair=False)["faults"] == []
    assert reembed(kb.app, "next", "again")["rows"] == 0


def test_after_the_switch_publications_and_rollbacks_use_the_new_one(kb: Kb) -> None:
    kb.release()
    second = with_next(kb)
    reembed(kb.app, "next", "a better model")
    kb.embedder.embedded.clear()
    second.embedded.clear()
    kb.write("leave", "Annual leave is twenty five days for everybody.", EDITED)
    kb.release()
    assert kb.shows(EDITED)
    assert (len(kb.embedder.embedded), len(second.embedded)) == (0, 1)
    rollback(kb.app, 1, "wrong")
    assert not kb.shows(EDITED)
    assert reconcile(kb.app, repair=False)["faults"] == []


def test_a_publication_while_it_fills_is_in_both(kb: Kb) -> None:
    kb.release()
    with_next(kb)
    published = []

    def interfere(place: str) -> None:
        if place == "reembed.batch" and not published:
            published.append(True)
            kb.write("sports", "The swimming pool is free for members of staff.")
            (kb.docs / "canteen.md").unlink()
            kb.release()
            assert states(kb)["fa4e00000002"] == "filling"
            assert any("swim" in row.lexical for row in kb.index.rows["kb_main__fa4e00000002"].values())

    reembed(replace(kb.app, checkpoint=interfere), "next", "a better model")
    assert kb.shows("swimming pool") and not kb.shows("Lunch is served")
    assert kb.shows("Lunch is served", as_of=1)
    assert reconcile(kb.app, repair=False)["faults"] == []


def test_queries_never_fail_and_always_see_one_whole_release(kb: Kb) -> None:
    kb.release()
    with_next(kb)
    whole, seen, stop = kb.texts(), [], threading.Event()

    def read() -> None:
        while not stop.is_set():
            seen.append(kb.texts())

    reader = threading.Thread(target=read)
    reader.start()
    reembed(kb.app, "next", "a better model")
    reembed(kb.app, "", "and back")
    stop.set()
    reader.join()
    assert len(seen) > 2 and all(one == whole for one in seen)


def test_a_changed_embedder_is_refused_until_it_has_been_re_embedded(kb: Kb) -> None:
    kb.release()
    second = Crossed(dimension=32, fingerprint="fa4e00000002")
    before = kb.texts()
    changed = replace(kb, app=replace(kb.app, embedder=lambda: second))
    for act in (changed.texts, changed.sync):
        with pytest.raises(Misconfigured) as caught:
            act()
        assert caught.value.code is Code.EMBEDDER_CHANGED
    reembed(changed.app, "", "the settings changed")
    assert changed.texts() == before
    with pytest.raises(Misconfigured):
        kb.texts()


def test_going_back_embeds_nothing_and_catches_up(kb: Kb) -> None:
    kb.release()
    with_next(kb)
    reembed(kb.app, "next", "a better model")
    kb.write("leave", "Annual leave is twenty five days for everybody.", EDITED)
    kb.release()
    kb.embedder.embedded.clear()
    reembed(kb.app, "", "it was not better")
    assert len(kb.embedder.embedded) == 1
    assert kb.shows(EDITED)
    assert reconcile(kb.app, repair=False)["faults"] == []


def test_a_collection_that_does_not_hold_all_rows_never_goes_live(kb: Kb, monkeypatch) -> None:
    kb.release()
    with_next(kb)
    monkeypatch.setattr("pipelines.publish.reembed.write_rows", lambda app, one, rows: write_rows(app, one, rows[1:]))
    with pytest.raises(SluiceError) as caught:
        reembed(kb.app, "next", "a better model")
    assert caught.value.code in (Code.RELEASE_READ_BACK, Code.GATE_FAILED)
    assert states(kb)["fa4e00000001"] == "live"


def test_the_old_collection_stays_until_a_vacuum_and_an_erasure_reaches_both(kb: Kb) -> None:
    kb.release()
    with_next(kb)
    reembed(kb.app, "next", "a better model")
    document = kb.document("Lunch is served")
    forget(kb.app, "document", document, "asked for")
    assert len(kb.index.rows) == 2
    assert not [row for held in kb.index.rows.values() for row in held.values() if row.document == document]
    vacuum(kb.app)
    assert list(kb.index.rows) == ["kb_main__fa4e00000002"]
    with kb.app.database.read() as tx:
        assert set(tx.execute(select(tables.vector.c.embedder)).scalars()) == {"fa4e00000002"}


def test_two_at_once_are_one_and_a_conflict(kb: Kb) -> None:
    kb.release()
    with_next(kb)
    with kb.app.database.lock("reembed-main"), pytest.raises(Conflict) as caught:
        reembed(kb.app, "next", "a better model")
    assert caught.value.code is Code.LOCKED


def test_an_unknown_embedder_is_named_with_those_that_are_known(kb: Kb) -> None:
    with_next(kb)
    with pytest.raises(Misconfigured, match="next"):
        reembed(kb.app, "nothing", "typo")


def test_filling_twice_writes_nothing_twice(kb: Kb) -> None:
    kb.release()
    with_next(kb)
    reembed(kb.app, "next", "a better model")
    with kb.app.database.read() as tx:
        live = next(one for one in collections(tx, kb.app.kb) if one.state == "live")
    assert fill(kb.app, live, alone=True).written == 0
