"""`sluice search`, `sluice ask`: reading as one reader may."""

from typing import Annotated, Any

import typer

from pipelines.cli_output import emit

app = typer.Typer()

Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]


def _wired(actor: str = "") -> Any:
    from pipelines.wiring import wire

    return wire(actor=actor)


As = Annotated[str | None, typer.Option("--as", help="User id of the reader.")]
Groups = Annotated[str, typer.Option("--groups", help="Teams of the reader, with commas.")]
AsOf = Annotated[int | None, typer.Option("--as-of", help="Read at this release.")]


@app.command()
def search(
    text: str,
    as_: As = None,
    groups: Groups = "",
    as_of: AsOf = None,
    top: Annotated[int, typer.Option("--top", min=1, max=200)] = 10,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each step did.")] = False,
    json_: Json = False,
) -> None:
    """Chunks that answer TEXT, from one release, as one reader may see them."""
    from pipelines import ask as asking

    emit(asking.search(_wired(), text, asking.reader(as_, groups), as_of, top, explain), json_)


@app.command()
def ask(text: str, as_: As = None, groups: Groups = "", as_of: AsOf = None, json_: Json = False) -> None:
    """A cited answer, or "not found in the knowledge base"."""
    from pipelines import ask as asking

    emit(asking.ask(_wired(), text, asking.reader(as_, groups), as_of), json_)
