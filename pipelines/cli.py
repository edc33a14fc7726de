"""`sluice`: the use cases without Airflow. JSON on standard output with `--json`, errors with their code on standard
error, exit 0 / 1 failed / 2 usage."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from pipelines.cli_ask import app as ask_app
from pipelines.cli_conflicts import app as conflicts_app
from pipelines.cli_duplicates import app as duplicates_app
from pipelines.cli_edit import app as edit_app
from pipelines.cli_eval import app as eval_app
from pipelines.cli_impact import app as impact_app
from pipelines.cli_keep import app as keep_app
from pipelines.cli_output import emit, explained
from pipelines.cli_progress import progress
from pipelines.cli_report import app as report_app
from pipelines.cli_sources import app as sources_app
from pipelines.cli_sync import app as sync_app
from pipelines.cli_try import app as try_app

app = typer.Typer(
    no_args_is_help=True, help="The governed front door of a knowledge base.", pretty_exceptions_enable=False
)
release_app = typer.Typer(no_args_is_help=True, help="List, review and publish releases.")
app.add_typer(release_app, name="release")
app.add_typer(try_app, name="try")
app.add_typer(ask_app)
app.add_typer(eval_app)
app.add_typer(keep_app)
app.add_typer(duplicates_app)
app.add_typer(edit_app)
app.add_typer(sync_app)
app.add_typer(sources_app)
app.add_typer(conflicts_app, name="conflicts")
app.add_typer(report_app)
app.add_typer(impact_app)

Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; kept in the audit.")]
Actor = Annotated[str, typer.Option("--actor", help="Who acts; default: the login name.")]
Doc = Annotated[str | None, typer.Option("--doc", help="Document id.")]
SourceName = Annotated[str | None, typer.Option("--source", help="Source name.")]
Version = Annotated[str | None, typer.Option("--version", help="Version id.")]
ChunkId = Annotated[str | None, typer.Option("--chunk", help="Chunk id.")]


def _wired(actor: str = "") -> Any:
    from pipelines.wiring import wire

    return wire(actor=actor)


@app.command()
def init(json_: Json = False) -> None:
    """Create or migrate the database and the artifact zones."""
    from pipelines.migrate import migrate

    wired = _wired()
    migrate(wired)
    emit({"schema": "sluice.init/1", "kb": wired.kb, "home": str(wired.settings.home.resolve())}, json_)


def _read(view: Callable[..., dict[str, Any]], as_json: bool, *arguments: Any) -> None:
    wired = _wired()
    with wired.database.read() as tx:
        result = view(tx, wired.kb, *arguments)
    emit(result, as_json)


@release_app.command("list")
def release_list(json_: Json = False) -> None:
    """All releases, newest first."""
    from pipelines.report import views

    _read(views.releases, json_)


@release_app.command("show")
def release_show(number: int, json_: Json = False) -> None:
    """One release with its items."""
    from pipelines.report import views

    _read(views.release, json_, number)


@release_app.command("approve")
def release_approve(
    number: int,
    documents: list[str] = typer.Argument(None),
    reason: Reason = "",
    actor: Actor = "",
    json_: Json = False,
) -> None:
    """Approve what is not held; with documents, let these held ones through."""
    from pipelines.report import views
    from pipelines.review import decide

    wired = _wired(actor)
    decide.approve(wired, number, reason, documents or ())
    _read(views.release, json_, number)


@release_app.command("decline")
def release_decline(number: int, reason: Reason = "", actor: Actor = "", json_: Json = False) -> None:
    """Decline the whole release; its versions go into quarantine."""
    from pipelines.report import views
    from pipelines.review import decide

    decide.decline(_wired(actor), number, reason)
    _read(views.release, json_, number)


@release_app.command("hold")
def release_hold(
    number: int, documents: list[str], reason: Reason = "", actor: Actor = "", json_: Json = False
) -> None:
    """Keep documents out of a release until someone lets them through."""
    from pipelines.report import views
    from pipelines.review import decide

    decide.hold(_wired(actor), number, documents, reason)
    _read(views.release, json_, number)


@release_app.command("overrule")
def release_overrule(number: int, reason: Reason = "", actor: Actor = "", json_: Json = False) -> None:
    """Approve a release that the evaluation stopped; publish it again afterwards."""
    from pipelines.publish.gate import overrule
    from pipelines.report import views

    if not reason:
        raise typer.BadParameter("--reason is needed: it is kept in the audit")
    overrule(_wired(actor), number, reason)
    _read(views.release, json_, number)


def _published(done: Any) -> dict[str, Any]:
    return {
        "schema": "sluice.publish/1",
        "live_release": done.live_release,
        "release": done.release,
        "gate": done.gate,
        "calls": {"embed": done.embedded},
        "seconds": round(done.seconds, 3),
    }


@release_app.command("publish")
def release_publish(number: int, reason: Reason = "", actor: Actor = "", json_: Json = False) -> None:
    """Make an approved release the live one."""
    from pipelines.publish.publish import publish

    emit(_published(publish(_wired(actor), number, reason)), json_)


@app.command()
def rollback(
    number: Annotated[int | None, typer.Argument(help="Release that readers go back to.")] = None,
    doc: Doc = None,
    to: Annotated[str | None, typer.Option("--to", help="Version that one document goes back to.")] = None,
    reason: Reason = "",
    actor: Actor = "",
    json_: Json = False,
) -> None:
    """Readers go back to release NUMBER at once; or one document (--doc) to one of its versions (--to)."""
    from pipelines.publish import rollback as acts

    if number is not None and not doc and not to:
        done = acts.rollback(_wired(actor), number, reason)
    elif number is None and doc and to:
        done = acts.rollback_document(_wired(actor), doc, to, reason)
    else:
        raise typer.BadParameter("name a release, or --doc with --to")
    emit(_published(done), json_)


def _subject(doc: str | None, source: str | None, version: str | None, chunk: str | None) -> tuple[Any, str]:
    named = {"document": doc, "source": source, "version": version, "chunk": chunk}
    given = [(kind, value) for kind, value in named.items() if value]
    if len(given) != 1:
        raise typer.BadParameter("name exactly one of --doc, --source, --version, --chunk")
    return given[0]


def _used(action: str, subject: tuple[str, str], used: Any, live: int) -> dict[str, Any]:
    return {
        "schema": f"sluice.{action}/1",
        "subject": {"kind": subject[0], "id": subject[1]},
        "impact": {"chunks": used.chunks, "queries": used.queries, "users": used.users},
        "release": live,
    }


def _govern(action: str, subject: tuple[Any, str], reason: str, actor: str, as_json: bool) -> None:
    from pipelines.publish.rows import live_release
    from pipelines.review import quarantine as acts

    if not reason:
        raise typer.BadParameter("--reason is needed: it is kept in the audit")
    wired = _wired(actor)
    found = getattr(acts, action)(wired, *subject, reason)
    with wired.database.read() as tx:
        used = found if action != "requeue" else acts.impact(tx, wired.kb, *subject)
        live = live_release(tx, wired.kb)
    result = _used(action, subject, used, live)
    if action == "requeue":
        result["versions"] = found
    emit(result, as_json)


@app.command()
def quarantine(
    doc: Doc = None,
    source: SourceName = None,
    version: Version = None,
    chunk: ChunkId = None,
    reason: Reason = "",
    actor: Actor = "",
    json_: Json = False,
) -> None:
    """Take something from readers at once, at every release."""
    _govern("quarantine", _subject(doc, source, version, chunk), reason, actor, json_)


@app.command()
def restore(
    doc: Doc = None,
    source: SourceName = None,
    version: Version = None,
    chunk: ChunkId = None,
    reason: Reason = "",
    actor: Actor = "",
    json_: Json = False,
) -> None:
    """Give back what was quarantined."""
    _govern("restore", _subject(doc, source, version, chunk), reason, actor, json_)


@app.command()
def requeue(
    doc: Doc = None,
    source: SourceName = None,
    version: Version = None,
    reason: Reason = "",
    actor: Actor = "",
    json_: Json = False,
) -> None:
    """Send rejected versions through the layers again at the next sync."""
    _govern("requeue", _subject(doc, source, version, None), reason, actor, json_)


@app.command()
def diff(left: int, right: int, doc: Doc = None, json_: Json = False) -> None:
    """What readers see at release RIGHT and not at LEFT, and the reverse."""
    from pipelines.report import views

    _read(views.diff, json_, left, right, doc)


@app.command()
def log(json_: Json = False) -> None:
    """What moved the live release."""
    from pipelines.report import views

    _read(views.log, json_)


@app.command()
def show(subject: str, json_: Json = False) -> None:
    """A document, version or chunk by its id."""
    from pipelines.report import views

    _read(views.show, json_, subject)


@app.command()
def audit(
    verify: Annotated[bool, typer.Option("--verify", help="Recompute the chain of hashes.")] = False,
    json_: Json = False,
) -> None:
    """Who did what, when, to what, why."""
    from pipelines.report import views

    wired = _wired()
    with wired.database.read() as tx:
        result = views.audit(tx, wired.kb, verify)
    emit(result, json_)
    if verify and not result["verified"]:
        raise typer.Exit(1)


@app.command()
def status(json_: Json = False) -> None:
    """Live release, documents by state, what waits."""
    from pipelines.report import views

    _read(views.status, json_)


@app.command()
def reconcile(
    repair: Annotated[bool, typer.Option("--repair", help="Mend what is found.")] = False,
    actor: Actor = "",
    json_: Json = False,
) -> None:
    """Compare SQL with what the index really holds."""
    from pipelines.publish.reconcile import reconcile as act

    emit(act(_wired(actor), repair=repair), json_)


@app.command()
def down(json_: Json = False) -> None:
    """Stop the local index server."""
    from pipelines.settings import Settings
    from pipelines.wiring import stop_local_index

    stopped = stop_local_index(Settings().home)
    emit({"schema": "sluice.down/1", "stopped": stopped}, json_)


def main() -> None:
    """Entry point: whatever ends a command but success is one line with a code, and exit 1."""
    with explained(), progress():
        app()


if __name__ == "__main__":
    main()
