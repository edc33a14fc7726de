"""`sluice search`, `ask`, `feedback`, `serve`: reading as one reader may."""

from datetime import datetime
from typing import Annotated, Any

import typer

from pipelines.cli_output import emit

app = typer.Typer()

Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
As = Annotated[str | None, typer.Option("--as", help="User id of the reader.")]
Groups = Annotated[str, typer.Option("--groups", help="Teams of the reader, with commas.")]
AsOf = Annotated[int | None, typer.Option("--as-of", help="Read at this release.")]
Explain = Annotated[bool, typer.Option("--explain", help="Show what each step did.")]
History = Annotated[list[str] | None, typer.Option("--history", help="An earlier question, oldest first.")]


def _wired(actor: str = "") -> Any:
    from pipelines.wiring import wire

    return wire(actor=actor)


@app.command()
def search(
    text: str,
    as_: As = None,
    groups: Groups = "",
    as_of: AsOf = None,
    top: Annotated[int, typer.Option("--top", min=1, max=200)] = 10,
    source: Annotated[list[str] | None, typer.Option("--source", help="Only from this source.")] = None,
    kind: Annotated[list[str] | None, typer.Option("--type", help="Only this type: text, table, code, …")] = None,
    language: Annotated[list[str] | None, typer.Option("--language", help="Only this language: zh, en, …")] = None,
    dated_from: Annotated[
        datetime | None, typer.Option("--from", formats=["%Y-%m-%d"], help="Dated so or later.")
    ] = None,
    dated_to: Annotated[
        datetime | None, typer.Option("--to", formats=["%Y-%m-%d"], help="Dated so or earlier.")
    ] = None,
    history: History = None,
    explain: Explain = False,
    json_: Json = False,
) -> None:
    """Chunks that answer TEXT, from one release, as one reader may see them."""
    from pipelines import ask as asking

    where = asking.narrowed(source or (), kind or (), language or (), dated_from, dated_to)
    who = asking.reader(as_, groups)
    emit(asking.search(_wired(), text, who, as_of, top, explain, where, history or ()), json_)


@app.command()
def ask(
    text: str,
    as_: As = None,
    groups: Groups = "",
    as_of: AsOf = None,
    history: History = None,
    explain: Explain = False,
    json_: Json = False,
) -> None:
    """A cited answer, or "not found in the knowledge base"."""
    from pipelines import ask as asking

    emit(asking.ask(_wired(), text, asking.reader(as_, groups), as_of, explain, history or ()), json_)


@app.command()
def feedback(
    query: Annotated[str, typer.Argument(help="The `query` of an answer.")],
    verdict: Annotated[str, typer.Argument(metavar="up|down")],
    comment: Annotated[str, typer.Option("--comment", help="Kept masked.")] = "",
    as_: As = None,
    json_: Json = False,
) -> None:
    """Say whether an answer was right; a wrong one goes into the queue of questions to be labelled."""
    from pipelines.query_log import feedback as act

    emit(act(_wired(), query, verdict, as_ or "anonymous", comment), json_)  # type: ignore[arg-type]  # checked there


@app.command()
def serve(
    host: Annotated[str, typer.Option("--host")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535)] = 8077,
    json_: Json = False,
) -> None:
    """Search and ask over HTTP. Readers are named by a front end that holds SLUICE_SERVE__TOKEN."""
    import uvicorn

    from pipelines.serve import create, warm

    wired = _wired()
    warm(wired)
    emit({"schema": "sluice.serve/1", "url": f"http://{host}:{port}"}, json_)
    uvicorn.run(create(wired), host=host, port=port, log_level="warning")
