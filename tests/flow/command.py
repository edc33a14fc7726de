"""The `sluice` command in processes of its own, as a person runs it: real parsers, models and index."""

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psutil

ROOT = Path(__file__).resolve().parents[2]


class Ran(NamedTuple):
    """How a command ended. `peak`: bytes of resident memory of its whole process tree at one time, pages that are
    shared counted for each process."""

    status: int
    out: str
    err: str
    peak: int

    def json(self) -> dict[str, Any]:
        assert self.status == 0, self.err[-3000:]
        found: dict[str, Any] = json.loads(self.out)
        return found


class Command:
    """`sluice` over one home and one sources file. Standard error of all calls is kept in `said`."""

    def __init__(self, home: Path, sources: Path) -> None:
        self.home = home
        self.said: list[str] = []
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("SLUICE_")},
            "SLUICE_HOME": str(home),
            "SLUICE_SOURCES": str(sources),
            "PYTHONPATH": str(ROOT),
        }

    def __call__(self, *words: str, **environment: str) -> dict[str, Any]:
        """The JSON object of a command that succeeds."""
        return self.run(*words, **environment).json()

    def run(self, *words: str, **environment: str) -> Ran:
        ran = measured(
            [sys.executable, "-m", "pipelines.cli", *words, "--json"],
            {**self._environment, **environment},
            self.home.parent,
        )
        self.said.append(ran.err)
        return ran


@contextmanager
def command(home: Path, sources: Path) -> Iterator[Command]:
    """Ends with `sluice down`."""
    made = Command(home, sources)
    try:
        yield made
    finally:
        made("down")


def measured(words: list[str], environment: dict[str, str], folder: Path) -> Ran:
    """Run to the end and watch the memory of the process and all below it, ten times a second."""
    out, err = folder / "stdout", folder / "stderr"
    peak = 0
    with out.open("w") as one, err.open("w") as two:
        process = psutil.Popen(words, stdout=one, stderr=two, env=environment)
        while process.poll() is None:
            peak = max(peak, _resident(process))
            time.sleep(0.1)
    return Ran(process.returncode, out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8"), peak)


def _resident(process: Any) -> int:
    total = 0
    try:
        family = [process, *process.children(recursive=True)]
    except psutil.Error:
        return 0
    for one in family:
        try:
            total += one.memory_info().rss
        except psutil.Error:
            continue
    return total
