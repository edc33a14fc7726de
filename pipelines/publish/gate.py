"""What must hold before a release goes live: no text that looks like raw personal data, and no loss in retrieval."""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from sqlalchemy import select, update

from pipelines import lifecycle
from pipelines.errors import Code, Conflict, SluiceError
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App

NAMED = 5
"""So many questions are named in the error; all are in the stored report."""


def run_gate(app: "App", number: int, opened: Iterable[Any]) -> dict[str, Any]:
    """The verdict as stored with the release. Raises SluiceError(GATE_FAILED) when the release may not go live."""
    found, rows = _leaks(opened)
    if found:
        named = ", ".join(f"{count} x {type_}" for type_, count in sorted(found.items()))
        verdict = {"verdict": "block", "leaks": found.total(), "rows": rows}
        _store(app, number, {**verdict, "reasons": [f"looks like personal data: {named}"]})
        raise SluiceError(Code.GATE_FAILED, f"release {number} holds what looks like personal data: {named}")
    result = {"verdict": "pass", "leaks": 0, "rows": rows, **_evaluated(app, number)}
    if broken := _broken(app, number):
        reasons = [f"critical expectations failed: {', '.join(broken)}", *result.get("reasons", ())]
        result |= {"verdict": "block", "reasons": reasons}
    if result["verdict"] == "block":
        if not _overruled(app, number):
            _store(app, number, result)
            raise SluiceError(Code.GATE_FAILED, f"release {number}: {_summary(result)}")
        result["overruled"] = True
    return result


def _leaks(opened: Iterable[Any]) -> tuple[Counter[str], int]:
    """Counts by type, and how many rows were read."""
    from pipelines.mask import leaks

    found: Counter[str] = Counter()
    rows = 0
    for rows, row in enumerate(opened, 1):  # noqa: B007
        found.update(leaks(f"{row.context}\n{row.text}"))
    return found, rows


def _broken(app: "App", number: int) -> list[str]:
    """Critical expectations that the release's content failed when it was checked."""
    from pipelines.report.quality import blocked

    if app.settings.report.gate == "off":
        return []
    with app.database.read() as tx:
        return blocked(tx, app.kb, number)


def _evaluated(app: "App", number: int) -> dict[str, Any]:
    """Empty where the knowledge base has no evaluation set."""
    from pipelines.evaluate.evaluate import evaluate_preview

    release = tables.release
    with app.database.read() as tx:
        where = (release.c.kb == app.kb) & (release.c.number == number)
        base = tx.execute(select(release.c.base).where(where)).scalar_one()
    report = evaluate_preview(app, number, base)
    if report is None:
        return {}
    shown = {key: report[key] for key in ("set", "against", "metrics", "baseline", "interval")}
    return {**report["gate"], **shown}


def _summary(result: dict[str, Any]) -> str:
    """The reasons, then each worse question with its rank before and after and what displaced it."""
    worse = [
        f"{one['question']!r} went from rank {one['rank_before']} to {one['rank_after'] or 'not found'}"
        + (f", displaced by chunk {one['displaced_by']}" if one["displaced_by"] else "")
        + (f", chunk {one['evidence']} is gone" if one["gone"] else "")
        for one in result.get("worse", ())[:NAMED]
    ]
    return "; ".join([*result["reasons"][:NAMED], *worse])


def _store(app: "App", number: int, verdict: dict[str, Any]) -> None:
    release = tables.release
    with app.database.write() as tx:
        where = (release.c.kb == app.kb) & (release.c.number == number)
        tx.execute(update(release).where(where).values(gate=verdict))


def overrule(app: "App", number: int, reason: str) -> None:
    """A person lets a release through that the evaluation stopped; publish it again then. Not after a leak."""
    release, decision = tables.release, tables.decision
    with app.database.write() as tx:
        where = (release.c.kb == app.kb) & (release.c.number == number)
        row = tx.execute(select(release.c.state, release.c.gate).where(where)).first()
        if row is None:
            raise Conflict(Code.RELEASE_UNKNOWN, f"there is no release {number}")
        if row.state != "failed" or not row.gate or row.gate.get("leaks"):
            raise Conflict(Code.RELEASE_STATE, f"release {number} is {row.state}; no evaluation holds it back")
        note = {"kb": app.kb, "kind": "gate", "subject": str(number), "verdict": "overruled"}
        tx.execute(decision.insert().values(**note, actor=app.actor, reason=reason, at=app.clock()))
        lifecycle.move_release(tx, app.kb, number, "failed", "approved", app.actor, reason, gate="overruled")


def _overruled(app: "App", number: int) -> bool:
    table = tables.decision
    where = (table.c.kb == app.kb) & (table.c.kind == "gate") & (table.c.subject == str(number))
    with app.database.read() as tx:
        return tx.execute(select(table.c.id).where(where).limit(1)).first() is not None
