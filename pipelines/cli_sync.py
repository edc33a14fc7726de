"""`sluice sync`: layers 1 to 6 over what is new, or over what is known already."""

from datetime import datetime
from typing import Annotated, Any

import typer

from pipelines.cli_output import emit

app = typer.Typer()


@app.command()
def sync(
    source: Annotated[str | None, typer.Option("--source", help="Source name.")] = None,
    path: Annotated[str | None, typer.Option("--path", help="Only uris that match this glob.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Open every file, whatever its token says.")] = False,
    confirm_deletions: Annotated[bool, typer.Option("--confirm-deletions", help="Pass the breaker.")] = False,
    from_layer: Annotated[str | None, typer.Option("--from", help="Process anew from this layer on.")] = None,
    force: Annotated[
        str, typer.Option("--force", help="With --from: even where nothing changed. A name; the same one goes on.")
    ] = "",
    since: Annotated[
        datetime | None, typer.Option("--since", formats=["%Y-%m-%d"], help="With --from: taken in that day or later.")
    ] = None,
    until: Annotated[
        datetime | None, typer.Option("--until", formats=["%Y-%m-%d"], help="With --from: that day or earlier.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="With --from: documents in this slice.")] = None,
    actor: Annotated[str, typer.Option("--actor", help="Who acts; default: the login name.")] = "",
    json_: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Layers 1-6; builds a release in review and prints its number."""
    from pipelines import flow
    from pipelines.backfill import Selection
    from pipelines.migrate import migrate
    from pipelines.wiring import wire

    if not from_layer and (force or since or until or limit):
        raise typer.BadParameter("--force, --since, --until and --limit go with --from")
    chosen: Any = None
    if from_layer:
        chosen = Selection(
            layer=from_layer,
            sources=(source,) if source else (),
            glob=path,
            since=since.date() if since else None,
            until=until.date() if until else None,
            token=force,
            limit=limit,
        )
    wired = wire(actor=actor)
    migrate(wired)
    report = flow.sync(wired, source=source, glob=path, full=full, again=chosen, confirm_deletions=confirm_deletions)
    emit(report.as_json(), json_)
