"""How the knowledge base stands, and what waits."""

from fastapi import APIRouter
from starlette.responses import Response

from pipelines.report.overview import overview
from sluice_ui.context import Page

router = APIRouter()


@router.get("/")
def show(page: Page) -> Response:
    with page.app.database.read() as tx:
        found = overview(tx, page.scope, page.app.clock(), page.viewer.audits)
    return page.page("overview.html", overview=found)


@router.post("/sync")
def sync(page: Page) -> Response:
    """Runs the nightly DAG at once."""
    if not page.viewer.person.admin or not page.viewer.may_run("kb_sync"):
        raise page.forbidden()
    run = page.viewer.host.run(page.request, "kb_sync", {})
    return page.goto("/", done="kb_sync", run=f"kb_sync/{run}")
