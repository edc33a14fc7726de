"""`sluice forget | vacuum | reembed | reveal`: what a knowledge base keeps, and in what form."""

from typing import Annotated, Any

import typer

from pipelines.cli_options import Actor, Json, Reason, needed, on_subject, wired
from pipelines.cli_output import emit

app = typer.Typer()


def _forget(named: tuple[Any, str], reason: str, actor: str, as_json: bool) -> None:
    from pipelines.publish.forget import forget

    emit(forget(wired(actor), *named, reason), as_json)


app.command("forget", help="Erase something everywhere, for good, and print the certificate; no sync brings it back.")(
    on_subject(_forget)
)


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
