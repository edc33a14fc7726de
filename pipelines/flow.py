"""The use cases, as the README tells them."""

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select

from pipelines import lifecycle, runs
from pipelines.app import App
from pipelines.backfill import Selection, reopen
from pipelines.children import MAX_DEPTH, waiting
from pipelines.errors import Code, Misconfigured, SluiceError
from pipelines.lease import held_by_process
from pipelines.publish.collections import live_embedder
from pipelines.publish.publish import recover
from pipelines.review.build import Built, build
from pipelines.runner import Tally, run_layers
from pipelines.scan.sync import Scan, scan
from sql import tables


@dataclass
class SyncReport:
    """What a sync did; `as_json` has the public keys."""

    scans: list[Scan]
    tally: Tally
    built: Built
    seconds: float
    rejected_files: list[dict[str, str]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        plans = [one.plan for one in self.scans if one.plan]
        trips = [one.trip for one in self.scans if one.trip]
        return {
            "schema": "sluice.sync/1",
            "release": self.built.number,
            "files": {
                "seen": sum(one.seen for one in plans),
                "opened": sum(one.opened for one in plans),
                "hashed": sum(one.hashed for one in plans),
                "parsed": self.tally.parsed,
            },
            "documents": {
                "new": sum(len(one.new) for one in plans),
                "changed": sum(len(one.changed) for one in plans),
                "unchanged": sum(one.unchanged + len(one.touched) for one in plans),
                "renamed": sum(len(one.renamed) for one in plans),
                "removed": sum(len(one.removed) for one in self.scans),
                "rejected": len(self.rejected_files),
            },
            "chunks": self.built.chunks.counts(),
            "calls": {"embed": self.built.embedded, "llm": self.tally.llm_calls, "ocr_pages": self.tally.ocr_pages},
            "rejections": self.rejected_files,
            "breaker": trips[0].model_dump() if trips else None,
            "seconds": round(self.seconds, 3),
        }


def sync(
    app: App,
    *,
    source: str | None = None,
    glob: str | None = None,
    full: bool = False,
    confirm_deletions: bool = False,
    again: Selection | None = None,
) -> SyncReport:
    """Scan, run the layers over what is new, build a release in review; `again` selects what is processed anew.

    Raises Conflict(LOCKED) beside another sync.
    """
    started = time.perf_counter()
    run = secrets.token_hex(8)
    with held_by_process(app, "sync"):
        runs.start(app, run, "sync")
        scans = scan_sources(app, run, source=source, glob=glob, full=full, confirm_deletions=confirm_deletions)
        runs.report(app, run, [one.report() for one in scans])
        if again:
            reopen(app, again, run)
        tally = Tally()
        for batch in batches(app):
            run_layers(app, batch, tally)
        run_children(app, tally)
        built = build(app)
        runs.end(app, run)
    report = SyncReport(scans, tally, built, time.perf_counter() - started)
    report.rejected_files = _rejections(app, scans, tally)
    return report


def take_up(app: App) -> Built:
    """What waits for the layers (an edit, a requeued version) goes through them and into a release, without a scan."""
    with held_by_process(app, "sync"):
        for batch in batches(app):
            run_layers(app, batch, Tally())
        run_children(app, Tally())
        return build(app)


def run_children(app: App, tally: Tally) -> None:
    """What was found inside the files of this run goes through the layers too, one depth after the other."""
    for _ in range(MAX_DEPTH):
        with app.database.write() as tx:
            found = waiting(tx, app.kb)
            for version in found:
                lifecycle.move_version(tx, version, "discovered", "in_progress", app.actor, "sync")
        size = app.settings.runner.batch
        for start in range(0, len(found), size):
            run_layers(app, found[start : start + size], tally)


def scan_sources(
    app: App, run: str, *, source: str | None, glob: str | None, full: bool, confirm_deletions: bool
) -> list[Scan]:
    """One source after the other; a source that is gone or trips its breaker stops nothing else."""
    live_embedder(app)  # a changed one is refused before hours of work, not after
    _finish_publication(app)
    listed = app.sources().sources
    if source is not None:
        listed = tuple(one for one in listed if one.name == source)
        if not listed:
            raise Misconfigured(Code.BAD_SOURCES, f"sources.yaml has no source {source!r}")
    return [scan(app, one, run, full=full, confirm=confirm_deletions, glob=glob) for one in listed]


def _finish_publication(app: App) -> None:
    """What a crash left of one, so that its changes are not reviewed again; unless somebody is at it."""
    try:
        recover_all(app)
    except SluiceError as error:
        # A gate that closes leaves its release behind as failed: this sync folds it into the next.
        if error.code not in (Code.LOCKED, Code.GATE_FAILED, Code.RELEASE_READ_BACK):
            raise


def batches(app: App) -> list[Sequence[str]]:
    """What waits for the layers (new, requeued, or left by a crash), now in progress, in batches."""
    v = tables.version
    query = select(v.c.id, v.c.state).where(v.c.kb == app.kb, v.c.state.in_(("discovered", "in_progress")))
    with app.database.read() as tx:
        waiting = tx.execute(query.order_by(v.c.id)).all()
    size = app.settings.runner.batch
    for start in range(0, len(waiting), size):
        with app.database.write() as tx:
            for row in waiting[start : start + size]:
                if row.state == "discovered":
                    lifecycle.move_version(tx, row.id, "discovered", "in_progress", app.actor, "sync")
    found = [row.id for row in waiting]
    return [found[start : start + size] for start in range(0, len(found), size)]


def _rejections(app: App, scans: Sequence[Scan], tally: Tally) -> list[dict[str, str]]:
    files = [
        {"document": one.shown.get(uri, uri), "code": code.value, "reason": why}
        for one in scans
        for uri, code, why in one.problems
    ]
    for one in scans:
        if one.error is not None:
            files.append({"document": one.source, "code": one.error.code.value, "reason": one.error.reason})
    ids = [one.subject for one in tally.rejections]
    v = tables.version
    with app.database.read() as tx:
        names = dict(tx.execute(select(v.c.id, v.c.uri).where(v.c.id.in_(ids))).all()) if ids else {}
    rejected = [
        {"document": names.get(one.subject, one.subject), "code": one.code, "reason": one.reason}
        for one in tally.rejections
    ]
    return files + rejected


def recover_all(app: App) -> list[int]:
    """Finish what a crash left."""
    with app.database.lock(f"publish-{app.kb}"):
        return recover(app)
