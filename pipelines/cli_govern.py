"""`sluice quarantine | restore | requeue`: what readers get, whatever was published."""

from collections.abc import Callable
from typing import Any

import typer

from pipelines.cli_options import Actor, ChunkId, Doc, Json, Reason, SourceName, Version, needed, subject, wired
from pipelines.cli_output import emit

app = typer.Typer()


def _act(action: str, named: tuple[Any, str], reason: str, actor: str, as_json: bool) -> None:
    from pipelines.publish.rows import live_release
    from pipelines.review import quarantine as acts

    application = wired(actor)
    found = getattr(acts, action)(application, *named, needed(reason))
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


def _governing(action: str) -> Callable[..., None]:
    def act(
        doc: Doc = None,
        source: SourceName = None,
        version: Version = None,
        chunk: ChunkId = None,
        reason: Reason = "",
        actor: Actor = "",
        json_: Json = False,
    ) -> None:
        named = subject(document=doc, source=source, version=version, chunk=chunk)
        _act(action, named, reason, actor, json_)

    return act


app.command("quarantine", help="Take something from readers at once, at every release.")(_governing("quarantine"))
app.command("restore", help="Give back what was quarantined.")(_governing("restore"))


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
    _act("requeue", subject(document=doc, source=source, version=version), reason, actor, json_)
