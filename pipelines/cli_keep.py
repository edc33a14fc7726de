"""`sluice forget | vacuum | reembed | reveal`: what a knowledge base keeps, and in what form."""

from typing import Annotated

import typer

from pipelines.cli_options import Actor, ChunkId, Doc, Json, Reason, SourceName, Version, needed, subject, wired
from pipelines.cli_output import emit

app = typer.Typer()


@app.command()
def forget(
    doc: Doc = None,
    source: SourceName = None,
    version: Version = None,
    chunk: ChunkId = None,
    reason: Reason = "",
    actor: Actor = "",
    json_: Json = False,
) -> None:
    """Erase something everywhere, for good, and print the certificate; no sync brings it back."""
    from pipelines.publish.forget import forget as act

    named = subject(document=doc, source=source, version=version, chunk=chunk)
    emit(act(wired(actor), *named, needed(reason)), json_)


@app.command()
def vacuum(actor: Actor = "", json_: Json = False) -> None:
    """Remove what no kept release shows, and questions and collections that are past their time."""
    from pipelines.publish.vacuum import vacuum as act

    emit(act(wired(actor)), json_)


@app.command()
def reembed(
    embedder: Annotated[
        str, typer.Option("--embedder", help="A name of SLUICE_EMBEDDERS, or a bundled one; default: SLUICE_EMBEDDER.")
    ] = "",
    reason: Reason = "",
    actor: Actor = "",
    json_: Json = False,
) -> None:
    """Fill a collection for another embedder beside the live one, then switch; queries go on meanwhile."""
    from pipelines.publish.reembed import reembed as act

    emit(act(wired(actor), embedder, reason or "re-embedding"), json_)


@app.command()
def reveal(token: str, reason: Reason = "", actor: Actor = "", json_: Json = False) -> None:
    """The original behind a token of the vault; the audit keeps who asked and why."""
    from pipelines.vault import reveal as act

    emit(act(wired(actor), token, needed(reason)), json_)
