"""The labelling queue: questions that found nothing, little, or a wrong answer. A person says what answers each; it
then belongs to the evaluation set `labelled`, which the gate can ask of every release."""

from typing import Annotated, Any, Literal, get_args

from fastapi import APIRouter, Depends, Form
from starlette.responses import Response

from pipelines import query_log
from pipelines.ask import find
from pipelines.errors import Misconfigured
from pipelines.publish.rows import live_release
from pipelines.report.labelling import evidence_of, tally
from pipelines.retrieve.answer import sentences
from sluice_ui.context import Context, Page

router = APIRouter()
State = Literal["open", "labelled", "dismissed"]
DAG = "kb_evaluate"
TOP = 8


def _allowed(page: Page) -> Context:
    # What people asked may tell of documents of every team.
    if not page.viewer.person.admin:
        raise page.forbidden()
    return page


Admin = Annotated[Context, Depends(_allowed)]


@router.get("/questions")
def index(page: Admin, state: State = "open") -> Response:
    with page.app.database.read() as tx:
        found = query_log.queue(tx, page.app.kb, state)
        counts = tally(tx, page.app.kb)
    sources = page.app.settings.sources
    asked = sources.exists() and "labelled" in page.app.sources().evaluation.sets
    return page.page(
        "questions.html", found=found, counts=counts, state=state, states=get_args(State), asked=asked, dag=DAG
    )


@router.get("/questions/labelled.jsonl")
def export(page: Admin) -> Response:
    """The labelled questions as an evaluation set."""
    with page.app.database.read() as tx:
        made = query_log.as_lines(query_log.labelled(tx, page.app.kb))
    headers = {"Content-Disposition": 'attachment; filename="labelled.jsonl"'}
    return Response(made, media_type="application/jsonl", headers=headers)


@router.post("/questions/evaluate")
def evaluate(page: Admin) -> Response:
    """Airflow asks the live release the labelled questions."""
    if not page.viewer.may_run(DAG):
        raise page.forbidden()
    run = page.viewer.host.run(page.request, DAG, {"set": "labelled"})
    return page.goto("/questions", done=DAG, run=f"{DAG}/{run}", state="labelled")


@router.get("/questions/{id_}")
def one(page: Admin, id_: str, q: str = "") -> Response:
    """The question with what is found for it now; `q` looks for its evidence with other words."""
    return _page(page, _found(page, id_), q)


@router.post("/questions/{id_}")
def settle(
    page: Admin,
    id_: str,
    act: Annotated[Literal["label", "none", "dismiss"], Form()],
    span: Annotated[tuple[str, ...], Form()] = (),
    words: Annotated[str, Form(max_length=2000)] = "",
    pinned: Annotated[bool, Form()] = False,
    q: Annotated[str, Form(max_length=500)] = "",
) -> Response:
    """`label`: ticked sentences or `words` answer it; `none`: nothing should; `dismiss`: not worth a label."""
    row = _found(page, id_)
    if not page.viewer.may_run(DAG):
        raise page.forbidden()
    if act == "dismiss":
        query_log.dismiss(page.app, id_)
        return page.goto("/questions", done="dismissed")
    labels: dict[str, Any] = {"unanswerable": True}
    if act == "label":
        # Browsers send line ends as CR LF.
        spans = [one.replace("\r\n", "\n").strip() for one in (*span, words) if one.strip()]
        try:
            with page.app.database.read() as tx:
                documents = evidence_of(tx, page.scope, live_release(tx, page.app.kb), spans)
        except Misconfigured as error:
            return _page(page, row, q, error.reason)
        labels = {"spans": tuple(spans), "documents": documents, "pinned": pinned}
    query_log.label(page.app, id_, **labels)
    return page.goto("/questions", done="labelled")


def _found(page: Context, id_: str) -> dict[str, Any]:
    with page.app.database.read() as tx:
        row = query_log.queued(tx, page.app.kb, id_)
    if row is None:
        raise page.missing()
    return row


def _page(page: Context, row: dict[str, Any], q: str, problem: str = "") -> Response:
    found = find(page.app, q.strip() or row["question"], page.scope.reader, None, TOP)[1]
    hits = [(hit, sentences(hit.passage.text)) for hit in found.hits] if found else []
    chosen = set((row["label"] or {}).get("spans", ()))
    return page.page(
        "question.html", 422 if problem else 200, row=row, hits=hits, q=q, chosen=chosen, problem=problem, dag=DAG
    )
