"""On a terminal, long work shows one line of counts in place of a line of JSON for each event."""

from collections import Counter
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any


class Counts:
    """A structlog processor that counts events into a status line; what is rejected or wrong gets a line of its own."""

    def __init__(self, status: Any) -> None:
        self._status = status
        self._counts: Counter[str] = Counter()
        self._started = False

    def __call__(self, _logger: Any, level: str, event: MutableMapping[str, Any]) -> str:
        """Raises DropEvent for what the status line shows."""
        import structlog

        words = dict(event)
        what = str(words.pop("event"))
        self._counts[str(words.get("layer", what)) if level == "info" else what] += int(words.get("chunks", 1))
        self._status.update("   ".join(f"{name} {count}" for name, count in self._counts.items()))
        if not self._started:
            self._started = True
            self._status.start()
        if level == "info":
            raise structlog.DropEvent
        return f"{what}  " + "  ".join(f"{name}={value}" for name, value in words.items())


@contextmanager
def progress() -> Iterator[None]:
    """Show progress on standard error while it is a terminal; else leave the log as it is."""
    import sys

    if not sys.stderr.isatty():
        yield
        return
    import structlog
    from rich.console import Console

    status = Console(stderr=True).status("")
    structlog.configure(processors=[Counts(status)], logger_factory=lambda *_: structlog.PrintLogger(sys.stderr))
    try:
        yield
    finally:
        status.stop()
