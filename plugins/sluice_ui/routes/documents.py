"""Documents: the list, one of them, and what can be done to it. Each act shows its impact first and runs its DAG."""

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Form, Query
from starlette.responses import Response

from pipelines.errors import Rejected
from pipelines.report.compare import changes
from pipelines.report.documents import Filter, VersionLine, Whole, lines, whole
from pipelines.report.dossier import contents, findings, twins
from pipelines.report.impacts import asked
from pipelines.report.page_view import figure_view, page_view
from pipelines.review.quarantine import impact
from sluice_ui.context import Context, Page

router = APIRouter()
PAGE = 50
STATES = ("discovered", "in_progress", "staged", "published", "superseded", "removed", "quarantined")
DAGS = {
    "quarantine": "kb_quarantine",
    "restore": "kb_restore",
    "requeue": "kb_requeue",
    "forget": "kb_forget",
    "rollback": "kb_rollback",
}
KINDS = {
    "quarantine": ("document", "version", "chunk"),
    "restore": ("document", "version", "chunk"),
    "requeue": ("document", "version"),
    "forget": ("document", "version"),
    "rollback": ("version",),
}


@router.get("/documents")
def index(page: Page, text: str = "", source: str = "", state: str = "", start: int = Query(0, ge=0)) -> Response:
    with page.app.database.read() as tx:
        total, found = lines(tx, page.scope, Filter(text, source, state), PAGE, start)
    return page.page(
        "documents.html",
        lines=found,
        total=total,
        text=text,
        source=source,
        state=state,
        states=STATES,
        start=start,
        size=PAGE,
    )


@router.get("/documents/{document}")
def one(page: Page, document: str, version: str = "") -> Response:
    """With the chunks of one version: the chosen one, else what readers see, else the newest."""
    found = _found(page, document)
    shown = _version(page, found, version) if version else found.live or (found.versions or (None,))[0]
    facts = contents(page.app, shown.artifacts if shown else {})
    with page.app.database.read() as tx:
        linked = twins(tx, page.scope, {one.id: one.text for one in facts.chunks})
        pii = findings(tx, shown.id) if shown else {}
    # Every chunk against itself: unchanged.
    chunks = changes(facts.chunks, facts.chunks)
    return page.page(
        "document.html", one=found, shown=shown, facts=facts, chunks=chunks, twins=linked, findings=pii, kinds=KINDS
    )


@router.get("/documents/{document}/versions/{version}/pages/{number}.png")
def page_png(page: Page, document: str, version: str, number: int) -> Response:
    """The page with personal data covered; a small picture with the reason where it cannot be shown."""
    chosen = _version(page, _found(page, document), version)
    return _png(page, lambda: page_view(page.app, version, chosen.artifacts, number))


@router.get("/documents/{document}/versions/{version}/figures/{chunk}.png")
def figure_png(page: Page, document: str, version: str, chunk: str) -> Response:
    """The figure of a chunk, unless it holds personal data."""
    chosen = _version(page, _found(page, document), version)
    return _png(page, lambda: figure_view(page.app, chosen.artifacts, chunk))


def _png(page: Context, view: Callable[[], bytes]) -> Response:
    try:
        png = view()
    except Rejected as error:
        svg = page.draw("nopage.svg", reason=error.reason)
        return Response(svg, 200, media_type="image/svg+xml")
    return Response(png, media_type="image/png", headers={"Cache-Control": "private, max-age=600"})


@router.get("/documents/{document}/{act}/{kind}/{subject}")
def ask(page: Page, document: str, act: str, kind: str, subject: str) -> Response:
    """What it would touch, before it is done."""
    found = _found(page, document)
    _check(page, found, act, kind, subject)
    with page.app.database.read() as tx:
        touched = impact(tx, page.app.kb, kind, subject)
        questions = asked(tx, page.app.kb, kind, subject)
    version = next((one for one in found.versions if one.id == subject), None)
    return page.page(
        "act.html",
        one=found,
        act=act,
        kind=kind,
        subject=subject,
        version=version,
        touched=touched,
        questions=questions,
        dag=DAGS[act],
    )


@router.post("/documents/{document}/{act}/{kind}/{subject}")
def do(
    page: Page,
    document: str,
    act: str,
    kind: str,
    subject: str,
    reason: Annotated[str, Form(min_length=3, max_length=2000)],
) -> Response:
    """Airflow runs the DAG under this person's name, and writes both logs."""
    found = _found(page, document)
    _check(page, found, act, kind, subject)
    dag = DAGS[act]
    if not page.viewer.may_run(dag):
        raise page.forbidden()
    conf: dict[str, str] = {"kind": kind, "subject": subject, "reason": reason}
    if act == "rollback":
        conf = {"document": document, "version": subject, "reason": reason}
    run = page.viewer.host.run(page.request, dag, conf)
    return page.goto(f"/documents/{document}", done=dag, run=f"{dag}/{run}")


def _found(page: Context, document: str) -> Whole:
    with page.app.database.read() as tx:
        found = whole(tx, page.scope, document)
    if found is None:
        raise page.missing()
    return found


def _version(page: Context, found: Whole, version: str) -> VersionLine:
    for one in found.versions:
        if one.id == version:
            return one
    raise page.missing()


def _check(page: Context, found: Whole, act: str, kind: str, subject: str) -> None:
    """The subject is this document or a part of it, so that its scope is the document's; and this person governs it."""
    if act not in DAGS or kind not in KINDS[act]:
        raise page.missing()
    if kind == "document" and subject != found.id:
        raise page.missing()
    if kind == "version":
        _version(page, found, subject)
    if kind == "chunk" and not _holds(page, found, subject):
        raise page.missing()
    if found.source.name not in page.scope.reviews:
        raise page.forbidden()


def _holds(page: Context, found: Whole, chunk: str) -> bool:
    return any(one.id == chunk for version in found.versions for one in contents(page.app, version.artifacts).chunks)
