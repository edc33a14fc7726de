"""Work on one knowledge base in processes of its own, over a real Milvus Lite; only the embedder is a fake.

The processes are forked by a server without threads: the index's client does not survive a fork of its own process.
"""

import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from pipelines.adapters.milvus_local import local_index
from pipelines.errors import Code, Conflict
from tests.fakes import FakeEmbedder
from tests.flow.conftest import open_kb

LOCKED = 7
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.flow.warm", "tests.flow.processes", "pymilvus"])


class Killer:
    """Kills its process at the n-th checkpoint (0: never), and keeps the names of those that were passed."""

    def __init__(self, at: int) -> None:
        self._at = at
        self.passed: list[str] = []

    def __call__(self, place: str) -> None:
        self.passed.append(place)
        if len(self.passed) == self._at:
            os.kill(os.getpid(), signal.SIGKILL)


class Work:
    """A function of the module's top level, at work in a process: `act(kb, *arguments)`."""

    def __init__(self, root: Path, act: Callable[..., Any], *arguments: Any, kill_at: int = 0) -> None:
        self._answers, there = _CONTEXT.Pipe(duplex=False)
        self._process = _CONTEXT.Process(target=_work, args=(there, root, act, arguments, kill_at))
        self._process.start()
        there.close()
        self.places: list[str] = []

    def end(self) -> int:
        """Wait; exit status: 0, LOCKED, 3 after any other error, or the negative number of its signal."""
        return self._join()[0]

    def result(self) -> Any:
        """What the function returned."""
        status, answer = self._join()
        assert status == 0, f"the process failed: {status}"
        return answer

    def _join(self) -> tuple[int, Any]:
        answer = None
        with suppress(EOFError):
            answer, self.places = self._answers.recv()
        self._process.join()
        return int(self._process.exitcode or 0), answer


def _work(answers: Connection, root: Path, act: Callable[..., Any], arguments: tuple[Any, ...], kill_at: int) -> None:
    killer = Killer(kill_at)
    try:
        kb = open_kb(root / "home", root / "docs", local_index(root / "home", 300), FakeEmbedder(), killer)
        answers.send((act(kb, *arguments), killer.passed))
        os._exit(0)
    except Conflict as error:
        os._exit(LOCKED if error.code is Code.LOCKED else 3)
    except BaseException:
        traceback.print_exc()
        os._exit(3)
