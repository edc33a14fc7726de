"""The quality report: suites over what is live or staged, distributions against the release before, figures."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import Connection, select

from pipelines.errors import Code, Conflict
from pipelines.library import whole
from pipelines.publish.collections import collections
from pipelines.publish.rows import live_release
from pipelines.report import drift, expectations, frames
from pipelines.report.figures import figures, shown_versions
from pipelines.report.rules import rule_effects
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App

Scope = Literal["live", "staged"]
KEEP_EXAMPLES = 5
"""Rows that the report names for each failed expectation."""


def measure(app: "App", release: int | None = None, docs: bool = True) -> dict[str, Any]:
    """Check a release (None: the live one), store the result and give it. A release that has not been published is
    checked as it is staged. With `docs`, Data Docs go into the artifact store, under `data_docs`."""
    with app.database.read() as tx:
        number = live_release(tx, app.kb) if release is None else release
        scope = _scope(tx, app.kb, number)
        before = _distributions_before(tx, app.kb, number)
    made, found = _frames(app, number, scope, before)
    checked = expectations.check(made, run_name=f"{app.kb}-{number}-{scope}")
    with app.database.read() as tx:
        versions = shown_versions(tx, app.kb, number, scope)
        shown = figures(tx, app.kb, versions)
    rules = rule_effects(app, versions)
    report = {
        "schema": "sluice.quality/1",
        "kb": app.kb,
        "release": number,
        "scope": scope,
        "at": app.clock(),
        "success": checked.success,
        "failed": _failed(checked.suites),
        "suites": _brief(checked.suites),
        **found,
        "figures": shown,
        "rules": rules,
    }
    run = _store(app, report)
    if docs:
        from pipelines.report.data_docs import store_docs

        report["data_docs"] = store_docs(app, run, checked.context)
    if scope == "staged":
        _mark(app, number, checked.suites)
    return {**report, "run": run}


def _scope(tx: Connection, kb: str, number: int) -> Scope:
    r = tables.release
    row = tx.execute(select(r.c.published).where(r.c.kb == kb, r.c.number == number)).first()
    if row is None and number:
        raise Conflict(Code.RELEASE_UNKNOWN, f"there is no release {number}")
    return "live" if row is None or row.published is not None else "staged"


def _frames(
    app: "App", number: int, scope: Scope, before: dict[str, Any] | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """(frame by suite; distributions of what readers see, or would see, and how far they have moved)."""
    if scope == "staged":
        chunks = list(frames.staged_chunks(app, number))
        with app.database.read() as tx:
            staged = list(frames.staged_documents(tx, app, number))
            changed = frames.changed(tx, app.kb, number)
            kept = [
                one for one in frames.live_chunks(tx, app, live_release(tx, app.kb)) if one["document"] not in changed
            ]
        rows: dict[str, list[frames.Row]] = {"chunks": chunks, "documents": staged}
        found = drift.distributions([*kept, *chunks])
    else:
        rows, found = whole(app, lambda: _live(app, number))
    moved = drift.shift(before, found)
    rows["shift"] = [{"row": "all", "document": "", **moved}]
    made = {name: frames.frame(one, ("row", "document", *expectations.columns(name))) for name, one in rows.items()}
    return made, {"distributions": found, "shift": moved}


def _live(app: "App", number: int) -> tuple[dict[str, list[frames.Row]], dict[str, Any]]:
    with app.database.read() as tx:
        live = [one for one in collections(tx, app.kb) if one.state == "live"]
        chunks = list(frames.live_chunks(tx, app, number))
        rows = {"chunks": chunks, "documents": list(frames.documents(tx, app, number))}
        if live:
            rows["references"] = list(frames.references(tx, app, number, live[0].dimension))
    if live:
        rows["index"] = list(frames.index_rows(app, live[0].name, live[0].dimension))
    return rows, drift.distributions(chunks)


def _distributions_before(tx: Connection, kb: str, number: int) -> dict[str, Any] | None:
    """Of the newest report on a lower live release."""
    q = tables.quality_run
    where = (q.c.kb == kb) & (q.c.release < number) & (q.c.scope == "live")
    row = tx.execute(select(q.c.report).where(where).order_by(q.c.release.desc(), q.c.id.desc()).limit(1)).scalar()
    return row["distributions"] if row else None


def _failed(suites: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Failed expectations by severity."""
    found = {"critical": 0, "warning": 0}
    for suite in suites:
        for one in suite["expectations"]:
            if not one["success"]:
                found[one["severity"]] += 1
    return found


def _brief(suites: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            **suite,
            "expectations": [{**one, "examples": one["examples"][:KEEP_EXAMPLES]} for one in suite["expectations"]],
        }
        for suite in suites
    ]


def _store(app: "App", report: dict[str, Any]) -> int:
    q = tables.quality_run
    values = {key: report[key] for key in ("kb", "release", "scope", "success", "at")}
    with app.database.write() as tx:
        key = tx.execute(q.insert().values(**values, report=report)).inserted_primary_key
    assert key is not None
    return int(key[0])


def _mark(app: "App", number: int, suites: Sequence[dict[str, Any]]) -> None:
    """A document that fails a critical expectation carries the risk `quality`."""
    item = tables.release_item
    at_fault = {
        row["document"]
        for suite in suites
        for one in suite["expectations"]
        if not one["success"] and one["severity"] == "critical"
        for row in one["examples"]
    }
    with app.database.write() as tx:
        where = (item.c.kb == app.kb) & (item.c.release == number)
        for row in tx.execute(select(item.c.document, item.c.risk).where(where)).all():
            risk = [one for one in row.risk if one != "quality"]
            risk += ["quality"] if row.document in at_fault else []
            if risk != row.risk:
                tx.execute(item.update().where(where, item.c.document == row.document).values(risk=risk))


def publish_pages(app: "App", report: dict[str, Any]) -> list[str]:
    """The report as HTML in each language, in the artifact store. Returns the keys."""
    from pipelines.report.page import page

    with app.database.read() as tx:
        past = history(tx, app.kb)
    keys = []
    for language in ("en", "zh"):
        keys.append(f"reports/{app.kb}/{report['run']}/report.{language}.html")
        app.artifacts.put(keys[-1], page(report, past, language).encode())
    return keys


def latest(tx: Connection, kb: str, number: int | None = None, scope: Scope | None = None) -> dict[str, Any] | None:
    """The newest stored report, of one release where given."""
    q = tables.quality_run
    query = select(q.c.id, q.c.report).where(q.c.kb == kb)
    query = query if number is None else query.where(q.c.release == number)
    query = query if scope is None else query.where(q.c.scope == scope)
    row = tx.execute(query.order_by(q.c.id.desc()).limit(1)).first()
    return {**row.report, "run": row.id} if row else None


def history(tx: Connection, kb: str, limit: int = 30) -> list[dict[str, Any]]:
    """The newest report of each release that was live, oldest first: what trends are drawn from."""
    q = tables.quality_run
    rows = tx.execute(
        select(q.c.id, q.c.report).where(q.c.kb == kb, q.c.scope == "live").order_by(q.c.id.desc()).limit(limit * 4)
    )
    found: dict[int, dict[str, Any]] = {}
    for row in rows:
        found.setdefault(row.report["release"], {**row.report, "run": row.id})
    return [found[number] for number in sorted(found)][-limit:]


def blocked(tx: Connection, kb: str, number: int) -> list[str]:
    """Codes of the critical expectations that the newest check of this release's content failed."""
    report = latest(tx, kb, number, "staged")
    if report is None:
        return []
    failed = (one for suite in report["suites"] for one in suite["expectations"] if not one["success"])
    return sorted(one["code"] for one in failed if one["severity"] == "critical")
