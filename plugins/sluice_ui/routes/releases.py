"""The log of releases, one of them, two of them beside each other, and the way back."""

from typing import Annotated

from fastapi import APIRouter, Form
from starlette.responses import Response

from pipelines.publish.rows import live_release
from pipelines.report.audits import trail
from pipelines.report.releases import decisions, hidden_items, release_items, release_line, release_lines
from pipelines.report.two_releases import compare, document_between
from pipelines.review.quarantine import impact
from sluice_ui.context import Page

router = APIRouter()
PAGE = 50
ITEMS = 200
"""So many changes a release's own page lists; the review page has them all."""


@router.get("/releases")
def index(page: Page, before: int | None = None) -> Response:
    with page.app.database.read() as tx:
        lines = release_lines(tx, page.scope, PAGE, before)
    older = lines[-1].number if len(lines) == PAGE else None
    return page.page("releases.html", lines=lines, older=older)


@router.get("/releases/compare")
def two(page: Page, left: int, right: int, document: str = "") -> Response:
    """What readers see at one and not at the other; with `document`, its chunks word by word."""
    with page.app.database.read() as tx:
        for number in (left, right):
            if number and release_line(tx, page.scope, number) is None:
                raise page.missing()
        found = compare(tx, page.scope, left, right)
        diff = document_between(tx, page.scope, document, left, right) if document else None
    if document and diff is None:
        raise page.missing()
    chosen = next((one for one in found if one.document == document), None)
    return page.page("compare.html", left=left, right=right, documents=found, chosen=chosen, diff=diff)


@router.get("/releases/{number}")
def one(page: Page, number: int) -> Response:
    with page.app.database.read() as tx:
        line = release_line(tx, page.scope, number)
        if line is None:
            raise page.missing()
        counted = decisions(tx, page.scope, number)
        hidden = hidden_items(tx, page.scope, number)
        changed = release_items(tx, page.scope, number, ITEMS)
        events = trail(tx, page.app.kb, "release", str(number))
    return page.page(
        "release.html", line=line, decisions=counted, hidden=hidden, changed=changed, size=ITEMS, events=events
    )


@router.get("/releases/{number}/rollback")
def ask_rollback(page: Page, number: int) -> Response:
    """What going back means, before it is done."""
    with page.app.database.read() as tx:
        line = release_line(tx, page.scope, number) if number else None
        if number and (line is None or not line.can_return):
            raise page.missing()
        live = live_release(tx, page.app.kb)
        found = compare(tx, page.scope, live, number)
        used = impact(tx, page.app.kb, "release", str(live)) if live else None
    return page.page("rollback.html", number=number, live=live, documents=found, used=used)


@router.post("/releases/{number}/rollback")
def rollback(page: Page, number: int, reason: Annotated[str, Form(min_length=3, max_length=2000)]) -> Response:
    """Runs the DAG: Airflow checks the right to run it, and its log names who did."""
    if not page.viewer.may_run("kb_rollback"):
        raise page.forbidden()
    run = page.viewer.host.run(page.request, "kb_rollback", {"release": number, "reason": reason})
    return page.goto("/releases", done="kb_rollback", run=f"kb_rollback/{run}")
