"""`sluice eval`: how well a release answers a set of questions, alone or against another."""

from pathlib import Path
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
    judge: Annotated[bool, typer.Option("--judge", help="The language model answers and judges the answers.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """NDCG, MRR, hit and recall of a release on sets of questions, in all and by tag."""
    from pipelines.evaluate.evaluate import evaluate as act
    from pipelines.wiring import wire

    report = act(wire(), sets, at, against, changes or (), gate, judge)
    emit(report, json_)
    if gate and report["gate"]["verdict"] == "block":
        raise typer.Exit(1)


questions = typer.Typer(no_args_is_help=True, help="Questions that wait for a label, and the set that labels make.")
app.add_typer(questions, name="questions")
Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
Actor = Annotated[str, typer.Option("--actor", help="Who acts; default: the login name.")]


@questions.command("list")
def questions_list(
    state: Annotated[str, typer.Option("--state", help="open, labelled or dismissed.")] = "open", json_: Json = False
) -> None:
    """What found nothing, little, or was said to be wrong; asked most often first."""
    from pipelines.query_log import queue
    from pipelines.wiring import wire

    wired = wire()
    with wired.database.read() as tx:
        found = queue(tx, wired.kb, state)
    emit({"schema": "sluice.questions/1", "questions": found}, json_)


@questions.command("label")
def questions_label(
    id_: Annotated[str, typer.Argument(metavar="ID")],
    document: Annotated[list[str] | None, typer.Option("--document", help="Uri or title that answers it.")] = None,
    section: Annotated[list[str] | None, typer.Option("--section", help="Heading that answers it.")] = None,
    span: Annotated[list[str] | None, typer.Option("--span", help="Exact words that answer it.")] = None,
    unanswerable: Annotated[bool, typer.Option("--unanswerable", help="Nothing should answer it.")] = False,
    pinned: Annotated[bool, typer.Option("--pinned", help="Must stay findable.")] = False,
    actor: Actor = "",
    json_: Json = False,
) -> None:
    """Say what answers a question; it then belongs to the set `labelled`."""
    from pipelines.query_log import label
    from pipelines.wiring import wire

    given = {"documents": document or (), "sections": section or (), "spans": span or ()}
    made = label(wire(actor=actor), id_, **given, unanswerable=unanswerable, pinned=pinned)
    emit({"schema": "sluice.question/1", **made.model_dump(mode="json", by_alias=True)}, json_)


@questions.command("dismiss")
def questions_dismiss(
    id_: Annotated[str, typer.Argument(metavar="ID")], actor: Actor = "", json_: Json = False
) -> None:
    """Not worth a label."""
    from pipelines.query_log import dismiss
    from pipelines.wiring import wire

    dismiss(wire(actor=actor), id_)
    emit({"schema": "sluice.question/1", "id": id_, "state": "dismissed"}, json_)


@questions.command("export")
def questions_export(path: Path, json_: Json = False) -> None:
    """Write the labelled questions as JSON lines."""
    from pipelines.query_log import as_lines, labelled
    from pipelines.wiring import wire

    wired = wire()
    with wired.database.read() as tx:
        found = labelled(tx, wired.kb)
    path.write_text(as_lines(found), encoding="utf-8")
    emit({"schema": "sluice.questions_export/1", "file": str(path), "questions": len(found)}, json_)


@questions.command("generate")
def questions_generate(
    release: Annotated[int, typer.Option("--release", help="Of what this release shows for the first time.")],
    most: Annotated[int, typer.Option("--most", min=1)] = 20,
    json_: Json = False,
) -> None:
    """Ask the language model for questions on new passages; each waits in the queue, marked as generated."""
    from pipelines.evaluate.generate import generate
    from pipelines.wiring import wire

    emit({"schema": "sluice.questions_generate/1", "questions": generate(wire(), release, most)}, json_)
