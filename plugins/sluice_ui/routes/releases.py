"""The log of releases."""

from fastapi import APIRouter
from starlette.responses import Response

from pipelines.report.releases import release_lines
from sluice_ui.context import Page

router = APIRouter()
PAGE = 50


@router.get("/releases")
def index(page: Page, before: int | None = None) -> Response:
    with page.app.database.read() as tx:
        lines = release_lines(tx, page.scope, PAGE, before)
    older = lines[-1].number if len(lines) == PAGE else None
    return page.page("releases.html", lines=lines, older=older)
