"""`sluice eval`: how well a release answers a set of questions, alone or against another."""

from typing import Annotated

import typer

from pipelines.cli_output import emit

app = typer.Typer()


@app.command("eval")
def evaluate(
    sets: Annotated[list[str], typer.Argument(metavar="SET...", help="JSON lines files.")],
    at: Annotated[int | None, typer.Option("--at", help="Release; default: the live one.")] = None,
    against: Annotated[int | None, typer.Option("--against", help="Compare with this release.")] = None,
    changes: Annotated[
        list[str] | None, typer.Option("--setting", help="Compare the settings with NAME=VALUE put over them.")
    ] = None,
    gate: Annotated[bool, typer.Option("--gate", help="Exit 1 when the policy of sources.yaml would block.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """NDCG, MRR, hit and recall of a release on sets of questions, in all and by tag."""
    from pipelines.evaluate.evaluate import evaluate as act
    from pipelines.wiring import wire

    report = act(wire(), sets, at, against, changes or (), gate)
    emit(report, json_)
    if gate and report["gate"]["verdict"] == "block":
        raise typer.Exit(1)
