"""`sluice duplicates`: what is linked, how two texts differ, and a person's verdict on it."""

from typing import Annotated, Any

import typer

from pipelines.cli_output import emit

app = typer.Typer()
duplicates = typer.Typer(no_args_is_help=True, help="Linked texts: look at them, overrule the machine's verdict.")
app.add_typer(duplicates, name="duplicates")

Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]


def _wired(actor: str = "") -> Any:
    from pipelines.wiring import wire

    return wire(actor=actor)


@duplicates.command("list")
def list_(chunk: str, json_: Json = False) -> None:
    """The texts that a chunk is linked with."""
    from pipelines.review.duplicates import partners

    emit({"schema": "sluice.duplicates/1", "links": partners(_wired(), chunk)}, json_)


@duplicates.command()
def show(one: str, other: str, json_: Json = False) -> None:
    """Two linked texts, masked, with the spans that differ."""
    from pipelines.review.duplicates import pair

    emit({"schema": "sluice.duplicate/1", **pair(_wired(), one, other)}, json_)


@duplicates.command()
def overrule(
    one: str,
    other: str,
    as_: Annotated[str, typer.Option("--as", help="`same`: one of them goes; `different`: both stay.")],
    reason: Annotated[str, typer.Option("--reason", help="Why; kept in the audit.")],
    actor: Annotated[str, typer.Option("--actor", help="Who acts; default: the login name.")] = "",
    json_: Json = False,
) -> None:
    """Put a person's verdict in the place of the machine's; later syncs respect it."""
    from pipelines.review.duplicates import overrule as act

    if as_ not in ("same", "different"):
        raise typer.BadParameter("--as is same or different")
    act(_wired(actor), one, other, as_, reason)  # type: ignore[arg-type]
    emit({"schema": "sluice.duplicate_decision/1", "a": one, "b": other, "decision": as_}, json_)
