"""The audit: filter, export, and the proof that nothing in it was changed."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException
from starlette.responses import Response, StreamingResponse

from pipelines import lifecycle
from pipelines.report.audits import Event, Wanted, actions, all_events, events
from sluice_ui.context import Context, Page

router = APIRouter()
PAGE = 100
COLUMNS = ("sequence", "at", "actor", "action", "kind", "subject", "reason", "detail", "hash")


def _allowed(page: Page) -> Context:
    if not page.viewer.audits:
        raise page.forbidden()
    return page


def _wanted(
    actor: str = "", action: str = "", kind: str = "", subject: str = "", since: str = "", until: str = ""
) -> Wanted:
    return Wanted(actor.strip(), action, kind, subject.strip(), since, until)


Auditor = Annotated[Context, Depends(_allowed)]
Filtered = Annotated[Wanted, Depends(_wanted)]


@router.get("/audit")
def index(page: Auditor, wanted: Filtered, before: int | None = None, verify: bool = False) -> Response:
    with page.app.database.read() as tx:
        try:
            found = events(tx, page.app.kb, wanted, PAGE, before)
        except ValueError as error:
            raise HTTPException(422, "A day is written like 2026-11-30.") from error
        known = actions(tx, page.app.kb)
        checked = lifecycle.verify_audit(tx) if verify else None
    older = found[-1].sequence if len(found) == PAGE else None
    return page.page(
        "audit.html", events=found, wanted=wanted, query=asdict(wanted), actions=known, older=older, checked=checked
    )


@router.get("/audit/export.{form}")
def export(page: Auditor, wanted: Filtered, form: str) -> Response:
    """All that the filter lets through, oldest first."""
    if form not in ("csv", "json"):
        raise page.missing()
    write = _csv if form == "csv" else _json
    media = "text/csv; charset=utf-8" if form == "csv" else "application/json"
    headers = {"Content-Disposition": f'attachment; filename="audit.{form}"'}
    return StreamingResponse(write(page, wanted), media_type=media, headers=headers)


def _rows(page: Context, wanted: Wanted) -> Iterator[Event]:
    with page.app.database.read() as tx:
        yield from all_events(tx, page.app.kb, wanted)


def _json(page: Context, wanted: Wanted) -> Iterator[str]:
    yield '{"schema": "sluice.audit/1", "entries": ['
    for place, one in enumerate(_rows(page, wanted)):
        yield (",\n" if place else "\n") + json.dumps(asdict(one), ensure_ascii=False)
    yield "\n]}\n"


def _csv(page: Context, wanted: Wanted) -> Iterator[str]:
    yield "\ufeff" + ",".join(COLUMNS) + "\r\n"
    for one in _rows(page, wanted):
        out = io.StringIO()
        shown = replace(one, detail={})
        values = asdict(shown) | {"detail": json.dumps(dict(one.detail), ensure_ascii=False)}
        csv.writer(out).writerow([_inert(values[column]) for column in COLUMNS])
        yield out.getvalue()


def _inert(value: object) -> object:
    """A spreadsheet runs what starts like a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value
