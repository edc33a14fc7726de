"""Airflow on this machine: start it, drive it over its REST API, stop it without a trace.

`python -m pipelines.standalone up|down`. For a demo and for development; a site with more than one machine runs its own
Airflow. Everything lives under `<home>/airflow`; only the loopback address is bound.
"""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pipelines.airflow_api import Airflow
from pipelines.errors import Code, Misconfigured, Transient

ROOT = Path(__file__).resolve().parent.parent
USERS = "admin:admin,reviewer:user,engineer:op,auditor:viewer,viewer:viewer"
"""Simple auth manager: `user` and `op` may trigger DAGs and answer reviews, `viewer` may only look."""
WHO = {
    "SLUICE_PAGES__AUDITORS": '["auditor"]',
    "SLUICE_PAGES__TEAMS": '{"staff": ["reviewer"], "engineering": ["engineer", "reviewer"]}',
}
"""What these people are on the pages, where the site says nothing else; the teams are those of the sample."""
START_SECONDS = 300
"""Measured: 42 CPU seconds to healthy; a busy machine of two cores takes minutes of wall time."""
STOP_SECONDS = 30
"""For each of the two steps of a stop; measured: 8 to 22 seconds in all."""

_children: dict[int, "subprocess.Popen[bytes]"] = {}
"""What this very process has started and has to reap."""


@dataclass(frozen=True)
class _Instance:
    """A started Airflow, as noted in `<home>/airflow/standalone.json`. All its processes share the session `pid`."""

    pid: int
    started: float
    url: str


def up(home: Path, environment: Mapping[str, str] | None = None, timeout: float = START_SECONDS) -> Airflow:
    """Start Airflow for this home, or find the one that runs; returns when scheduler and DAG processor are healthy.

    `environment` is added to what the tasks see. Where another server takes the port that was free a moment ago, it
    is left alone, and Airflow is started on another one. Raises Transient(AIRFLOW_DOWN) with the log's last lines.
    """
    home = home.resolve()
    folder = home / "airflow"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    passwords = _passwords(folder / "passwords.json")
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        instance = _running(folder) or _start(home, folder, environment or {})
        airflow = Airflow(instance.url, "admin", passwords["admin"])
        while not _answered_by_another(instance):
            if airflow.healthy():
                return airflow
            if _running(folder) is None or time.monotonic() > deadline:
                down(home)
                raise Transient(Code.AIRFLOW_DOWN, f"Airflow did not start; the end of its log:\n{_tail(folder)}")
            time.sleep(1)
        down(home)
    raise Transient(Code.AIRFLOW_DOWN, "other servers took each port before Airflow was up; try again")


def down(home: Path) -> bool:
    """Stop the Airflow of this home with everything that it started; False where none ran."""
    folder = home.resolve() / "airflow"
    instance = _running(folder)
    (folder / "standalone.json").unlink(missing_ok=True)
    if instance is None:
        return False
    # The parent first: on SIGINT it ends its children and reaps them. It may leave some, so the session is swept.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        members = _members(instance.pid)
        _send([one for one in members if number != signal.SIGINT or one.pid == instance.pid], number)
        deadline = time.monotonic() + STOP_SECONDS
        while _members(instance.pid) and time.monotonic() < deadline:
            _reap(instance.pid)
            time.sleep(0.2)
    _reap(instance.pid)
    return True


def account(home: Path, user: str = "admin") -> Airflow:
    """The running Airflow of this home, as this user. Raises Misconfigured where none runs."""
    folder = home.resolve() / "airflow"
    instance = _running(folder)
    if instance is None:
        raise Misconfigured(Code.AIRFLOW_DOWN, "Airflow does not run here: start it with `make up`")
    return Airflow(instance.url, user, _passwords(folder / "passwords.json")[user])


def _start(home: Path, folder: Path, environment: Mapping[str, str]) -> _Instance:
    port = _port(8080)
    url = f"http://127.0.0.1:{port}"
    with (folder / "standalone.log").open("ab") as log:
        process = subprocess.Popen(
            [str(Path(sys.executable).with_name("airflow")), "standalone"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **_environment(home, folder, url, port), **environment},
            start_new_session=True,
            # A shell's background job ignores SIGINT, and children inherit that; `down` depends on it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
    _children[process.pid] = process
    instance = _Instance(process.pid, _start_time(process.pid), url)
    (folder / "standalone.json").write_text(json.dumps(vars(instance)))
    return instance


def _environment(home: Path, folder: Path, url: str, port: int) -> dict[str, str]:
    from pipelines.settings import Settings

    options = {
        "API__HOST": "127.0.0.1",
        "API__PORT": str(port),
        "API__BASE_URL": url,
        "API__WORKERS": "1",
        "API_AUTH__JWT_SECRET": secrets.token_urlsafe(64),
        "CORE__DAGS_FOLDER": str(ROOT / "dags"),
        "CORE__PLUGINS_FOLDER": str(ROOT / "plugins"),
        "CORE__LOAD_EXAMPLES": "False",
        "CORE__PARALLELISM": "4",
        "CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
        "CORE__SIMPLE_AUTH_MANAGER_USERS": USERS,
        "CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(folder / "passwords.json"),
        # Each file takes some four CPU seconds: parsed every few seconds, they would keep a core busy for good.
        "DAG_PROCESSOR__REFRESH_INTERVAL": "300",
        "DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "300",
        "LOGGING__WORKER_LOG_SERVER_PORT": str(_port(8793)),
        "LOGGING__TRIGGER_LOG_SERVER_PORT": str(_port(8794)),
        "USAGE_DATA_COLLECTION__ENABLED": "False",
    }
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    modules = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return {
        **{f"AIRFLOW__{name}": value for name, value in options.items()},
        "AIRFLOW_HOME": str(folder),
        "PATH": path,
        "PYTHONPATH": modules,
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
        **{name: value for name, value in WHO.items() if name not in os.environ},
        "SLUICE_HOME": str(home),
        "SLUICE_SOURCES": str(Settings().sources.absolute()),
    }


def _passwords(path: Path) -> dict[str, str]:
    """The login of each user, made once and readable by the owner only."""
    stored: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    users = [user.partition(":")[0] for user in USERS.split(",")]
    if missing := {user: secrets.token_urlsafe(12) for user in users if user not in stored}:
        stored |= missing
        path.touch(mode=0o600)
        path.write_text(json.dumps(stored))
    return stored


def _port(wanted: int) -> int:
    """The wanted loopback port where it is free, else any free one."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise Transient(Code.AIRFLOW_DOWN, "no free port")


def _answered_by_another(instance: _Instance) -> bool:
    """Whether a process that is not of this Airflow serves its port: between the choice of a port and the moment that
    Airflow listens there, half a minute passes."""
    port = urlsplit(instance.url).port
    try:
        with socket.create_connection(("127.0.0.1", port or 0), timeout=5):
            pass
    except OSError:
        return False
    return not any(port in _listening(one) for one in _members(instance.pid))


def _listening(process: Any) -> set[int]:
    """TCP ports that a process accepts connections at."""
    import psutil

    try:
        found = process.net_connections("tcp")
    except psutil.Error:
        return set()
    return {one.laddr.port for one in found if one.status == psutil.CONN_LISTEN}


def _running(folder: Path) -> _Instance | None:
    """The noted instance while any of its processes lives; a process id that was used again is not it."""
    try:
        instance = _Instance(**json.loads((folder / "standalone.json").read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None
    alive = _start_time(instance.pid) == instance.started
    return instance if alive or (_start_time(instance.pid) == 0 and _members(instance.pid)) else None


def _start_time(pid: int) -> float:
    """Seconds since the epoch; 0 where there is no such process (a zombie is none)."""
    import psutil

    try:
        process = psutil.Process(pid)
        return 0.0 if process.status() == psutil.STATUS_ZOMBIE else float(process.create_time())
    except psutil.NoSuchProcess:
        return 0.0


def _members(session: int) -> list[Any]:
    """All living processes of a session: Airflow's parts leave the process group, but not the session."""
    import psutil

    found = []
    for process in psutil.process_iter(["status"]):
        try:
            if os.getsid(process.pid) == session and process.info["status"] != psutil.STATUS_ZOMBIE:
                found.append(process)
        except OSError:
            continue
    return found


def _reap(pid: int) -> None:
    child = _children.get(pid)
    if child is not None and child.poll() is not None:
        del _children[pid]


def _send(processes: list[Any], number: int) -> None:
    import psutil

    for process in processes:
        try:
            process.send_signal(number)
        except psutil.NoSuchProcess:
            continue


def _tail(folder: Path, lines: int = 20) -> str:
    log = folder / "standalone.log"
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:]) if log.exists() else ""


def main() -> None:
    """`up` prints address and logins; `down` stops."""
    from pipelines.settings import Settings

    home = Settings().home
    if sys.argv[1:] == ["up"]:
        airflow = up(home)
        for user, password in _passwords(home.resolve() / "airflow" / "passwords.json").items():
            sys.stdout.write(f"{airflow.url}  {user}  {password}\n")
    elif sys.argv[1:] == ["down"]:
        sys.stdout.write("Airflow stopped.\n" if down(home) else "Airflow was not running.\n")
    else:
        sys.exit("usage: python -m pipelines.standalone up|down")


if __name__ == "__main__":
    main()
