"""From files to readers and back: sync, review, publish, rollback, quarantine."""

import pytest
from sqlalchemy import select, update

from pipelines.errors import Code, Conflict
from pipelines.lifecycle import verify_audit
from pipelines.publish.publish import publish
from pipelines.publish.reconcile import reconcile
from pipelines.publish.rollback import rollback, rollback_document
from pipelines.review.decide import approve, decline, hold
from pipelines.review.quarantine import quarantine, requeue, restore
from sql import tables
from tests.flow.conftest import Kb

EDITED = "Unused holidays now expire at the end of June."
OLD = "Unused holidays expire at the end of March."


def test_what_is_synced_approved_and_published_is_found_and_not_before(kb: Kb) -> None:
    report = kb.sync()
    assert report.as_json()["documents"]["new"] == 5
    assert not kb.hits("laptops")
    approve(kb.app, int(report.built.number or 0), "looks right")
    assert not kb.hits("laptops")
    publish(kb.app, int(report.built.number or 0))
    assert kb.shows("Laptops are replaced")


def test_a_second_sync_opens_no_file_and_embeds_nothing(kb: Kb) -> None:
    kb.release()
    kb.embedder.embedded.clear()
    report = kb.sync().as_json()
    assert (report["files"]["opened"], report["files"]["parsed"], report["calls"]["embed"]) == (0, 0, 0)
    assert report["release"] is None
    assert kb.embedder.embedded == []


def test_an_edited_paragraph_costs_few_embeddings_and_its_old_text_is_gone(kb: Kb) -> None:
    kb.release()
    kb.embedder.embedded.clear()
    kb.write("leave", "Annual leave is twenty five days for everybody.", EDITED)
    kb.release()
    assert 1 <= len(kb.embedder.embedded) <= 3
    assert kb.shows(EDITED)
    assert not kb.shows(OLD)
    assert kb.shows(OLD, as_of=1)
    assert not kb.shows(EDITED, as_of=1)


def test_rollback_gives_exactly_the_earlier_hits_without_embedding_or_index_writes(kb: Kb) -> None:
    kb.release()
    before = kb.hits("holidays expire")
    kb.write("leave", "Annual leave is twenty five days for everybody.", EDITED)
    kb.release()
    kb.embedder.embedded.clear()
    rollback(kb.app, 1, "the edit was wrong")
    assert kb.hits("holidays expire") == before
    assert kb.embedder.embedded == []


def test_a_publish_after_a_rollback_is_the_earlier_release_plus_the_change(kb: Kb) -> None:
    kb.release()
    before = kb.texts()
    kb.write("leave", "Annual leave is twenty five days for everybody.", EDITED)
    kb.release()
    rollback(kb.app, 1, "the edit was wrong")
    kb.write("sports", "The swimming pool is free for members of staff.")
    kb.release()
    after = kb.texts()
    assert before < after
    assert all("swimming pool" in one for one in after - before)
    assert kb.shows(EDITED, as_of=2)
    assert not reconcile(kb.app, repair=False)["faults"]


def test_a_release_that_was_never_published_cannot_be_read(kb: Kb) -> None:
    kb.release()
    with pytest.raises(Conflict) as caught:
        kb.hits("leave", as_of=7)
    assert caught.value.code is Code.RELEASE_UNKNOWN


def test_a_removed_file_disappears_with_the_next_release(kb: Kb) -> None:
    kb.release()
    (kb.docs / "canteen.md").unlink()
    report = kb.sync()
    assert kb.shows("Lunch is served")
    approve(kb.app, int(report.built.number or 0), "gone")
    publish(kb.app, int(report.built.number or 0))
    assert not kb.shows("Lunch is served")
    assert kb.shows("Lunch is served", as_of=1)


def test_an_emptied_source_removes_nothing_until_someone_confirms(kb: Kb) -> None:
    kb.release()
    for file in kb.docs.iterdir():
        file.unlink()
    report = kb.sync()
    assert report.as_json()["breaker"] is not None
    assert report.built.number is None
    assert kb.shows("Lunch is served")
    report = kb.sync(confirm_deletions=True)
    approve(kb.app, int(report.built.number or 0), "all gone")
    publish(kb.app, int(report.built.number or 0))
    assert not kb.texts()


def test_quarantine_hides_at_once_at_every_release_and_restore_brings_back(kb: Kb) -> None:
    kb.release()
    kb.write("sports", "The swimming pool is free for members of staff.")
    kb.release()
    document = kb.document("Lunch is served")
    assert quarantine(kb.app, "document", document, "wrong prices").chunks > 0
    assert not any(kb.shows("Lunch is served", as_of) for as_of in (None, 1, 2))
    restore(kb.app, "document", document, "checked")
    assert all(kb.shows("Lunch is served", as_of) for as_of in (None, 1, 2))


def test_a_held_document_is_not_published(kb: Kb) -> None:
    number = int(kb.sync().built.number or 0)
    with kb.app.database.read() as tx:
        d = tables.document.c
        document = tx.execute(select(d.id).where(d.uri == "laptop.md")).scalar_one()
    hold(kb.app, number, [document], "ask the desk")
    approve(kb.app, number, "the rest is right")
    publish(kb.app, number)
    assert kb.shows("Lunch is served")
    assert not kb.shows("Laptops are replaced")


def test_a_declined_change_stays_away_until_it_is_requeued(kb: Kb) -> None:
    kb.release()
    before = kb.texts()
    kb.write("leave", "Annual leave is twenty five days for everybody.", EDITED)
    decline(kb.app, int(kb.sync().built.number or 0), "not agreed")
    assert kb.sync().built.number is None
    assert kb.texts() == before
    requeue(kb.app, "document", kb.document(OLD), "agreed by now")
    kb.release()
    assert kb.shows(EDITED)


def test_two_syncs_at_once_are_one_sync_and_a_conflict(kb: Kb) -> None:
    with kb.app.database.lock("sync-main"), pytest.raises(Conflict) as caught:
        kb.sync()
    assert caught.value.code is Code.LOCKED


def test_personal_data_stays_in_the_raw_zone(kb: Kb) -> None:
    secrets = ("13812345678", "11010519491231002X")
    text = f"Ask on the mobile phone 手机号 {secrets[0]}, identity card 身份证号 {secrets[1]}, about parking."
    kb.write("parking", text)
    kb.release()
    assert kb.shows("about parking")
    with kb.app.database.read() as tx:
        dump = [str(tuple(row)) for table in tables.metadata.sorted_tables for row in tx.execute(select(table))]
    files = [one for one in (kb.home / "artifacts").rglob("*") if one.is_file()]
    outside = [one.read_bytes().decode("utf-8", "replace") for one in files if "raw" not in one.parts]
    rows = [str(row) for held in kb.index.rows.values() for row in held.values()]
    assert dump and outside and rows
    for place in (dump, outside, rows, kb.embedder.embedded):
        assert not [secret for secret in secrets if any(secret in one for one in place)]


def test_the_audit_chain_holds_and_a_tampered_row_is_found(kb: Kb) -> None:
    kb.release()
    with kb.app.database.read() as tx:
        count, broken = verify_audit(tx)
    assert count > 5 and broken is None
    with kb.app.database.write() as tx:
        tx.execute(update(tables.audit).where(tables.audit.c.sequence == 3).values(actor="somebody else"))
    with kb.app.database.read() as tx:
        assert verify_audit(tx)[1] == 3


def test_reconcile_finds_and_mends_missing_orphan_and_wrong_rows(kb: Kb) -> None:
    kb.release()
    ((_, rows),) = kb.index.rows.items()
    first, second, third = sorted(rows)[:3]
    sound = dict(rows)
    del rows[first]
    rows[second] = rows[second].model_copy(update={"died": 1})
    rows["stray"] = rows[third].model_copy(update={"id": "stray"})
    found = {(one["kind"], one["subject"]) for one in reconcile(kb.app, repair=False)["faults"]}
    assert found == {("missing", first), ("wrong_interval", second), ("orphan", "stray")}
    assert reconcile(kb.app, repair=True)["repaired"] == 3
    assert reconcile(kb.app, repair=False)["faults"] == []
    assert {key: row.model_copy(update={"vector": ()}) for key, row in rows.items()} == {
        key: row.model_copy(update={"vector": ()}) for key, row in sound.items()
    }


def test_one_document_goes_back_to_a_version_from_stored_vectors_and_the_rest_stays(kb: Kb) -> None:
    kb.release()
    kb.write("leave", "Annual leave is twenty five days for everybody.", EDITED)
    kb.write("sports", "The swimming pool is free for members of staff.")
    kb.release()
    document = kb.document(EDITED)
    with kb.app.database.read() as tx:
        v = tables.version.c
        first, second = tx.execute(select(v.id).where(v.document == document).order_by(v.number)).scalars()
    kb.embedder.embedded.clear()
    assert rollback_document(kb.app, document, first, "the edit was wrong").live_release == 3
    assert kb.shows(OLD) and not kb.shows(EDITED) and kb.shows("swimming pool")
    assert kb.shows(EDITED, as_of=2) and not kb.shows(OLD, as_of=2)
    assert kb.embedder.embedded == []
    rollback_document(kb.app, document, second, "it was right after all")
    assert kb.shows(EDITED) and not kb.shows(OLD)
    assert not reconcile(kb.app, repair=False)["faults"]
    with pytest.raises(Conflict) as caught:
        rollback_document(kb.app, document, "0" * 32, "no such version")
    assert caught.value.code is Code.UNKNOWN_SUBJECT
