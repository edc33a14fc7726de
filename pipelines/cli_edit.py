"""`sluice edit` and `sluice hold`: what a reviewer does to one chunk."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from pipelines.cli_output import emit

Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; kept in the audit.")]
Actor = Annotated[str, typer.Option("--actor", help="Who acts; default: the login name.")]
Undo = Annotated[bool, typer.Option("--undo", help="Take it back.")]


app = typer.Typer()


@app.command()
def edit(
    chunk: str,
    text: Annotated[str, typer.Option("--text", help="File with the new text; - reads standard input.")] = "",
    undo: Undo = False,
    reason: Reason = "",
    actor: Actor = "",
    json_: Json = False,
) -> None:
    """Put another text in the place of a chunk's; later syncs keep it. Builds a release in review."""
    from pipelines.review import edit as acts

    if bool(text) == undo:
        raise typer.BadParameter("name --text or --undo")
    wired = _wired(actor, reason)
    if undo:
        acts.undo(wired, chunk, "edit", reason)
    else:
        words = sys.stdin.read() if text == "-" else Path(text).read_text(encoding="utf-8")
        acts.edit(wired, chunk, words, reason)
    _built(wired, "edit", chunk, json_)


@app.command()
def hold(chunk: str, undo: Undo = False, reason: Reason = "", actor: Actor = "", json_: Json = False) -> None:
    """Keep a chunk from readers, after review (`quarantine --chunk` is at once). Builds a release in review."""
    from pipelines.review import edit as acts

    wired = _wired(actor, reason)
    acts.undo(wired, chunk, "hold", reason) if undo else acts.hold_chunk(wired, chunk, reason)
    _built(wired, "hold", chunk, json_)


def _wired(actor: str, reason: str) -> Any:
    from pipelines.wiring import wire

    if not reason:
        raise typer.BadParameter("--reason is needed: it is kept in the audit")
    return wire(actor=actor)


def _built(wired: Any, action: str, chunk: str, as_json: bool) -> None:
    from pipelines import flow

    built = flow.take_up(wired)
    result = {"schema": f"sluice.{action}/1", "chunk": chunk, "release": built.number}
    emit(result | {"chunks": built.chunks.counts(), "calls": {"embed": built.embedded}}, as_json)
