"""What the DAGs' quality task does: the report on a release, the operators' numbers, and whom to tell."""

from collections.abc import Mapping
from typing import Any

from pipelines.errors import Code, Systemic

SHIFTED = 0.25
"""Population stability index from which on people are told that a distribution has shifted (the usual convention)."""


def report(release: int | None, actor: str, strict: bool = True) -> dict[str, int]:
    """Check a release (None: the live one) and store the report, as HTML too. `strict`: raises Systemic when a critical
    expectation failed; the report is there all the same."""
    from pipelines.airflow_metrics import gauges
    from pipelines.report.quality import measure, publish_pages
    from pipelines.wiring import wire

    app = wire(actor=actor)
    found = measure(app, release)
    publish_pages(app, found)
    failed: dict[str, int] = found["failed"]
    chunks = sum(found["distributions"]["kind"].values())
    numbers = {"failed_critical": failed["critical"], "failed_warning": failed["warning"], "chunks": chunks}
    gauges({**numbers, **found["shift"], "documents": found["figures"]["documents"]}, app.kb)
    _tell_shift(app, found)
    if strict and failed["critical"]:
        raise Systemic(Code.SYSTEMIC, f"{failed['critical']} critical expectations failed: see the Quality page")
    return failed


def _tell_shift(app: Any, found: Mapping[str, Any]) -> None:
    from pipelines.notify import Event, tell

    moved = {name.removeprefix("psi_"): value for name, value in found["shift"].items() if name.startswith("psi_")}
    if shifted := sorted(name for name, value in moved.items() if value >= SHIFTED):
        message = (
            f"Release {found['release']} ({found['scope']}): {', '.join(shifted)} spread in another way than before."
        )
        tell(app.settings.notify, Event("quality.drift", message))
