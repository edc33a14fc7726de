"""Why a person may want to look at a change: facts that the layers left behind, each a named risk."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, exists, func, or_, select

from pipelines.conflict.detect import undecided
from schemas.source import Source
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
    yield from _of_chunks(tx, version, previous)
    if undecided(tx, version):
        yield "conflict"
    facts, before = _facts(tx, version), _facts(tx, previous)
    if facts.get("hidden_text"):
        yield "hidden_text"
    if facts.get("injection") or facts.get("speaks"):  # hidden, or for all to see
        yield "injection"
    if facts.get("parse_warning") and facts["parse_warning"] != before.get("parse_warning"):
        yield "parse_warning"
    if facts.get("described") and facts["described"] != before.get("described"):
        yield "described"
    yield from _edits(tx, document, version, previous)


def _of_chunks(tx: Connection, version: str, previous: str | None) -> Iterator[str]:
    """Of the chunks that readers do not have yet: what they have has been looked at, and is no risk of this change."""
    vc, pii, link = tables.version_chunk, tables.pii_finding, tables.duplicate_link
    known = select(vc.c.chunk).where(vc.c.version == previous)
    fresh = select(vc.c.chunk).where(vc.c.version == version, vc.c.chunk.not_in(known))
    found = {
        # What a policy keeps (places, organisations) is no secret of a person.
        "pii": (pii.c.version == version) & (pii.c.operator != "keep") & pii.c.chunk.in_(fresh),
        "low_quality": (vc.c.version == version) & (vc.c.band != "index") & vc.c.chunk.in_(fresh),
        "near_duplicate": or_(link.c.a.in_(fresh), link.c.b.in_(fresh)),
    }
    yield from (name for name, where in found.items() if tx.execute(select(exists().where(where))).scalar())


def _facts(tx: Connection, version: str | None) -> dict[str, Any]:
    return tx.execute(select(tables.version.c.facts).where(tables.version.c.id == version)).scalar() or {}


def _edits(tx: Connection, document: str, version: str, previous: str | None) -> Iterator[str]:
    """A reviewer's edit that this version carries, or that the one before carried and this one has lost, because what
    was edited has changed at the source."""
    table, vc = tables.overlay, tables.version_chunk
    edits = set(tx.execute(select(table.c.chunk).where(table.c.document == document, table.c.kind == "edit")).scalars())
    if not edits:
        return

    def carried(of: str | None) -> set[str]:
        return set(tx.execute(select(vc.c.chunk).where(vc.c.version == of, vc.c.chunk.in_(edits))).scalars())

    now = carried(version)
    if now:
        yield "edited"
    if previous and carried(previous) - now:
        yield "edit_lost"


def big_deletions(tx: Connection, kb: str, documents: Sequence[str]) -> set[str]:
    """Those of the removed documents whose source loses more at once than its breaker would let pass."""
    d, s = tables.document, tables.source
    query = select(d.c.source, func.count()).where(d.c.kb == kb)
    sizes: dict[str, int] = {}
    homes: dict[str, str] = {}
    for start in range(0, len(documents), 500):
        part = select(d.c.id, d.c.source).where(d.c.id.in_(documents[start : start + 500]))
        homes.update(tx.execute(part).all())
    if not homes:
        return set()
    sizes.update(tx.execute(query.group_by(d.c.source)).all())
    lost = Counter(homes.values())
    configs = dict(tx.execute(select(s.c.name, s.c.config).where(s.c.kb == kb)).all())
    limits = {name: Source.model_validate(config).breaker for name, config in configs.items() if name in lost}
    big = {
        name
        for name, gone in lost.items()
        if gone > limits[name].documents or gone > limits[name].share * max(1, sizes[name])
    }
    return {document for document, name in homes.items() if name in big}


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
