"""Documents that contradict each other: both sides, what differs, and what a person decides."""

from typing import Annotated, Any

from fastapi import APIRouter, Form
from starlette.responses import Response

from pipelines.conflict.decide import STRATEGIES, Strategy, decide
from pipelines.conflict.views import conflict, conflicts
from pipelines.errors import Conflict
from sluice_ui.context import Context, Page

router = APIRouter()
SHOWN = 6
"""Places that the list names for each conflict; the conflict's own page has all."""


@router.get("/conflicts")
def index(page: Page, strategy: str = "") -> Response:
    with page.app.database.read() as tx:
        found = conflicts(tx, page.app.kb, strategy or None, documents=page.scope.documents())
    return page.page(
        "conflicts.html",
        counts=found["counts"],
        found=[{**one, "mine": _mine(page, one)} for one in found["conflicts"]],
        strategy=strategy,
        shown=SHOWN,
    )


@router.get("/conflicts/{id_}")
def one(page: Page, id_: str) -> Response:
    found = _found(page, id_)
    marked = {
        side: _marked(found[f"text_{side}"], [place[side] for place in found["differences"]]) for side in ("a", "b")
    }
    return page.page(
        "conflict.html", one=found, marked=marked, mine=_mine(page, found), strategies=STRATEGIES, problem=None
    )


@router.post("/conflicts/{id_}")
def settle(
    page: Page,
    id_: str,
    strategy: Annotated[Strategy, Form()],
    reason: Annotated[str, Form(min_length=3, max_length=2000)],
    note: Annotated[str, Form(max_length=2000)] = "",
) -> Response:
    """Search respects it at once."""
    found = _found(page, id_)
    if not _mine(page, found):
        raise page.forbidden()
    decide(page.app, found["conflict"], strategy, reason, note)
    return page.goto("/conflicts", done="settled")


def _mine(page: Context, found: dict[str, Any]) -> bool:
    """Whoever reviews one of the two sources may decide."""
    return bool({found["a"]["source"], found["b"]["source"]} & set(page.scope.reviews))


def _found(page: Context, id_: str) -> dict[str, Any]:
    try:
        found = conflict(page.app, id_)
    except Conflict:
        raise page.missing() from None
    with page.app.database.read() as tx:
        seen = "a" in found and all(page.scope.sees(tx, found[side]["document"]) for side in ("a", "b"))
    if not seen:
        raise page.missing()
    return found


def _marked(text: str, spans: list[list[int]]) -> list[tuple[str, bool]]:
    """The text in pieces, each with whether it differs."""
    pieces, at = [], 0
    for start, end in sorted(map(tuple, spans)):
        if start < at or end > len(text):
            continue
        pieces += [(text[at:start], False), (text[start:end], True)]
        at = end
    return [piece for piece in [*pieces, (text[at:], False)] if piece[0]]
