"""Parsing in a child process with limits on time and memory.

A parser that hangs, eats memory or dies takes its process with it, never the run. Workers stay warm, since imports
cost more than most files. They are plain subprocesses, for daemonic processes (Airflow tasks) may not use
multiprocessing. Messages are JSON lines: a child that a hostile file has taken over must not send us pickles.
"""

import atexit
import contextlib
import json
import os
import selectors
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipelines.errors import Code, Rejected
from pipelines.parse.settings import OcrFactory, ParseSettings
from schemas.document import Box, Document

KILLED_FOR_MEMORY = -9
PATIENCE = 5
"""On a busy machine a process gets a fraction of a core: limits count its own seconds, or a fifth of the clock's."""
CODES = {code.value: code for code in Code}
_idle: list["Worker"] = []
_lock = threading.Lock()


class Worker:
    """One child process: a file at a time. `engine`: the PDF library that it loads at once."""

    def __init__(self, engine: str) -> None:
        self.engine = engine
        environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **os.environ}
        root = str(Path(__file__).resolve().parents[2])
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [root, environment.get("PYTHONPATH")]))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pipelines.parse.worker", engine],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._began, self._used = time.monotonic(), 0.0
        self._buffer = b""

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, request: dict[str, Any], settings: ParseSettings) -> dict[str, Any]:
        """The child's answer.

        Raises Rejected(PARSE_TIMEOUT | PARSE_CRASHED | PARSE_MEMORY); the worker is then dead.
        """
        self._began, self._used = time.monotonic(), self._computed()
        try:
            self._stdin.write(json.dumps(request).encode() + b"\n")
            self._stdin.flush()
        except OSError as error:
            raise self._death() from error
        while True:
            left = min(settings.page_timeout, settings.timeout - self._worked())
            line = self._line(left)
            if line is None:
                self.close()
                what = f"no page in {settings.page_timeout:g} s" if left > 0 else f"longer than {settings.timeout:g} s"
                raise Rejected(Code.PARSE_TIMEOUT, f"the parser was stopped: {what}")
            if not line:
                raise self._death()
            with contextlib.suppress(ValueError):
                answer = json.loads(line)
                if isinstance(answer, dict) and "page" not in answer:
                    return answer

    def _worked(self) -> float:
        """Seconds of this file that count against the limits: those that the child computed, or a part of those that
        passed, for a process that waits for ever computes nothing."""
        return max(self._computed() - self._used, (time.monotonic() - self._began) / PATIENCE)

    def _computed(self) -> float:
        import psutil

        try:
            used = psutil.Process(self._process.pid).cpu_times()
        except psutil.Error:  # it is dead: its pipe will tell
            return 0.0
        return float(used.user + used.system)

    def _line(self, seconds: float) -> bytes | None:
        """The next line; None after `seconds` of work, empty at the end of the stream."""
        deadline = self._worked() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdout, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                if not selector.select(1.0):
                    if self._worked() >= deadline:
                        return None
                    continue
                data = os.read(self._stdout.fileno(), 1 << 16)
                if not data:
                    return b""
                self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _death(self) -> Rejected:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        status = self._process.poll()
        self.close()
        if status == KILLED_FOR_MEMORY:
            return Rejected(Code.PARSE_MEMORY, "the parser process was killed, most likely for lack of memory")
        return Rejected(Code.PARSE_CRASHED, f"the parser process died with status {status}")

    def close(self) -> None:
        """Kill and reap."""
        if self.alive:
            self._process.kill()
        with contextlib.suppress(OSError):
            self._stdin.close()
        self._stdout.close()
        self._process.wait()

    def abandon(self) -> None:
        """In a forked copy of the parent: the child is not ours; let go of its pipes."""
        with contextlib.suppress(OSError):
            self._stdin.close()
        self._stdout.close()
        self._process.returncode = 0


def parse_isolated(
    path: Path,
    *,
    name: str,
    settings: ParseSettings,
    ocr_settings: OcrFactory | None = None,
    folder: Path | None = None,
) -> Document:
    """`dispatch.parse_file` in a child process. Without `ocr_settings` scans are not read.

    Figures and attachments go into `folder` (see `sink.taken_out`); without it they are not kept.
    Raises Rejected with the parser's own code, or PARSE_TIMEOUT, PARSE_CRASHED, PARSE_MEMORY, PARSE_FAILED.
    """
    ocr = ocr_settings.model_dump(mode="json") if ocr_settings else None
    answer = _ask({"ocr": ocr, "folder": str(folder) if folder else None}, path, name, settings)
    return Document.model_validate(answer["document"])


def page_image_isolated(path: Path, *, name: str, page: int, boxes: Sequence[Box], settings: ParseSettings) -> bytes:
    """`page_image.page_image` in a child process; raises as `parse_isolated` does."""
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        wanted = {"show": page, "boxes": [box.model_dump() for box in boxes], "folder": folder}
        _ask(wanted, path, name, settings)
        return (Path(folder) / "page.png").read_bytes()


def _ask(wanted: dict[str, Any], path: Path, name: str, settings: ParseSettings) -> dict[str, Any]:
    place = {"path": str(Path(path).resolve()), "name": name, "settings": settings.model_dump(mode="json")}
    worker = _take(settings.engine)
    try:
        answer = worker.ask(place | wanted, settings)
    except BaseException:
        worker.close()
        raise
    with _lock:
        _idle.append(worker)
    if "code" not in answer:
        return answer
    raise Rejected(CODES[answer["code"]], str(answer["reason"]))


def _take(engine: str) -> Worker:
    with _lock:
        for worker in [one for one in _idle if one.engine == engine]:
            _idle.remove(worker)
            if worker.alive:
                return worker
            worker.close()
    return Worker(engine)


def shut_down() -> None:
    """End all idle workers; busy ones belong to the calls that use them."""
    with _lock:
        workers, _idle[:] = list(_idle), []
    for worker in workers:
        worker.close()


def _forget() -> None:
    global _lock
    _lock = threading.Lock()
    for worker in _idle:
        worker.abandon()
    _idle.clear()


atexit.register(shut_down)
os.register_at_fork(after_in_child=_forget)
