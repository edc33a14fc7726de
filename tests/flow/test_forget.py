"""Erasure: nothing of a document is left anywhere, it does not come back, and what stays is whole."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from pipelines.backfill import Selection
from pipelines.errors import Code, Conflict, Transient
from pipelines.lifecycle import verify_audit
from pipelines.publish.collections import Collection
from pipelines.publish.forget import forget
from pipelines.publish.publish import publish
from pipelines.publish.reconcile import reconcile
from pipelines.publish.reembed import drop, reembed
from pipelines.review.decide import approve
from sql import tables
from tests.fakes import FakeEmbedder
from tests.flow.conftest import Kb

SECRET = "The zebrafish aquarium is cleaned by the quokka society on alternate Thursdays."


@pytest.fixture
def held(kb: Kb) -> Kb:
    """Three releases; the secret is in the first two versions of its document."""
    kb.write("aquarium", SECRET, "Guests feed nothing to the animals behind the glass.")
    kb.release()
    kb.write("aquarium", SECRET, "Guests may feed the animals behind the glass on Sundays.")
    kb.release()
    kb.write("sports", "The swimming pool is free for members of staff.")
    kb.release()
    return kb


def places_of(kb: Kb, word: str) -> list[str]:
    """Every place under the home, the index and the tables that holds the word in any case."""
    needle = word.casefold().encode()
    found = [
        str(one.relative_to(kb.home))
        for one in kb.home.rglob("*")
        if one.is_file() and needle in one.read_bytes().lower()
    ]
    with kb.app.database.read() as tx:
        for table in tables.metadata.sorted_tables:
            found += [
                f"table {table.name}" for row in tx.execute(select(table)) if word.casefold() in str(row).casefold()
            ]
    for name, rows in kb.index.rows.items():
        found += [f"index {name}" for row in rows.values() if word.casefold() in str(row).casefold()]
    return found


def test_nothing_of_an_erased_document_is_left_anywhere(held: Kb) -> None:
    document = held.document("zebrafish")
    assert places_of(held, "zebrafish")
    others = {as_of: {t for t in held.texts(as_of) if "glass" not in t and "zebrafish" not in t} for as_of in (1, 2, 3)}
    done = forget(held.app, "document", document, "the society asked for it")
    assert places_of(held, "zebrafish") == []
    assert places_of(held, "quokka") == []
    assert places_of(held, "aquarium.md") == []
    for as_of in (1, 2, 3):
        assert held.texts(as_of) == others[as_of]
    assert reconcile(held.app, repair=False)["faults"] == []
    certificate = done["certificate"]
    assert certificate["documents"] == [document]
    assert len(certificate["versions"]) == 2
    assert not any(certificate["left"].values())
    assert {"chunk", "vector", "artifacts", "version", "document"} <= set(certificate["deleted"])
    assert done["impact"]["queries"] >= 1


def test_no_table_still_names_what_was_erased_but_those_that_prove_it(held: Kb) -> None:
    document = held.document("zebrafish")
    with held.app.database.read() as tx:
        v, vc = tables.version.c, tables.version_chunk.c
        versions = list(tx.execute(select(v.id).where(v.document == document)).scalars())
        chunks = list(tx.execute(select(vc.chunk).where(vc.version.in_(versions))).scalars())
    forget(held.app, "document", document, "asked for")
    ids = [document, *versions, *chunks]
    with held.app.database.read() as tx:
        naming = {
            table.name
            for table in tables.metadata.sorted_tables
            for row in tx.execute(select(table))
            if any(one in str(row) for one in ids)
        }
    assert naming <= {"audit", "erasure", "tombstone", "decision", "rejection"}


def test_an_erased_document_does_not_come_back_from_its_place_or_elsewhere(held: Kb, tmp_path: Path) -> None:
    forget(held.app, "document", held.document("zebrafish"), "asked for")
    shutil.copy(held.docs / "aquarium.md", held.docs / "copy.md")
    for options in ({}, {"full": True}):
        report = held.sync(**options).as_json()
        assert report["release"] is None
        assert [one["code"] for one in report["rejections"]] == [Code.FORGOTTEN.value] * 2
    assert [one for one in places_of(held, "zebrafish") if "docs" not in one] == []


def test_a_certificate_is_sealed_by_the_audit_chain_and_given_again(held: Kb) -> None:
    document = held.document("zebrafish")
    first = forget(held.app, "document", document, "asked for")["certificate"]
    assert forget(held.app, "document", document, "once more")["certificate"] == first
    with held.app.database.read() as tx:
        assert verify_audit(tx)[1] is None
        last = select(tables.audit.c.detail).where(tables.audit.c.action == "forget.done")
        assert first["sha256"] in tx.execute(last).scalar_one()
    with pytest.raises(Conflict) as caught:
        forget(held.app, "document", "0" * 32, "never was")
    assert caught.value.code is Code.UNKNOWN_SUBJECT


def test_one_version_goes_and_what_others_share_stays(held: Kb) -> None:
    document = held.document("zebrafish")
    with held.app.database.read() as tx:
        v = tables.version.c
        first = tx.execute(select(v.id).where(v.document == document, v.number == 1)).scalar_one()
    forget(held.app, "version", first, "the first draft")
    assert places_of(held, "Guests feed nothing") == []
    assert not held.shows("zebrafish", as_of=1)
    assert held.shows("zebrafish", as_of=2) and held.shows("zebrafish")
    assert reconcile(held.app, repair=False)["faults"] == []


def test_a_whole_source_goes_and_is_not_read_again(held: Kb) -> None:
    forget(held.app, "source", "notes", "the contract has ended")
    assert places_of(held, "zebrafish") == places_of(held, "vegetarian") == []
    assert held.texts() == set()
    report = held.sync().as_json()
    assert report["files"]["seen"] == 0
    assert [one["code"] for one in report["rejections"]] == [Code.FORGOTTEN.value]


def test_a_duplicate_that_was_not_shown_shows_after_its_twin_is_erased(kb: Kb) -> None:
    kb.write(
        "canteen2", "Lunch is served between noon and two o'clock.", "Vegetarian dishes are offered on every weekday."
    )
    kb.release()
    document = kb.document("Lunch is served")
    certificate = forget(kb.app, "document", document, "asked for")["certificate"]
    kb.write("sports", "The swimming pool is free for members of staff.")
    approve(kb.app, number := int(kb.sync().built.number or 0), "new")
    publish(kb.app, number)
    assert kb.shows("Lunch is served")
    assert kb.document("Lunch is served") != document
    assert certificate["copies"] == []
    assert reconcile(kb.app, repair=False)["faults"] == []


def forgets(kb: Kb) -> None:
    forget(kb.app, "document", kb.document("swimming"), "asked for")


def re_embeds(kb: Kb) -> None:
    reembed(kb.app, "next", "a better model")
    drop(kb.app, [Collection("kb_main__fa4e00000001", "fa4e00000001", 64, "kept")])


@pytest.mark.parametrize("act", [forgets, re_embeds])
def test_a_reader_whose_collection_is_replaced_meanwhile_is_answered_from_the_new_one(
    held: Kb, act: Callable[[Kb], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = FakeEmbedder(dimension=32, fingerprint="fa4e00000002")
    held.app = replace(held.app, embedders={"next": lambda: other})
    before = held.texts()
    held.index._purges = False  # as on Milvus Lite: what is erased leaves by a copy of the collection
    sound, interrupted = held.index.dense, list[str]()

    def dense(collection: str, *rest: Any) -> Any:
        if not interrupted:
            interrupted.append(collection)
            act(held)
        return sound(collection, *rest)

    monkeypatch.setattr(held.index, "dense", dense)
    found = {one["text"] for one in held.hits("office travel leave laptop canteen part, asked for the first time")}
    assert interrupted[0] not in held.index.rows and len(held.index.rows) == 1
    assert found == {one for one in before if act is re_embeds or "swimming" not in one}


def test_a_lost_collection_is_said_and_can_be_mended(held: Kb) -> None:
    before = held.texts()
    held.index.rows.clear()
    with pytest.raises(Transient) as caught:
        held.hits("swimming")
    assert caught.value.code is Code.INDEX_GONE and held.index.rows == {}
    assert reconcile(held.app, repair=True)["repaired"]
    assert held.texts() == before


def test_one_passage_goes_and_its_document_stays(held: Kb, tmp_path: Path) -> None:
    chunk = next(one["chunk"] for one in held.hits("zebrafish") if "zebrafish" in one["text"])
    done = forget(held.app, "chunk", chunk, "a private matter")
    assert places_of(held, "zebrafish") == places_of(held, "quokka") == []
    assert held.shows("Guests may feed") and held.shows("Guests feed nothing", as_of=1)
    assert not any(done["certificate"]["left"].values())
    assert reconcile(held.app, repair=False)["faults"] == []
    for options in ({}, {"full": True}, {"again": Selection()}):
        assert held.sync(**options).as_json()["release"] is None
        assert places_of(held, "zebrafish") == []
    held.write("aquarium", SECRET, "Guests are asked to wear a hat behind the glass.")
    assert [one["code"] for one in held.sync().as_json()["rejections"]] == [Code.FORGOTTEN.value]
    assert places_of(held, "zebrafish") == places_of(held, "wear a hat") == []
    held.write("aquarium", "Nothing to see.", "Guests are asked to wear a hat behind the glass.")
    held.release()
    assert held.shows("wear a hat") and not held.shows("Guests may feed")
