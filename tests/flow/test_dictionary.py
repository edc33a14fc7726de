"""The dictionary of one knowledge base, from sources.yaml to its entities and its questions."""

from sqlalchemy import select

from pipelines.backfill import Selection
from sql import tables
from tests.flow.conftest import SOURCES, Kb, open_kb

TERMS = "terms:\n  - {name: key vault, type: system, synonyms: [KMS, keyring]}\n"


def entities(kb: Kb) -> set[tuple[str, str]]:
    e = tables.entity
    with kb.app.database.read() as tx:
        return {tuple(row) for row in tx.execute(select(e.c.text, e.c.type).where(e.c.method == "dictionary"))}


def test_a_synonym_is_stored_by_its_name_and_asked_for_by_any(kb: Kb) -> None:
    kb.write("secrets", "Certificates are renewed by the KMS each spring and kept for two years in its log.")
    kb.sync()
    assert entities(kb) == set()
    (kb.docs.parent / "sources.yaml").write_text(SOURCES + TERMS, encoding="utf-8")
    kb.app.database.dispose()
    later = open_kb(kb.home, kb.docs, kb.index, kb.embedder)
    later.sync(again=Selection(layer="extract"))
    assert entities(later) == {("key vault", "system")}
    assert later.app.retrieve.synonyms["key vault"] == ("KMS", "keyring")
    later.app.database.dispose()
