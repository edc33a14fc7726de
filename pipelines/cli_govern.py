"""`sluice quarantine | restore | requeue`: what readers get, whatever was published."""

from functools import partial
from typing import Any

import typer

from pipelines.cli_options import Actor, Doc, Json, Reason, SourceName, Version, needed, on_subject, subject, wired
from pipelines.cli_output import emit

app = typer.Typer()


def _act(action: str, named: tuple[Any, str], reason: str, actor: str, as_json: bool) -> None:
    from pipelines.publish.rows import live_release
    from pipelines.review import quarantine as acts

    application = wired(actor)
    found = getattr(acts, action)(application, *named, reason)
    with application.database.read() as tx:
        used = acts.impact(tx, application.kb, *named) if action == "requeue" else found
        live = live_release(tx, application.kb)
    result = {
        "schema": f"sluice.{action}/1",
        "subject": {"kind": named[0], "id": named[1]},
        "impact": {"chunks": used.chunks, "queries": used.queries, "users": used.users},
        "release": live,
    }
    emit(result | ({"versions": found} if action == "requeue" else {}), as_json)


app.command("quarantine", help="Take something from readers at once, at every release.")(
    on_subject(partial(_act, "quarantine"))
)
app.command("restore", help="Give back what was quarantined.")(on_subject(partial(_act, "restore")))


@app.command()
def requeue(
    doc: Doc = None,
    source: SourceName = None,
    version: Version = None,
    reason: Reason = "",
    actor: Actor = "",
    json_: Json = False,
) -> None:
    """Send rejected versions through the layers again at the next sync."""
    _act("requeue", subject(document=doc, source=source, version=version), needed(reason), actor, json_)
