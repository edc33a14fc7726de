"""A sign of life after each page, so that whoever waits can tell a long file from one that hangs."""

from collections.abc import Callable

listener: Callable[[int], None] | None = None
"""Set by the parser process; None everywhere else."""


def finished(page: int) -> None:
    """Page `page` (1-based) has been read."""
    if listener is not None:
        listener(page)
