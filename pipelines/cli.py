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
from pipelines.cli_govern import app as govern_app
from pipelines.cli_impact import app as impact_app
from pipelines.cli_keep import app as keep_app
from pipelines.cli_options import Actor, Doc, Json, Reason, needed, wired
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
app.add_typer(govern_app)


@app.command()
def init(json_: Json = False) -> None:
    """Create or migrate the database and the artifact zones."""
    from pipelines.migrate import migrate

    application = wired()
    migrate(application)
    emit({"schema": "sluice.init/1", "kb": application.kb, "home": str(application.settings.home.resolve())}, json_)


def _read(view: Callable[..., dict[str, Any]], as_json: bool, *arguments: Any) -> None:
    application = wired()
    with application.database.read() as tx:
        result = view(tx, application.kb, *arguments)
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

    application = wired(actor)
    decide.approve(application, number, reason, documents or ())
    _read(views.release, json_, number)


@release_app.command("decline")
def release_decline(number: int, reason: Reason = "", actor: Actor = "", json_: Json = False) -> None:
    """Decline the whole release; its versions go into quarantine."""
    from pipelines.report import views
    from pipelines.review import decide

    decide.decline(wired(actor), number, reason)
    _read(views.release, json_, number)


@release_app.command("hold")
def release_hold(
    number: int, documents: list[str], reason: Reason = "", actor: Actor = "", json_: Json = False
) -> None:
    """Keep documents out of a release until someone lets them through."""
    from pipelines.report import views
    from pipelines.review import decide

    decide.hold(wired(actor), number, documents, reason)
    _read(views.release, json_, number)


@release_app.command("overrule")
def release_overrule(number: int, reason: Reason = "", actor: Actor = "", json_: Json = False) -> None:
    """Approve a release that the evaluation stopped; publish it again afterwards."""
    from pipelines.publish.gate import overrule
    from pipelines.report import views

    overrule(wired(actor), number, needed(reason))
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

    emit(_published(publish(wired(actor), number, reason)), json_)


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
        done = acts.rollback(wired(actor), number, reason)
    elif number is None and doc and to:
        done = acts.rollback_document(wired(actor), doc, to, reason)
    else:
        raise typer.BadParameter("name a release, or --doc with --to")
    emit(_published(done), json_)


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

    application = wired()
    with application.database.read() as tx:
        result = views.audit(tx, application.kb, verify)
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

    emit(act(wired(actor), repair=repair), json_)


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
