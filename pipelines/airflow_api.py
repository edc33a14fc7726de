"""A small client of Airflow's REST API v2: trigger a DAG, wait for it, answer its questions."""

import json
import secrets
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from pipelines.errors import Code, Conflict, Misconfigured, SluiceError, Transient

PAUSES = (1, 2, 4)
"""Seconds before a call that failed on Airflow's side is made again."""
SETTLE_SECONDS = 5.0
"""An answer within about two seconds of the question can fail the task (seen on 3.3.2; 3 s and more never did)."""


@dataclass(frozen=True)
class Run:
    """One run of a DAG."""

    dag: str
    id: str


@dataclass(frozen=True)
class Question:
    """A task that waits for a person."""

    run: Run
    task: str
    map_index: int
    subject: str
    body: str
    options: tuple[str, ...]
    asked: float
    """Seconds since the epoch."""


@dataclass
class Airflow:
    """One Airflow, as one of its users."""

    url: str
    user: str
    password: str = field(repr=False)
    _token: str = field(default="", repr=False)

    def as_user(self, user: str, password: str) -> "Airflow":
        """The same Airflow for another user."""
        return replace(self, user=user, password=password, _token="")

    def token(self) -> str:
        """Log in; the token is kept."""
        if not self._token:
            login = {"username": self.user, "password": self.password}
            self._token = str(_call("POST", f"{self.url}/auth/token", login)["access_token"])
        return self._token

    def healthy(self) -> bool:
        """Whether database, scheduler and DAG processor report well."""
        try:
            report = _call("GET", f"{self.url}/api/v2/monitor/health")
            parts = [report[part]["status"] for part in ("metadatabase", "scheduler", "dag_processor")]
        except (Transient, Misconfigured, Conflict, ValueError, KeyError, TypeError):  # or it is no Airflow at all
            return False
        return parts == ["healthy"] * 3

    def unpause(self, dag: str, timeout: float = 120) -> None:
        """Let a DAG run. Waits for it to be parsed first."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                self._api("PATCH", f"dags/{_quote(dag)}?update_mask=is_paused", {"is_paused": False})
                return
            except Misconfigured:
                if time.monotonic() > deadline:
                    raise
                time.sleep(1)

    def trigger(self, dag: str, conf: Mapping[str, Any] | None = None) -> Run:
        """Start a run with these form values. Raises Misconfigured where the form refuses them."""
        # The name is ours, so that a call which may have been done can be made again.
        run = Run(dag, f"manual__{secrets.token_hex(8)}")
        body = {"dag_run_id": run.id, "logical_date": None, "conf": dict(conf or {})}
        try:
            self._api("POST", f"dags/{_quote(dag)}/dagRuns", body)
        except Conflict as taken:
            try:
                self.state(run)
            except SluiceError:
                raise taken from None
        return run

    def state(self, run: Run) -> str:
        """`queued`, `running`, `success` or `failed`."""
        return str(self._api("GET", _path(run))["state"])

    def runs(self, dag: str) -> list[Run]:
        """The latest 50 runs, newest first: how to find what an asset started."""
        found = self._api("GET", f"dags/{_quote(dag)}/dagRuns?order_by=-run_after&limit=50")
        return [Run(dag, str(one["dag_run_id"])) for one in found["dag_runs"]]

    def wait(self, run: Run, timeout: float = 1800) -> str:
        """The final state. Raises Transient when the run has not ended in time (it may wait for a person)."""
        deadline = time.monotonic() + timeout
        while (state := self.state(run)) not in ("success", "failed"):
            if time.monotonic() > deadline:
                raise Transient(Code.AIRFLOW_DOWN, f"run {run.id} of {run.dag} is still {state}")
            time.sleep(1)
        return state

    def tasks(self, run: Run) -> dict[str, str]:
        """State by task id; a mapped task's are named `task[0]`, `task[1]`, …"""
        found = self._api("GET", f"{_path(run)}/taskInstances?limit=1000")["task_instances"]
        return {
            one["task_id"] + (f"[{one['map_index']}]" if one["map_index"] >= 0 else ""): str(one["state"])
            for one in found
        }

    def pending(self, dag: str = "~", run: str = "~") -> list[Question]:
        """What waits for an answer, of one DAG or run where given."""
        query = "response_received=false&state=awaiting_input&limit=100"
        found = self._api("GET", f"dags/{_quote(dag)}/dagRuns/{_quote(run)}/hitlDetails?{query}")
        return [_question(one) for one in found["hitl_details"]]

    def wait_question(self, run: Run, timeout: float = 600) -> Question:
        """The run's first question. Raises Transient when the run ends, or time does, before it asks."""
        deadline = time.monotonic() + timeout
        while not (found := self.pending(run.dag, run.id)):
            if time.monotonic() > deadline or self.state(run) in ("success", "failed"):
                raise Transient(Code.AIRFLOW_DOWN, f"run {run.id} of {run.dag} asks nothing")
            time.sleep(1)
        return found[0]

    def answer(self, question: Question, options: Sequence[str], params: Mapping[str, Any] | None = None) -> None:
        """Answer as this user. Raises Conflict where it has been answered, Misconfigured where this user may not."""
        time.sleep(max(0.0, question.asked + SETTLE_SECONDS - time.time()))
        place = f"{_path(question.run)}/taskInstances/{_quote(question.task)}/{question.map_index}/hitlDetails"
        self._api("PATCH", place, {"chosen_options": list(options), "params_input": dict(params or {})})

    def _api(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        # SQLite is locked at times while the scheduler writes (500, 503): those calls are made again.
        for pause in PAUSES:
            try:
                return _call(method, f"{self.url}/api/v2/{path}", body, self.token())
            except Transient:
                time.sleep(pause)
        return _call(method, f"{self.url}/api/v2/{path}", body, self.token())


def _question(one: Mapping[str, Any]) -> Question:
    task = one["task_instance"]
    return Question(
        run=Run(str(task["dag_id"]), str(task["dag_run_id"])),
        task=str(task["task_id"]),
        map_index=int(task["map_index"]),
        subject=str(one["subject"]),
        body=str(one.get("body") or ""),
        options=tuple(one["options"]),
        asked=datetime.fromisoformat(one["created_at"]).astimezone(UTC).timestamp(),
    )


def _path(run: Run) -> str:
    return f"dags/{_quote(run.dag)}/dagRuns/{_quote(run.id)}"


def _quote(text: str) -> str:
    return urllib.parse.quote(text, safe="~")


def _call(method: str, url: str, body: Mapping[str, Any] | None = None, token: str = "") -> Any:
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers=headers, method=method)
    # A proxy of the site must never see these calls.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=30) as reply:
            return json.loads(reply.read() or b"null")
    except urllib.error.HTTPError as error:
        with error:
            detail = error.read(2000).decode("utf-8", "replace")
        reason = f"Airflow refused {method} {url}: {error.code} {detail}"
        if error.code == 409:
            raise Conflict(Code.AIRFLOW_REFUSED, reason) from error
        kind = Transient if error.code >= 500 else Misconfigured
        raise kind(Code.AIRFLOW_REFUSED, reason) from error
    except OSError as error:
        raise Transient(Code.AIRFLOW_DOWN, f"Airflow does not answer at {url}: {error}") from error
