"""The review of a release: the queue, one document at a time, and the decisions."""

from collections.abc import Callable, Sequence
from typing import Annotated

from fastapi import APIRouter, Form, Query
from sqlalchemy import Connection
from starlette.responses import Response

from pipelines.app import App
from pipelines.conflict.views import conflicts
from pipelines.errors import SluiceError
from pipelines.report.compare import changes
from pipelines.report.dossier import contents, findings, said, twins
from pipelines.report.queue import Group, Queue, entries, entries_of, names, next_look, queue
from pipelines.report.releases import hidden_items, release_line
from pipelines.report.reviews import under_review
from pipelines.review import decide
from sluice_ui.context import Context, Page

router = APIRouter()
PAGE = 50
ACTS: dict[str, Callable[[App, int, str, Sequence[str]], bool | None]] = {
    "approve": decide.approve,
    "approve_low": decide.approve,
    "hold": lambda app, number, reason, documents: decide.hold(app, number, documents, reason),
    "reject": lambda app, number, reason, documents: decide.reject(app, number, documents, reason),
}


@router.get("/releases/{number}/review")
def show_queue(
    page: Page, number: int, group: Group = "look", risk: str = "", source: str = "", start: int = Query(0, ge=0)
) -> Response:
    """One group of the queue, filtered; the others as counts."""
    page.warmth.begin()
    with page.app.database.read() as tx:
        line = release_line(tx, page.scope, number)
        if line is None:
            raise page.missing()
        found = queue(tx, page.scope, number)
        part = found.of(group, risk, source)
        shown = entries(tx, page.scope, part, start, PAGE)
        known = names(tx, [one.document for one in shown])
        hidden = hidden_items(tx, page.scope, number)
    return page.page(
        "queue.html",
        line=line,
        queue=found,
        group=group,
        risk=risk,
        source=source,
        shown=shown,
        names=known,
        total=part.size,
        start=start,
        size=PAGE,
        hidden=hidden,
        sources=found.sources,
        open=line.state in ("in_review", "approved", "failed"),
    )


@router.get("/releases/{number}/review/{document}")
def show_document(page: Page, number: int, document: str, all: bool = False) -> Response:
    """One change with everything that helps to decide on it."""
    with page.app.database.read() as tx:
        line = release_line(tx, page.scope, number)
        item = under_review(tx, page.scope, number, document) if line else None
        if line is None or item is None:
            raise page.missing()
        around = queue(tx, page.scope, number)
        following = next_look(tx, page.scope, around, document)
        history = said(tx, page.app.kb, document)
        found = findings(tx, item.version) if item.version else {}
    now, before = contents(page.app, item.artifacts), contents(page.app, item.previous_artifacts)
    diff = changes(before.chunks, now.chunks)
    with page.app.database.read() as tx:
        linked = twins(tx, page.scope, {one.id: one.text for one in now.chunks})
        clashes = conflicts(tx, page.app.kb, documents=page.scope.documents(), of=document)["conflicts"]
    return page.page(
        "dossier.html",
        line=line,
        item=item,
        mine=item.source.name in page.scope.reviews,
        next=following,
        left=around.of("look").size,
        last=around.pending == 1 and item.decision == "pending",
        history=history,
        findings=found,
        now=now,
        before=before,
        diff=diff,
        twins=linked,
        clashes=clashes,
        all=all,
        open=line.state in ("in_review", "approved", "failed"),
    )


@router.post("/releases/{number}/decide")
def take(
    page: Page,
    number: int,
    verdict: Annotated[str, Form()],
    reason: Annotated[str, Form(min_length=3, max_length=2000)],
    document: Annotated[tuple[str, ...], Form()] = (),
    one: Annotated[bool, Form()] = False,
) -> Response:
    """A decision on documents (`document`; `approve_low`: all of low risk), or on the release as a whole
    (`approve_release`, `decline_release`). `one`: from a document's page, so the next one follows."""
    with page.app.database.read() as tx:
        found = queue(tx, page.scope, number)
        outside = hidden_items(tx, page.scope, number)
    if not page.viewer.may_run("kb_release"):
        raise page.forbidden()
    if verdict in ("approve_release", "decline_release"):
        return _whole(page, number, verdict, reason, found, outside)
    with page.app.database.read() as tx:
        chosen = _low(tx, page, found) if verdict == "approve_low" else _chosen(tx, page, found, document)
    act = ACTS.get(verdict)
    if act is None or not chosen:
        raise page.missing()
    enough = act(page.app, number, reason, chosen)
    told = "more_needed" if enough is False else _tell_airflow(page, number, reason)
    with page.app.database.read() as tx:
        following = next_look(tx, page.scope, queue(tx, page.scope, number), "") if one else None
    place = f"/releases/{number}/review" + (f"/{following}" if following else "")
    return page.goto(place, done=told or verdict, n=len(chosen))


def _low(tx: Connection, page: Context, found: Queue) -> list[str]:
    """All of low risk that this person may decide on."""
    return [one.document for one in entries(tx, page.scope, found.of("low")) if one.kind.mine]


def _chosen(tx: Connection, page: Context, found: Queue, documents: Sequence[str]) -> list[str]:
    """What was ticked; 403 where it is not theirs."""
    chosen = entries_of(tx, page.scope, found, set(documents))
    if len(chosen) != len(set(documents)):
        raise page.missing()
    if not all(one.kind.mine for one in chosen):
        raise page.forbidden()
    return [one.document for one in chosen]


def _whole(page: Context, number: int, verdict: str, reason: str, found: Queue, outside: int) -> Response:
    """Declining is for who may decide on every change. Who may not approves their part, and the rest of the release
    becomes one of its own, as with an answer in Airflow."""
    whole = not outside and found.all_mine
    enough, rest = True, None
    if not whole and verdict == "decline_release":
        raise page.forbidden()
    if verdict == "decline_release":
        decide.decline(page.app, number, reason)
    elif not whole:
        enough, rest = _part(page, number, found, reason)
    else:
        enough = decide.approve(page.app, number, reason)
    if not enough:
        return page.goto(f"/releases/{number}/review", done="more_needed")
    told = _tell_airflow(page, number, reason)
    if rest is not None:
        page.viewer.host.run(page.request, "kb_release", {"release": rest})
    return page.goto(f"/releases/{number}", done=told or verdict)


def _part(page: Context, number: int, found: Queue, reason: str) -> tuple[bool, int | None]:
    with page.app.database.read() as tx:
        undecided = [one for one in entries(tx, page.scope, found) if one.kind.decision == "pending"]
    mine = [one.document for one in undecided if one.kind.mine]
    if not mine:
        raise page.forbidden()
    return decide.approve_part(page.app, number, mine, reason)


def _tell_airflow(page: Context, number: int, reason: str) -> str:
    """Answer the question of the release's run, so that it goes on; start a run where none waits. The decision itself
    stands in our database by now, whatever Airflow says. Returns the word for what follows, or nothing."""
    with page.app.database.read() as tx:
        line = release_line(tx, page.scope, number)
    option = {"approved": "Approve", "declined": "Decline"}.get(line.state if line else "")
    if option is None:
        return ""
    host = page.viewer.host
    try:
        if not host.answer(page.request, number, option, reason) and option == "Approve":
            host.run(page.request, "kb_release", {"release": number})
    except SluiceError:
        return "untold"
    return "publishing" if option == "Approve" else "declined"
