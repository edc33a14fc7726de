"""From a run of a DAG to the page that belongs to it."""

from fastapi import APIRouter
from starlette.responses import Response

from sluice_ui.context import Page

router = APIRouter()
SUBJECT_DAGS = ("kb_quarantine", "kb_restore", "kb_requeue", "kb_forget")


@router.get("/run/{dag}/{run:path}")
def of_run(page: Page, dag: str, run: str) -> Response:
    """Release runs lead to their release, runs on a document to the document, everything else to the overview."""
    conf = page.viewer.host.run_conf(page.request, dag, run)
    number, subject = conf.get("release"), conf.get("subject")
    if dag in ("kb_release", "kb_rollback") and isinstance(number, int) and number > 0:
        return page.goto(f"/releases/{number}" + ("/review" if dag == "kb_release" else ""))
    if dag in SUBJECT_DAGS and conf.get("kind") == "document" and isinstance(subject, str):
        return page.goto(f"/documents/{subject}")
    return page.goto("/")
