"""The pages, in the order of the tabs. A new page is a module in `routes/`, a template and a line here."""

from collections.abc import Callable
from dataclasses import dataclass

from sluice_ui.security import Viewer


def _everybody(_viewer: Viewer) -> bool:
    return True


@dataclass(frozen=True)
class Entry:
    """One tab. `module` holds `router`; it is imported when the application is made."""

    module: str
    path: str
    title: str
    allowed: Callable[[Viewer], bool] = _everybody


def entries() -> tuple[Entry, ...]:
    return (
        Entry("overview", "/", "Overview"),
        Entry("releases", "/releases", "Releases"),
        Entry("documents", "/documents", "Documents"),
        Entry("quarantine", "/quarantine", "Quarantine"),
        Entry("conflicts", "/conflicts", "Conflicts"),
        Entry("questions", "/questions", "Questions", lambda viewer: viewer.person.admin),
        Entry("quality", "/quality", "Quality", lambda viewer: viewer.audits),
        Entry("audit", "/audit", "Audit", lambda viewer: viewer.audits),
    )


EXTRA_MODULES: tuple[str, ...] = ("review", "preview", "chunks", "language", "runs")
"""Routes without a tab of their own."""
