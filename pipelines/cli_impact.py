"""`sluice impact`: who was answered with something, as a table, JSON or CSV."""

import csv
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from pipelines.cli_options import ChunkId, Doc, Json, SourceName, Version, subject, wired
from pipelines.cli_output import emit

app = typer.Typer()


@app.command()
def impact(
    doc: Doc = None,
    source: SourceName = None,
    version: Version = None,
    chunk: ChunkId = None,
    release: Annotated[int | None, typer.Option("--release", help="Release number.")] = None,
    since: Annotated[
        str | None, typer.Option("--since", help="From this time on: 2026-11-30 or 2026-11-30T08:00.")
    ] = None,
    until: Annotated[str | None, typer.Option("--until", help="Before this time.")] = None,
    to: Annotated[Path | None, typer.Option("--csv", help="Write the questions to this file.")] = None,
    json_: Json = False,
) -> None:
    """Which logged questions, people and answers used something, between two times."""
    from pipelines.publish.rows import live_release
    from pipelines.report.impacts import asked
    from pipelines.review.quarantine import check_known
    from pipelines.review.quarantine import impact as counted

    kind, name = subject(document=doc, source=source, version=version, chunk=chunk, release=release)
    span = {"since": _seconds(since), "until": _seconds(until)}
    application = wired()
    with application.database.read() as tx:
        check_known(tx, application.kb, kind, name)
        used = counted(tx, application.kb, kind, name, **span)
        rows = asked(tx, application.kb, kind, name, **span, limit=None if to else 1000)
        live = live_release(tx, application.kb)
    questions = [_shown(one) for one in rows]
    if to:
        _write(to, questions)
    result: dict[str, Any] = {
        "schema": "sluice.impact/1",
        "subject": {"kind": kind, "id": name},
        "impact": {"chunks": used.chunks, "queries": used.queries, "users": used.users},
        "questions": questions,
        "release": live,
    }
    emit(result, json_)


def _seconds(text: str | None) -> float:
    """Of an ISO date or time; UTC where it names no zone. 0 for none."""
    if text is None:
        return 0.0
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text} is no ISO date or time") from error
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def _shown(one: Any) -> dict[str, Any]:
    at = datetime.fromtimestamp(one.at, UTC).isoformat(timespec="seconds")
    return {
        "at": at,
        "user": one.user,
        "query": one.query,
        "release": one.release,
        "chunks": one.chunks,
        "cited": one.cited,
    }


def _write(path: Path, questions: list[dict[str, Any]]) -> None:
    names = ("at", "user", "query", "release", "chunks", "cited")
    # The mark tells spreadsheets that it is UTF-8.
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        table = csv.DictWriter(file, names)
        table.writeheader()
        table.writerows({key: _inert(value) for key, value in one.items()} for one in questions)


def _inert(value: Any) -> Any:
    """A question may start like a formula, which a spreadsheet would run."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" else value
