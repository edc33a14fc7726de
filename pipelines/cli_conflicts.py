"""`sluice conflicts`: what contradicts what, and what people decide about it."""

from typing import Annotated, Any

import typer

from pipelines.cli_output import emit

app = typer.Typer(no_args_is_help=True, help="Documents that contradict each other: list, show, decide.")

Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]


def _wired(actor: str = "") -> Any:
    from pipelines.wiring import wire

    return wire(actor=actor)


@app.command("list")
def conflicts_list(
    strategy: Annotated[str | None, typer.Option("--strategy", help="Only these: open, newest, authority, …")] = None,
    json_: Json = False,
) -> None:
    """Conflicts between active documents, undecided ones first."""
    from pipelines.conflict import views

    wired = _wired()
    with wired.database.read() as tx:
        result = views.conflicts(tx, wired.kb, strategy)
    if not json_:
        result["conflicts"] = [_short(one) for one in result["conflicts"]]
    emit(result, json_)


def _short(one: dict[str, Any]) -> dict[str, Any]:
    first = one["differences"][0]
    return {
        "id": one["conflict"][:8],
        "decision": one["strategy"],
        "kinds": "+".join(one["kinds"]),
        one["a"]["title"]: first["a_text"] or "–",
        one["b"]["title"] + " ": first["b_text"] or "–",
        "suggested": one["suggested"],
    }


@app.command("show")
def conflicts_show(conflict: str, json_: Json = False) -> None:
    """One conflict with both texts and every place that differs."""
    from pipelines.conflict import views

    emit(views.conflict(_wired(), conflict), json_)


@app.command("decide")
def conflicts_decide(
    conflict: str,
    strategy: Annotated[str, typer.Argument(help="newest, authority, both or ask_owner.")],
    reason: Annotated[str, typer.Option("--reason", help="Why; kept in the audit.")] = "",
    note: Annotated[str, typer.Option("--note", help="both: which one holds for whom; shown to readers.")] = "",
    actor: Annotated[str, typer.Option("--actor", help="Who acts; default: the login name.")] = "",
    json_: Json = False,
) -> None:
    """Settle a conflict; search respects it at once."""
    from pipelines.conflict.decide import STRATEGIES, decide

    if strategy not in STRATEGIES:
        raise typer.BadParameter(f"{strategy} is none of {', '.join(STRATEGIES)}")
    if not reason:
        raise typer.BadParameter("--reason is needed: it is kept in the audit")
    done = decide(_wired(actor), conflict, strategy, reason, note)  # type: ignore[arg-type]
    emit({"schema": "sluice.decision/1", **done}, json_)
