"""The quality report of a release and over time, its Data Docs, and the report as a file."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from markupsafe import Markup
from sqlalchemy import select
from starlette.responses import HTMLResponse, JSONResponse, Response

from pipelines.report import quality
from pipelines.report.page import drawings, spoken, tiles, trends
from pipelines.report.page import page as report_page
from sluice_ui.context import Context, Page
from sql import tables

router = APIRouter()
DAG = "kb_quality_report"
DOCUMENT = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"
"""Policy of the stored pages: they carry their style, and nothing else."""


def _allowed(page: Page) -> Context:
    # Its numbers and row ids are of the whole knowledge base.
    if not page.viewer.audits:
        raise page.forbidden()
    return page


Auditor = Annotated[Context, Depends(_allowed)]


@router.get("/quality")
def index(page: Auditor, run: int | None = None) -> Response:
    with page.app.database.read() as tx:
        report = _report(tx, page, run) if run else quality.latest(tx, page.app.kb)
        past = quality.history(tx, page.app.kb)
        runs = _runs(tx, page.app.kb)
    say = spoken(page.say.language)
    docs = report is not None and page.app.artifacts.exists(f"reports/{page.app.kb}/{report['run']}/index.html")
    return page.page(
        "quality.html",
        report=report,
        runs=runs,
        docs=docs,
        tiles=tiles(report) if report else [],
        drawn=[(title, Markup(svg)) for title, svg in drawings(report, say)] if report else [],
        trends=[(title, Markup(svg)) for title, svg in trends(past, say)],
        say=say,
        dag=DAG,
    )


@router.post("/quality")
def check(page: Auditor) -> Response:
    """Airflow runs the report on the live release."""
    if not page.viewer.may_run(DAG):
        raise page.forbidden()
    run = page.viewer.host.run(page.request, DAG, {})
    return page.goto("/quality", done=DAG, run=f"{DAG}/{run}")


@router.get("/quality/{run}/report.json")
def as_json(page: Auditor, run: int) -> Response:
    with page.app.database.read() as tx:
        report = _report(tx, page, run)
    return JSONResponse(report, headers={"Content-Disposition": f'attachment; filename="quality-{run}.json"'})


@router.get("/quality/{run}/report.html")
def as_html(page: Auditor, run: int) -> Response:
    """One file, for mail or chat."""
    with page.app.database.read() as tx:
        made = report_page(_report(tx, page, run), quality.history(tx, page.app.kb), page.say.language)
    headers = {
        "Content-Disposition": f'attachment; filename="quality-{run}.html"',
        "Content-Security-Policy": DOCUMENT,
    }
    return HTMLResponse(made, headers=headers)


@router.get("/quality/{run}/docs/{path:path}")
def data_docs(page: Auditor, run: int, path: str) -> Response:
    key = f"reports/{page.app.kb}/{run}/{path}"
    if ".." in path or not path.endswith(".html") or not page.app.artifacts.exists(key):
        raise page.missing()
    return HTMLResponse(page.app.artifacts.get(key), headers={"Content-Security-Policy": DOCUMENT})


def _report(tx: Any, page: Context, run: int) -> dict[str, Any]:
    q = tables.quality_run
    found = tx.execute(select(q.c.report).where(q.c.kb == page.app.kb, q.c.id == run)).scalar()
    if found is None:
        raise page.missing()
    return {**found, "run": run}


def _runs(tx: Any, kb: str) -> list[Any]:
    q = tables.quality_run
    query = select(q.c.id, q.c.release, q.c.scope, q.c.success, q.c.at).where(q.c.kb == kb)
    return list(tx.execute(query.order_by(q.c.id.desc()).limit(20)).all())
