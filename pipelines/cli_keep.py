"""`sluice forget | vacuum | reembed | reveal`: what a knowledge base keeps, and in what form."""

from typing import Annotated, Any

import typer

from pipelines.cli_output import emit

app = typer.Typer()

Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; kept in the audit.")]
Actor = Annotated[str, typer.Option("--actor", help="Who acts; default: the login name.")]


def _wired(actor: str) -> Any:
    from pipelines.wiring import wire

    return wire(actor=actor)


def _needed(reason: str) -> str:
    if not reason.strip():
        raise typer.BadParameter("--reason is needed: it is kept in the audit")
    return reason


@app.command()
def forget(
    doc: Annotated[str | None, typer.Option("--doc", help="Document id.")] = None,
    source: Annotated[str | None, typer.Option("--source", help="Source name.")] = None,
    version: Annotated[str | None, typer.Option("--version", help="Version id.")] = None,
    chunk: Annotated[str | None, typer.Option("--chunk", help="Chunk id.")] = None,
    reason: Reason = "",
    actor: Actor = "",
    json_: Json = False,
) -> None:
    """Erase something everywhere, for good, and print the certificate; no sync brings it back."""
    from pipelines.publish.forget import forget as act

    named = {"document": doc, "source": source, "version": version, "chunk": chunk}
    given: list[tuple[Any, str]] = [(kind, value) for kind, value in named.items() if value]
    if len(given) != 1:
        raise typer.BadParameter("name exactly one of --doc, --source, --version, --chunk")
    emit(act(_wired(actor), *given[0], _needed(reason)), json_)


@app.command()
def vacuum(actor: Actor = "", json_: Json = False) -> None:
    """Remove what no kept release shows, and questions and collections that are past their time."""
    from pipelines.publish.vacuum import vacuum as act

    emit(act(_wired(actor)), json_)


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

    emit(act(_wired(actor), embedder, reason or "re-embedding"), json_)


@app.command()
def reveal(token: str, reason: Reason = "", actor: Actor = "", json_: Json = False) -> None:
    """The original behind a token of the vault; the audit keeps who asked and why."""
    from pipelines.vault import reveal as act

    emit(act(_wired(actor), token, _needed(reason)), json_)
