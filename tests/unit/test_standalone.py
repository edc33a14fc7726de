"""Airflow on this machine."""

import json
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import psutil
import pytest

from pipelines import airflow_api, standalone
from pipelines.airflow_api import Airflow, Run
from pipelines.errors import Conflict, Misconfigured, Transient

DAG = """
from airflow.providers.standard.operators.hitl import HITLOperator
from airflow.sdk import DAG, task

with DAG("ask_someone", schedule=None):
    ask = HITLOperator(task_id="ask", subject="Publish?", options=["Approve", "Decline"], retries=3)

    @task
    def check(answer):
        assert answer["chosen_options"] == ["Approve"]
        assert answer["responded_by_user"]["id"] == "reviewer"

    check(ask.output)
"""


def test_nothing_runs_nothing_stops(tmp_path):
    assert standalone.down(tmp_path) is False
    with pytest.raises(Misconfigured, match="make up"):
        standalone.account(tmp_path)


def test_a_process_id_that_was_used_again_is_not_ours(tmp_path):
    (tmp_path / "standalone.json").write_text(json.dumps({"pid": os.getpid(), "started": 1.0, "url": "http://x"}))
    assert standalone._running(tmp_path) is None


def test_passwords_are_made_once_for_the_owner_only(tmp_path):
    path = tmp_path / "passwords.json"
    made = standalone._passwords(path)
    assert standalone._passwords(path) == made
    assert set(made) == {"admin", "reviewer", "engineer", "auditor", "viewer"}
    assert path.stat().st_mode & 0o077 == 0


@pytest.fixture
def server():
    """A server that speaks as much of Airflow's API as the client needs, and keeps what it was sent."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            seen.append((self.command, self.path, json.loads(body or b"null")))
            status, reply = 200, {}
            if self.path == "/auth/token":
                status, reply = 201, {"access_token": "t"}
            elif "taken" in self.path:
                status = 409
            elif "locked" in self.path and self.command == "POST":
                status = 409 if sum(path == self.path for _, path, _ in seen) > 1 else 500
            elif "forbidden" in self.path:
                status = 403
            elif "dagRuns" in self.path:
                reply = {"state": "success"}
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(reply).encode())

        do_GET = do_POST = do_PATCH = handle_any

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}", seen
        http.shutdown()
        thread.join()


def test_a_run_is_triggered_with_its_form_and_awaited(server):
    url, seen = server
    airflow = Airflow(url, "admin", "secret")
    run = airflow.trigger("kb_sync", {"full": True})
    assert airflow.wait(run) == "success"
    assert [call[:2] for call in seen] == [
        ("POST", "/auth/token"),
        ("POST", "/api/v2/dags/kb_sync/dagRuns"),
        ("GET", f"/api/v2/dags/kb_sync/dagRuns/{run.id}"),
    ]
    assert seen[1][2] == {"dag_run_id": run.id, "logical_date": None, "conf": {"full": True}}


def test_a_call_that_was_done_although_it_failed_is_not_done_twice(server):
    url, seen = server
    run = Airflow(url, "admin", "secret").trigger("locked")
    asked = [body["dag_run_id"] for method, path, body in seen if method == "POST" and "locked" in path]
    assert asked == [run.id, run.id]


@pytest.mark.parametrize(("dag", "kind"), [("taken", Conflict), ("forbidden", Misconfigured)])
def test_a_refusal_says_what_to_do_next(server, dag, kind):
    with pytest.raises(kind, match="refused"):
        Airflow(server[0], "admin", "secret").trigger(dag)


def test_a_server_that_is_away_is_transient_and_not_healthy(monkeypatch):
    monkeypatch.setattr(airflow_api, "PAUSES", (0,))
    airflow = Airflow("http://127.0.0.1:9", "admin", "secret")
    assert not airflow.healthy()
    with pytest.raises(Transient):
        airflow.trigger("kb_sync")


def test_the_password_is_not_shown():
    assert "secret" not in repr(Airflow("http://x", "admin", "secret"))


HEALTHY = """
import http.server, json, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        parts = ("metadatabase", "scheduler", "dag_processor")
        self.wfile.write(json.dumps({part: {"status": "healthy"} for part in parts}).encode())
    def log_message(self, *_):
        pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def test_another_server_that_took_the_port_is_left_alone_and_never_taken_for_ours(tmp_path, monkeypatch):
    other, ours = standalone._port(0), standalone._port(0)
    started = []

    def serve(port):
        process = subprocess.Popen([sys.executable, "-c", HEALTHY, str(port)], start_new_session=True)
        standalone._children[process.pid] = process
        return process

    def start(home, folder, environment):
        port = ours if started else other
        started.append(serve(ours) if started else subprocess.Popen(["sleep", "60"], start_new_session=True))
        pid = started[-1].pid
        standalone._children[pid] = started[-1]
        instance = standalone._Instance(pid, standalone._start_time(pid), f"http://127.0.0.1:{port}")
        (folder / "standalone.json").write_text(json.dumps(vars(instance)))
        return instance

    monkeypatch.setattr(standalone, "_start", start)
    stranger = serve(other)
    try:
        while not Airflow(f"http://127.0.0.1:{other}", "admin", "x").healthy():
            time.sleep(0.05)
        assert standalone.up(tmp_path).url == f"http://127.0.0.1:{ours}"
        assert len(started) == 2 and stranger.poll() is None
    finally:
        standalone.down(tmp_path)
        stranger.kill()
        stranger.wait()


@pytest.mark.slow
@pytest.mark.airflow
@pytest.mark.skipif(not os.environ.get("SLUICE_TEST_AIRFLOW"), reason="set SLUICE_TEST_AIRFLOW=1 to start Airflow")
def test_airflow_starts_asks_takes_the_answer_and_leaves_no_process(tmp_path):
    (tmp_path / "dags").mkdir()
    (tmp_path / "dags" / "ask.py").write_text(DAG)
    try:
        airflow = standalone.up(tmp_path, {"AIRFLOW__CORE__DAGS_FOLDER": str(tmp_path / "dags")})
        assert standalone.up(tmp_path).url == airflow.url
        airflow.unpause("ask_someone")
        run = airflow.trigger("ask_someone")
        question = airflow.wait_question(run)
        assert (question.run, question.subject, question.options) == (run, "Publish?", ("Approve", "Decline"))
        with pytest.raises(Misconfigured):
            standalone.account(tmp_path, "viewer").answer(question, ["Approve"])
        reviewer = standalone.account(tmp_path, "reviewer")
        reviewer.answer(question, ["Approve"])
        with pytest.raises(Conflict):
            reviewer.answer(question, ["Decline"])
        assert airflow.wait(run) == "success"
        assert airflow.tasks(run) == {"ask": "success", "check": "success"}
        assert airflow.runs("ask_someone") == [Run("ask_someone", run.id)]
    finally:
        assert standalone.down(tmp_path)
    mine = [one for one in psutil.process_iter(["environ"]) if str(tmp_path) in str(one.info["environ"])]
    assert mine == []
