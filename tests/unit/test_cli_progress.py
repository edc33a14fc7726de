import pytest
import structlog

from pipelines.cli_progress import Counts


class Status:
    """What a terminal shows."""

    def __init__(self):
        self.line, self.started = "", 0

    def update(self, line):
        self.line = line

    def start(self):
        self.started += 1


def test_what_went_well_is_counted_by_layer_and_not_printed():
    status = Status()
    counts = Counts(status)
    for _ in range(3):
        with pytest.raises(structlog.DropEvent):
            counts(None, "info", {"event": "layer done", "layer": "parse", "version": "v"})
    with pytest.raises(structlog.DropEvent):
        counts(None, "info", {"event": "embedded", "chunks": 256})
    assert status.line == "parse 3   embedded 256"
    assert status.started == 1


def test_a_rejection_gets_a_line_of_its_own():
    line = Counts(Status())(None, "warning", {"event": "rejected", "layer": "parse", "code": "parse.empty"})
    assert line == "rejected  layer=parse  code=parse.empty"
