"""Search under the live release and under another, side by side."""

from fastapi import APIRouter
from starlette.responses import Response

from pipelines.ask import find
from pipelines.publish.rows import live_release
from pipelines.report.releases import release_line
from pipelines.report.wording import Piece, marked
from pipelines.review.preview import preview
from schemas.search import Hit
from sluice_ui.context import Page

router = APIRouter()
TOP = 8
PATIENCE = 2.0
"""Seconds that a question waits for the search model, before the page says that it is loading."""
AGAIN = 3
"""Seconds until that page asks again."""


@router.get("/releases/{number}/preview")
def show(page: Page, number: int, q: str = "") -> Response:
    """As this person searches; nothing is logged as a question."""
    with page.app.database.read() as tx:
        line = release_line(tx, page.scope, number)
        live = live_release(tx, page.app.kb)
    if line is None:
        raise page.missing()
    now: tuple[Hit, ...] = ()
    then: tuple[Hit, ...] = ()
    ready = page.warmth.ready(PATIENCE if q.strip() else 0)
    if ready and q.strip():
        found = find(page.app, q, page.scope.reader, None, TOP)[1]
        now = found.hits if found else ()
        planned = preview(page.app, number, q, page.scope.reader, TOP)
        then = planned.hits if planned else ()
    ranks = {hit.passage.chunk: rank for rank, hit in enumerate(now, 1)}
    texts = {hit.passage.chunk: hit.passage.text for hit in now}
    after = [(hit, ranks.get(hit.passage.chunk), _edit(texts.get(hit.passage.chunk), hit)) for hit in then]
    kept = {hit.passage.chunk for hit in then}
    before = [(hit, hit.passage.chunk in kept) for hit in now]
    shown = page.page("preview.html", line=line, live=live, q=q, before=before, after=after, loading=not ready)
    if q.strip() and not ready:
        shown.headers["Refresh"] = str(AGAIN)
    return shown


def _edit(before: str | None, hit: Hit) -> tuple[Piece, ...]:
    """The words that differ where a passage kept its id and not its text (an edit)."""
    return marked(before, hit.passage.text) if before is not None and before != hit.passage.text else ()
