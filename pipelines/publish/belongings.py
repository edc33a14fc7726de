"""What versions have to themselves, and how it goes: shared by erasure and vacuum."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection, delete, exists, select, update

from pipelines import corpus
from pipelines.ids import number
from pipelines.publish.rows import select_in
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App

T = TypeVar("T")
FACTS = (tables.version_chunk, tables.pii_finding, tables.entity, tables.relation, tables.vault, tables.derived)
"""Tables with one row for each thing of a version, by column `version`."""


@dataclass(frozen=True)
class Belongings:
    """Of some versions and index rows: what no other version and no other row uses."""

    versions: tuple[str, ...]
    rows: tuple[str, ...]
    """Ids in the index, which are those of table `chunk`."""
    chunks: tuple[str, ...]
    hashes: tuple[str, ...]
    """Of contents, whose vectors may go."""
    artifacts: tuple[str, ...]
    replies: tuple[str, ...]
    """Keys of the language model's cache."""


def belongings(tx: Connection, versions: Iterable[str], rows: Iterable[str]) -> Belongings:
    """All of it is read in one snapshot; what is noted later belongs to somebody else."""
    own, gone = set(versions), set(rows)
    vc, c, d, v = tables.version_chunk, tables.chunk, tables.derived, tables.version
    chunks = select_in(tx, select(vc.c.chunk), vc.c.version, own)
    chunks -= _others(tx, vc.c.chunk, vc.c.version, chunks, own)
    hashes = select_in(tx, select(vc.c.content_hash), vc.c.version, own)
    hashes |= select_in(tx, select(c.c.content_hash), c.c.id, gone)
    hashes -= _others(tx, vc.c.content_hash, vc.c.version, hashes, own)
    hashes -= _others(tx, c.c.content_hash, c.c.id, hashes, gone)
    keys = {
        kind: select_in(tx, select(d.c.key).where(d.c.kind == kind), d.c.version, own) for kind in ("artifact", "llm")
    }
    for kind, found in keys.items():
        found -= _others(tx, d.c.key, d.c.version, found, own, d.c.kind == kind)
    files = select_in(tx, select(v.c.sha256), v.c.id, own)
    has_facts = exists().where(vc.c.version == v.c.id)
    files -= _others(tx, v.c.sha256, v.c.id, files, own, v.c.state.not_in(("superseded", "removed")) | has_facts)
    return Belongings(
        versions=tuple(sorted(own)),
        rows=tuple(sorted(gone)),
        chunks=tuple(sorted(chunks)),
        hashes=tuple(sorted(hashes)),
        artifacts=tuple(sorted(keys["artifact"] | {f"raw/file/{sha}" for sha in files})),
        replies=tuple(sorted(keys["llm"])),
    )


def _others(
    tx: Connection, value: Any, owner: Any, values: Iterable[str], own: set[str], where: Any = True
) -> set[str]:
    """Those of the values that someone else than `own` has too."""
    found: set[str] = set()
    for part in parts(sorted(values)):
        query = select(value, owner).where(value.in_(part), where).distinct()
        found.update(one for one, who in tx.execute(query) if who not in own)
    return found


def parts(values: Sequence[T], size: int = 500) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]


def delete_in(tx: Connection, table: Any, column: Any, values: Sequence[str], where: Any = True) -> int:
    """Deletes by values of a column, in bounded parts; returns how many rows went."""
    return sum(tx.execute(delete(table).where(column.in_(part), where)).rowcount for part in parts(values))


def drop_rows(tx: Connection, app: "App", gone: Belongings) -> dict[str, int]:
    """The SQL rows of what has left the index; counts by table."""
    listed = tables.release_row
    mine = (listed.c.kb == app.kb) & (listed.c.operation != "document")
    return {
        "chunk": delete_in(tx, tables.chunk, tables.chunk.c.id, gone.rows),
        "release_row": delete_in(tx, listed, listed.c.row, gone.rows, mine),
        "vector": delete_in(tx, tables.vector, tables.vector.c.content_hash, gone.hashes),
    }


def drop_facts(tx: Connection, app: "App", gone: Belongings) -> dict[str, int]:
    """What the layers wrote about the versions, and all that hangs on chunks that nobody else has; counts by table."""
    link, clash = tables.duplicate_link, tables.conflict
    counts = {
        "duplicate_link": delete_in(tx, link, link.c.a, gone.chunks) + delete_in(tx, link, link.c.b, gone.chunks),
        "conflict": delete_in(tx, clash, clash.c.a, gone.chunks) + delete_in(tx, clash, clash.c.b, gone.chunks),
        **corpus.forget(tx, app, list(gone.chunks)),
        "overlay": delete_in(tx, tables.overlay, tables.overlay.c.chunk, gone.chunks),
        "llm_cache": delete_in(tx, tables.llm_cache, tables.llm_cache.c.key, gone.replies),
    }
    for table in FACTS:
        counts[table.name] = delete_in(tx, table, table.c.version, gone.versions)
    _move_home(tx, app, gone.versions)
    return counts


def _move_home(tx: Connection, app: "App", versions: Sequence[str]) -> None:
    """The corpus names the version whose artifact holds a text: where that one goes, another that has the chunk
    takes its place, or the text leaves the corpus as well."""
    text, vc = tables.duplicate_text, tables.version_chunk
    for part in parts(versions):
        homeless = select(text.c.chunk).where(text.c.kb == app.kb, text.c.version.in_(part))
        for chunk in tx.execute(homeless).scalars().all():
            other = tx.execute(select(vc.c.version).where(vc.c.chunk == chunk).order_by(vc.c.version).limit(1)).scalar()
            if other is None:
                corpus.forget(tx, app, [chunk])
            else:
                tx.execute(update(text).where(text.c.id == number(chunk)).values(version=other))


def blank_questions(tx: Connection, chunks: Sequence[str], rows: Sequence[str]) -> int:
    """The wording of logged questions that were answered first from the text, cited it, or quote it."""
    hit, log, c = tables.query_hit, tables.query_log, tables.chunk
    text = "\n".join(sorted(select_in(tx, select(c.c.text), c.c.id, rows))).casefold()
    blank: set[str] = set()
    for part in parts(chunks):
        query = select(log.c.id, log.c.query, hit.c.rank, hit.c.cited).join(hit, hit.c.query == log.c.id)
        for row in tx.execute(query.where(hit.c.chunk.in_(part))):
            if row.rank == 0 or row.cited or row.query.casefold() in text:
                blank.add(row.id)
    for part in parts(sorted(blank)):
        tx.execute(update(log).where(log.c.id.in_(part)).values(query=""))
    return len(blank)
