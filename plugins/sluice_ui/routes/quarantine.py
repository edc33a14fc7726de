"""Quarantine: what was rejected, why, and the way back through the layers."""

from typing import Annotated

from fastapi import APIRouter, Form, Query
from starlette.responses import Response

from pipelines.report.quarantined import compared, groups, rejected, withheld
from pipelines.review.quarantine import requeue
from sluice_ui.context import Page

router = APIRouter()
PAGE = 50


@router.get("/quarantine")
def index(page: Page, code: str = "", source: str = "", start: int = Query(0, ge=0)) -> Response:
    with page.app.database.read() as tx:
        grouped = groups(tx, page.scope, page.app.clock(), source)
        total, found = rejected(tx, page.scope, code, source, PAGE, start)
        kept = withheld(tx, page.scope)
    return page.page(
        "quarantine.html",
        groups=grouped,
        code=code,
        source=source,
        total=total,
        found=compared(page.app, found),
        start=start,
        size=PAGE,
        withheld=kept,
    )


@router.post("/quarantine/requeue")
def again(
    page: Page,
    reason: Annotated[str, Form(min_length=3, max_length=2000)],
    version: Annotated[tuple[str, ...], Form()] = (),
) -> Response:
    """The next sync takes these versions through the layers again."""
    with page.app.database.read() as tx:
        known = {one.version: one for one in rejected(tx, page.scope, "", "", 10_000)[1]}
    if not version or any(one not in known for one in version):
        raise page.missing()
    if not all(known[one].mine for one in version) or not page.viewer.may_run("kb_requeue"):
        raise page.forbidden()
    done = [one for subject in version for one in requeue(page.app, "version", subject, reason)]
    return page.goto("/quarantine", done="requeued", n=len(done))
