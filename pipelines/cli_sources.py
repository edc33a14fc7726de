"""`sluice sources`: what sources.yaml says, and whether each source can be listed."""

from typing import Annotated, Any

import typer

from pipelines.cli_output import emit

app = typer.Typer()


@app.command()
def sources(
    check: Annotated[bool, typer.Option("--check", help="List each source too, without reading a document.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Check and list sources.yaml; exit status 1 when a source that was asked with --check cannot be listed."""
    from pipelines.wiring import wire

    wired = wire()
    shown = {"name", "kind"} if check else {"name", "kind", "location", "authority", "scope"}
    found = [one.model_dump(mode="json", include=shown) for one in wired.sources().sources]
    if check:
        for line, source in zip(found, wired.sources().sources, strict=True):
            line |= _listed(wired.reader(source))
    emit({"schema": "sluice.sources/1", "sources": found}, json_)
    if any(line.get("error") for line in found):
        raise typer.Exit(1)


def _listed(reader: Any) -> dict[str, Any]:
    """Counts, or what keeps it from being listed."""
    from pipelines.errors import SluiceError

    try:
        documents = sum(1 for _ in reader.files())
    except SluiceError as error:
        return {"error": str(error)}
    return {"documents": documents, "problems": len(reader.problems)}
