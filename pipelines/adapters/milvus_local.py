"""A Milvus Lite server of one's own: started on demand, shared by all processes, ended when nobody has used it.

`python -m pipelines.adapters.milvus_local HOME IDLE` is the keeper: it starts the server, notes it in
`HOME/index/server.json`, and ends it when `HOME/index/last_used` has grown old.
"""

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pipelines.adapters.milvus import MilvusIndex
from pipelines.errors import Code, Transient

START_SECONDS = 60.0
STOP_SECONDS = 30.0


def local_index(home: Path, idle_seconds: int) -> MilvusIndex:
    """The index on the local server; it is started (again) whenever a request finds none."""
    folder = _folder(home)
    return MilvusIndex(
        lambda: local_server(home, idle_seconds),
        touch=lambda: (folder / "last_used").touch(),
        writing=lambda: _locked(folder / "write.lock"),
    )


def local_server(home: Path, idle_seconds: int) -> str:
    """Url of the running server. Raises Transient(INDEX_DOWN) when it does not come up."""
    folder = _folder(home)
    (folder / "last_used").touch()
    with _locked(folder / "start.lock"):
        noted = _noted(folder)
        if not (noted and _alive(noted["keeper"]) and _answers(noted["port"])):
            _end(noted)
            noted = _start(home, folder, idle_seconds)
    return f"http://127.0.0.1:{noted['port']}"


def stop_local_server(home: Path) -> bool:
    """End the server; True when there was one."""
    folder = home / "index"
    if not folder.is_dir():
        return False
    with _locked(folder / "start.lock"):
        noted = _noted(folder)
        return bool(noted) and _end(noted)


def _folder(home: Path) -> Path:
    folder = home.resolve() / "index"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _noted(folder: Path) -> dict[str, int]:
    try:
        noted: dict[str, int] = json.loads((folder / "server.json").read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return noted


def _ours(pid: int) -> bool:
    """The number may have gone to another process since: look at its command line too."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z" and (b"milvus" in words)


def _alive(pid: int) -> bool:
    return _ours(pid)


def _answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=2):
        return True
    return False


def _free_port(wanted: int) -> int:
    """The port of the last server where it is free, so that clients find the new one by themselves."""
    for port in (wanted, 0):
        with suppress(OSError), socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
    raise Transient(Code.INDEX_DOWN, "no free port on 127.0.0.1")


def _start(home: Path, folder: Path, idle_seconds: int) -> dict[str, int]:
    command = [sys.executable, "-m", "pipelines.adapters.milvus_local", str(home.resolve()), str(idle_seconds)]
    root = str(Path(__file__).resolve().parents[2])
    with (folder / "server.log").open("ab") as log:
        keeper = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd=root
        )
    keeper.returncode = 0  # it outlives us on purpose: no warning when this object goes
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        noted = _noted(folder)
        if noted.get("keeper") == keeper.pid and _answers(noted["port"]):
            return noted
        if os.waitpid(keeper.pid, os.WNOHANG)[0]:
            break
        time.sleep(0.1)
    raise Transient(Code.INDEX_DOWN, f"the local index server did not start; see {folder / 'server.log'}")


def _end(noted: dict[str, int]) -> bool:
    """Ask the keeper first, which flushes; then make sure. True when something was running."""
    pids = [pid for pid in (noted.get("keeper"), noted.get("server")) if pid and _ours(pid)]
    for sign, seconds in ((signal.SIGTERM, STOP_SECONDS), (signal.SIGKILL, 5.0)):
        for pid in [pid for pid in pids if _ours(pid)][:1] if sign == signal.SIGTERM else pids:
            if _ours(pid):
                os.kill(pid, sign)
        deadline = time.monotonic() + seconds
        while any(map(_ours, pids)) and time.monotonic() < deadline:
            if sign == signal.SIGTERM and not _ours(pids[0]):
                break
            time.sleep(0.05)
        if not any(map(_ours, pids)):
            break
    return bool(pids)


def keep(home: Path, idle_seconds: int) -> None:
    """Run the server until it is idle, dies, or this process is asked to end."""
    folder = _folder(home)
    # Lite writes index files in place: one that was cut off makes its collection unreadable. They are copies of the
    # vectors in the segments and made anew when a collection is loaded.
    for copy in (folder / "data").rglob("*.idx"):
        copy.unlink()
    port = _free_port(_noted(folder).get("port", 0))
    binary = Path(sys.executable).parent / "milvus-lite"
    server = subprocess.Popen(
        [str(binary), "server", "--data-dir", str(folder / "data"), "--host", "127.0.0.1", "--port", str(port)]
    )
    note = folder / f"server.json.{os.getpid()}"
    note.write_text(json.dumps({"keeper": os.getpid(), "server": server.pid, "port": port}))
    note.replace(folder / "server.json")
    asked: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: asked.append(number))
    while server.poll() is None and not asked and not _idle(folder, idle_seconds):
        time.sleep(0.2)
    if server.poll() is None:
        _flush(port)
        server.terminate()
        server.wait(STOP_SECONDS)


def _idle(folder: Path, idle_seconds: int) -> bool:
    try:
        return time.time() - (folder / "last_used").stat().st_mtime > idle_seconds
    except FileNotFoundError:
        return True


def _flush(port: int) -> None:
    from pymilvus import MilvusClient

    try:
        client: Any = MilvusClient(f"http://127.0.0.1:{port}", timeout=10)
        for collection in client.list_collections():
            client.flush(collection, timeout=10)
    except Exception as error:
        # Nothing is lost: the server's log of writes replays what was not flushed.
        sys.stderr.write(f"flush before the end failed: {error}\n")


if __name__ == "__main__":
    keep(Path(sys.argv[1]), int(sys.argv[2]))
