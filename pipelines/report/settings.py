"""What a site may set for the quality report, each with its reason."""

from typing import Literal

from schemas.base import Record


class ReportSettings(Record):
    """Settings of the quality report."""

    at_build: bool = False
    """Run the suites over what is staged whenever a release is built. The library takes some ten seconds to load, so
    it is off for single commands; `kb_sync` runs them as a task of its own."""
    gate: Literal["critical", "off"] = "critical"
    """A release whose checked content failed a critical expectation does not go live, unless a person
    approves it again."""
