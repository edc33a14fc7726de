"""The end of the layers: a version is staged, or found to say just what its predecessor says."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, delete, select, update

from pipelines import lifecycle
from pipelines.app import App
from pipelines.layers import Extractions, load
from schemas.chunk import Masked
from sql import tables

FACTS = (tables.version_chunk, tables.pii_finding, tables.entity, tables.relation)


def settle(app: App, version: str) -> bool:
    """A version that passed all layers is staged; False for an edition that says just what its predecessor says: it
    leaves no trace but that the predecessor is up to date."""
    v = tables.version
    with app.database.read() as tx:
        row = tx.execute(select(v).where(v.c.id == version)).one()
        before = _predecessor(tx, row)
        same = before is not None and _rows_alike(tx, before, row)
    alike = same and _artifacts_alike(app, before.artifacts, row.artifacts)
    with app.database.write() as tx:
        if not alike:
            lifecycle.move_version(tx, version, "in_progress", "staged", app.actor, "passed all layers")
            return True
        _absorb(tx, app, before, row)
        return False


def _predecessor(tx: Connection, row: Any) -> Any:
    """The staged or published version of the same content, the newest first."""
    v = tables.version
    same = (v.c.document == row.document) & (v.c.sha256 == row.sha256) & (v.c.number < row.number)
    query = select(v).where(same, v.c.state.in_(("staged", "published"))).order_by(v.c.number.desc())
    return tx.execute(query.limit(1)).first()


def _rows_alike(tx: Connection, before: Any, after: Any) -> bool:
    if any(before._mapping[name] != after._mapping[name] for name in ("title", "language", "dated")):
        return False
    if {**before.facts, "seconds": 0} != {**after.facts, "seconds": 0}:  # what it cost is no content
        return False
    return all(_facts(tx, table, before.id) == _facts(tx, table, after.id) for table in FACTS)


def _facts(tx: Connection, table: Any, version: str) -> list[tuple[Any, ...]]:
    columns = [column for column in table.c if column.name not in ("id", "version")]
    return sorted(map(repr, tx.execute(select(*columns).where(table.c.version == version))))  # type: ignore[arg-type]


def _artifacts_alike(app: App, before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """What readers and reviewers see of both."""

    def masked(keys: Mapping[str, str]) -> Masked:
        return load(app, keys["mask"], Masked).model_copy(update={"uri": ""})

    if before["mask"] != after["mask"] and masked(before) != masked(after):
        return False
    if before["extract"] == after["extract"]:
        return True
    return load(app, before["extract"], Extractions) == load(app, after["extract"], Extractions)


def _absorb(tx: Connection, app: App, kept: Any, edition: Any) -> None:
    v, text = tables.version, tables.duplicate_text
    for table in FACTS:
        tx.execute(delete(table).where(table.c.version == edition.id))
    for table in (tables.derived, tables.vault):
        made = tx.execute(select(table).where(table.c.version == edition.id)).mappings().all()
        if made:
            tx.execute(tables.insert_ignore(table), [{**row, "version": kept.id} for row in made])
        tx.execute(delete(table).where(table.c.version == edition.id))
    tx.execute(update(text).where(text.c.version == edition.id).values(version=kept.id))
    values = {"artifacts": edition.artifacts, "fingerprint": edition.fingerprint, "rerun": edition.rerun}
    tx.execute(update(v).where(v.c.id == kept.id).values(**values))
    tx.execute(delete(v).where(v.c.id == edition.id))
    why = "processed anew, with the same outcome"
    lifecycle.record(tx, app.kb, app.actor, "version.unchanged", "version", kept.id, why, edition=edition.id)
