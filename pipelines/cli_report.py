"""`sluice report`: the quality of a release, as lines, JSON or one HTML file."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pipelines.cli_output import emit

app = typer.Typer()


@app.command()
def report(
    release: Annotated[int | None, typer.Option("--release", help="Release number; default: the live one.")] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write the report as one self-contained file.")] = None,
    language: Annotated[str, typer.Option("--language", help="Of the HTML file: zh or en.")] = "en",
    stored: Annotated[bool, typer.Option("--stored", help="Show the newest stored report; check nothing.")] = False,
    actor: Annotated[str, typer.Option("--actor", help="Who acts; default: the login name.")] = "",
    json_: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Check a release with Great Expectations and store the result; exit 1 when a critical expectation failed."""
    from pipelines.report import quality
    from pipelines.wiring import wire

    wired = wire(actor=actor)
    found = _stored(wired, release) if stored else quality.measure(wired, release)
    if html:
        from pipelines.report.page import page

        with wired.database.read() as tx:
            html.write_text(page(found, quality.history(tx, wired.kb), language), encoding="utf-8")
    emit(found if json_ else _short(found), json_)
    if found["failed"]["critical"]:
        raise typer.Exit(1)


def _stored(wired: Any, release: int | None) -> dict[str, Any]:
    from pipelines.errors import Code, Conflict
    from pipelines.report import quality

    with wired.database.read() as tx:
        found = quality.latest(tx, wired.kb, release)
    if found is None:
        raise Conflict(Code.UNKNOWN_SUBJECT, "there is no stored report; run `sluice report`")
    return found


def _short(found: dict[str, Any]) -> dict[str, Any]:
    keys = ("release", "scope", "success", "failed")
    rows = [
        {"suite": suite["name"], "code": one["code"], "severity": one["severity"], "failed": one["failed"]}
        | {"example": one["examples"][0]["row"] if one["examples"] else one["observed"]}
        for suite in found["suites"]
        for one in suite["expectations"]
        if not one["success"]
    ]
    checked = sum(len(suite["expectations"]) for suite in found["suites"])
    return {key: found[key] for key in keys} | {"expectations": checked, "failures": rows}
