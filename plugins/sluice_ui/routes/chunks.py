"""What a reviewer does to one chunk: edit it, hold it back, take either back. The next sync lays it over the document,
and it goes through review like any other change."""

from typing import Annotated

from fastapi import APIRouter, Form
from starlette.responses import Response

from pipelines.report.documents import Whole, whole
from pipelines.report.dossier import contents
from pipelines.review import edit as acts
from schemas.chunk import MaskedChunk
from sluice_ui.context import Context, Page

router = APIRouter()
Reason = Annotated[str, Form(min_length=3, max_length=2000)]


@router.get("/documents/{document}/chunks/{chunk}")
def ask(page: Page, document: str, chunk: str, release: int | None = None) -> Response:
    """The form. `release`: the review to come back to."""
    found, one = _chunk(page, document, chunk)
    with page.app.database.read() as tx:
        laid = [row for row in acts.overlays(tx, page.app.kb, document) if row["chunk"] == chunk]
    return page.page("chunk_edit.html", one=found, chunk=one, laid=laid, release=release)


@router.post("/documents/{document}/chunks/{chunk}")
def do(
    page: Page,
    document: str,
    chunk: str,
    act: Annotated[str, Form()],
    reason: Reason,
    text: Annotated[str, Form(max_length=20_000)] = "",
    release: Annotated[int | None, Form()] = None,
) -> Response:
    _chunk(page, document, chunk)
    if act == "edit":
        # Browsers send line ends as CR LF.
        acts.edit(page.app, chunk, text.replace("\r\n", "\n"), reason)
    elif act == "hold":
        acts.hold_chunk(page.app, chunk, reason)
    elif act == "undo_edit":
        acts.undo(page.app, chunk, "edit", reason)
    elif act == "undo_hold":
        acts.undo(page.app, chunk, "hold", reason)
    else:
        raise page.missing()
    place = f"/releases/{release}/review/{document}" if release else f"/documents/{document}"
    return page.goto(place, done="chunk")


def _chunk(page: Context, document: str, chunk: str) -> tuple[Whole, MaskedChunk]:
    """Of a version that is staged or that readers see; 403 where others decide on this source."""
    with page.app.database.read() as tx:
        found = whole(tx, page.scope, document)
    if found is None:
        raise page.missing()
    if found.source.name not in page.scope.reviews or not page.viewer.may_run("kb_release"):
        raise page.forbidden()
    for version in found.versions:
        if version.state in ("staged", "published"):
            for one in contents(page.app, version.artifacts).chunks:
                if one.id == chunk:
                    return found, one
    raise page.missing()
