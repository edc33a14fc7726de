"""The only writer of state: a move is checked, compared and set, and audited in one transaction."""

import hashlib
import json
import time
from typing import Any

from sqlalchemy import Connection, func, or_, select, update

from pipelines.errors import Code, Conflict
from sql import tables

VERSION_MOVES = {
    "discovered": {"in_progress", "quarantined"},
    "in_progress": {"staged", "quarantined", "discovered"},
    # What is staged says for ever what it says: to be processed anew is to become another edition (`editions.py`).
    "staged": {"published", "quarantined", "superseded"},
    "published": {"superseded", "removed", "quarantined"},
    "superseded": {"published", "quarantined"},
    "removed": {"published", "quarantined"},
    "quarantined": {"discovered", "staged", "published", "superseded", "removed"},
}
RELEASE_MOVES = {
    "building": {"in_review", "failed", "superseded"},
    "in_review": {"approved", "declined", "superseded"},
    "approved": {"publishing", "declined", "superseded", "in_review"},
    "publishing": {"live", "failed", "approved"},
    "live": {"superseded", "reverted"},
    "superseded": {"live", "reverted"},
    "reverted": {"live"},
    "failed": {"approved", "superseded", "declined"},
    "declined": set(),
}


def move_version(
    tx: Connection, version: str, before: str | tuple[str, ...], after: str, actor: str, reason: str, **detail: Any
) -> None:
    """Raises Conflict(STATE_LOST_RACE) when the version is not in `before`."""
    allowed = (before,) if isinstance(before, str) else before
    where = (tables.version.c.id == version) & tables.version.c.state.in_(allowed)
    _move(tx, tables.version, where, VERSION_MOVES, ("version", version), allowed, after)
    kb = tx.execute(select(tables.version.c.kb).where(tables.version.c.id == version)).scalar_one()
    record(tx, kb, actor, f"version.{after}", "version", version, reason, **detail)


def move_release(
    tx: Connection,
    kb: str,
    number: int,
    before: str | tuple[str, ...],
    after: str,
    actor: str,
    reason: str,
    **detail: Any,
) -> None:
    """Raises Conflict(STATE_LOST_RACE) when the release is not in `before`."""
    allowed = (before,) if isinstance(before, str) else before
    where = (tables.release.c.kb == kb) & (tables.release.c.number == number) & tables.release.c.state.in_(allowed)
    _move(tx, tables.release, where, RELEASE_MOVES, ("release", str(number)), allowed, after)
    record(tx, kb, actor, f"release.{after}", "release", str(number), reason, **detail)


def _move(
    tx: Connection,
    table: Any,
    where: Any,
    moves: dict[str, set[str]],
    subject: tuple[str, str],
    before: tuple[str, ...],
    after: str,
) -> None:
    if illegal := [state for state in before if after not in moves[state]]:
        raise Conflict(Code.STATE_MOVE, f"{subject[0]} {subject[1]} cannot go from {illegal[0]} to {after}")
    if tx.execute(update(table).where(where).values(state=after)).rowcount != 1:
        raise Conflict(Code.STATE_LOST_RACE, f"{subject[0]} {subject[1]} is not in state {' or '.join(before)}")


def record(
    tx: Connection, kb: str, actor: str, action: str, kind: str, subject: str, reason: str, **detail: Any
) -> None:
    """Append one audit row, chained to the one before by its hash."""
    # The knowledge-base rows are the lock that keeps two writers from taking the same place in the chain (MySQL).
    tx.execute(select(tables.knowledge_base.c.name).with_for_update())
    newest = select(tables.audit.c.sequence, tables.audit.c.hash).order_by(tables.audit.c.sequence.desc()).limit(1)
    last = tx.execute(newest.with_for_update()).first()
    sequence, previous = (last.sequence + 1, last.hash) if last else (1, "0" * 64)
    row = {
        "sequence": sequence,
        "kb": kb,
        "at": round(time.time(), 3),
        "actor": actor,
        "action": action,
        "kind": kind,
        "subject": subject,
        "reason": reason,
        "detail": json.dumps(detail, sort_keys=True, ensure_ascii=False),
    }
    tx.execute(tables.audit.insert().values(**row, previous=previous, hash=_seal(row, previous)))


def _seal(row: dict[str, Any], previous: str) -> str:
    canonical = json.dumps({**row, "at": f"{row['at']:.3f}"}, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256((previous + canonical).encode()).hexdigest()


def verify_audit(tx: Connection) -> tuple[int, int | None]:
    """(rows read, sequence of the first broken row or None)."""
    previous, expected = "0" * 64, 1
    for row in tx.execute(select(tables.audit).order_by(tables.audit.c.sequence)).mappings():
        body = {key: row[key] for key in row if key not in ("previous", "hash")}
        if row["sequence"] != expected or row["previous"] != previous or _seal(body, previous) != row["hash"]:
            return expected, expected
        previous, expected = row["hash"], expected + 1
    total = tx.execute(select(func.count()).select_from(tables.audit)).scalar_one()
    return total, None


def tombstones(tx: Connection, kb: str, *kinds: str) -> set[str]:
    """Subjects of these kinds that were erased and may not come back."""
    table = tables.tombstone
    where = (table.c.kb == kb) & or_(*(table.c.kind == kind for kind in kinds))
    return set(tx.execute(select(table.c.subject).where(where)).scalars())
