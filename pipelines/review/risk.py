"""Why a person may want to look at a change: facts that the layers left behind, each a named risk."""

from collections.abc import Iterator

from sqlalchemy import Connection, exists, or_, select

from pipelines.conflict.detect import undecided
from sql import tables


def risks(tx: Connection, kb: str, document: str, version: str | None, previous: str | None) -> Iterator[str]:
    """Names as in `schemas.source.Risk`."""
    if version is None:
        yield "removed"
        return
    if previous is None:
        yield "new_document"
        if _first_of_its_source(tx, document):
            yield "new_source"
    if tx.execute(select(exists().where(tables.pii_finding.c.version == version))).scalar():
        yield "pii"
    vc, link = tables.version_chunk, tables.duplicate_link
    if tx.execute(select(exists().where(vc.c.version == version, vc.c.band != "index"))).scalar():
        yield "low_quality"
    mine = select(vc.c.chunk).where(vc.c.version == version)
    linked = exists().where(or_(link.c.a.in_(mine), link.c.b.in_(mine)))
    if tx.execute(select(linked)).scalar():
        yield "near_duplicate"
    if undecided(tx, version):
        yield "conflict"
    facts = tx.execute(select(tables.version.c.facts).where(tables.version.c.id == version)).scalar_one()
    yield from (name for name in ("hidden_text", "injection", "parse_warning") if facts.get(name))


def _first_of_its_source(tx: Connection, document: str) -> bool:
    d, shown = tables.document, tables.document_release
    source = tx.execute(select(d.c.kb, d.c.source).where(d.c.id == document)).one()
    seen = (
        select(shown.c.document)
        .join(d, d.c.id == shown.c.document)
        .where(d.c.kb == source.kb, d.c.source == source.source)
        .limit(1)
    )
    return tx.execute(seen).first() is None
