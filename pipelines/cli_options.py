"""Options that several commands take, and what they name together."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; kept in the audit.")]
Actor = Annotated[str, typer.Option("--actor", help="Who acts; default: the login name.")]
Doc = Annotated[str | None, typer.Option("--doc", help="Document id.")]
SourceName = Annotated[str | None, typer.Option("--source", help="Source name.")]
Version = Annotated[str | None, typer.Option("--version", help="Version id.")]
ChunkId = Annotated[str | None, typer.Option("--chunk", help="Chunk id.")]


def wired(actor: str = "") -> Any:
    """The application of this environment, wired when a command runs: `sluice --help` loads none of it."""
    from pipelines.wiring import wire

    return wire(actor=actor)


def subject(**named: Any) -> tuple[Any, str]:
    """(kind, id) of the one option that was given."""
    given = [(kind, str(value)) for kind, value in named.items() if value is not None and value != ""]
    if len(given) != 1:
        options = ", ".join(f"--{'doc' if kind == 'document' else kind}" for kind in named)
        raise typer.BadParameter(f"name exactly one of {options}")
    return given[0]


def needed(reason: str) -> str:
    """A reason with something in it."""
    if not reason.strip():
        raise typer.BadParameter("--reason is needed: it is kept in the audit")
    return reason


def on_subject(act: Callable[[tuple[Any, str], str, str, bool], None]) -> Callable[..., None]:
    """A command that names a document, source, version or chunk and says why: `act(subject, reason, actor, json)`."""

    def command(
        doc: Doc = None,
        source: SourceName = None,
        version: Version = None,
        chunk: ChunkId = None,
        reason: Reason = "",
        actor: Actor = "",
        json_: Json = False,
    ) -> None:
        act(subject(document=doc, source=source, version=version, chunk=chunk), needed(reason), actor, json_)

    return command
