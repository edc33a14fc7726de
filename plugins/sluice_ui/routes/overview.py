"""How the knowledge base stands, and what waits."""

from fastapi import APIRouter
from starlette.responses import Response

from pipelines.report.overview import overview
from sluice_ui.context import Page

router = APIRouter()


@router.get("/")
def show(page: Page) -> Response:
    with page.app.database.read() as tx:
        found = overview(tx, page.scope, page.app.clock())
    return page.page("overview.html", overview=found)
