"""People are told by webhook and mail, and a target that fails holds nothing up."""

import email
import email.policy
import json
import socketserver
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace

import pytest

from pipelines import airflow_quality
from pipelines.notify import Event, tell
from pipelines.settings import NotifySettings

EVENT = Event("review.waiting", "Release 7 waits for a review.", "http://airflow.test/x")


@pytest.fixture
def hook():
    """A server that keeps what is posted to it, and refuses what is posted to /refuse."""
    posted = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            posted.append((self.path, json.loads(body)))
            self.send_response(500 if self.path == "/refuse" else 204)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", posted
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_webhook_gets_the_event_as_json(hook):
    url, posted = hook
    assert tell(NotifySettings(webhooks=(f"{url}/chat",)), EVENT) == 1
    ((path, body),) = posted
    assert path == "/chat" and body["schema"] == "sluice.event/1"
    assert (body["name"], body["url"]) == (EVENT.name, EVENT.url)
    assert EVENT.message in body["text"]


def test_a_target_that_fails_holds_up_neither_the_others_nor_the_run(hook):
    url, posted = hook
    targets = ("http://127.0.0.1:9/closed", f"{url}/refuse", "file:///etc/passwd", f"{url}/chat")
    assert tell(NotifySettings(webhooks=targets), EVENT) == 1
    assert [path for path, _ in posted] == ["/refuse", "/chat"]


class Sink(socketserver.StreamRequestHandler):
    """Takes one mail as RFC 5321 has it; `mails` of the server holds (recipients, message)."""

    def handle(self):
        self.wfile.write(b"220 sink\r\n")
        to = []
        while line := self.rfile.readline().decode().strip():
            command = line[:4].upper()
            if command == "DATA":
                self.wfile.write(b"354 go on\r\n")
                lines = iter(self.rfile.readline, b".\r\n")
                self.server.mails.append((to, email.message_from_bytes(b"".join(lines), policy=email.policy.default)))
            if command == "RCPT":
                to.append(line.partition("<")[2].rstrip(">"))
            self.wfile.write(b"221 bye\r\n" if command == "QUIT" else b"250 ok\r\n")
            if command == "QUIT":
                return


@pytest.fixture
def sink():
    with socketserver.TCPServer(("127.0.0.1", 0), Sink) as server:
        server.mails = []
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def mail(sink, **more):
    host, port = sink.server_address
    return NotifySettings(mail_to=("ann@example.com", "bo@example.com"), smtp_host=host, smtp_port=port, **more)


def test_a_mail_reaches_an_smtp_server(sink):
    assert tell(mail(sink), EVENT) == 1
    ((to, message),) = sink.mails
    assert to == ["ann@example.com", "bo@example.com"]
    assert (message["subject"], message["from"]) == ("Sluice: review.waiting", "sluice@localhost")
    assert message.get_content().split() == [*EVENT.message.split(), EVENT.url]


@pytest.mark.parametrize(
    ("event", "error", "told"),
    [
        ("review.waiting", None, "Release 7 waits."),
        ("release.failed", "release.gate_failed: nDCG@10 fell by 0.2", "Release 7 waits. release.gate_failed: nDCG"),
        ("sync.failed", "wiki: scan.breaker: 60 of 80 documents would go", "Release 7 waits. wiki: scan.breaker"),
        ("index.drift", "3 rows of the index differ from SQL", "Release 7 waits. 3 rows"),
    ],
)
def test_airflows_notifier_mails_what_waits_or_failed_and_why(sink, monkeypatch, event, error, told):
    notifier = pytest.importorskip("pipelines.airflow_notify").Tell(event, "Release 7 waits.")
    monkeypatch.setenv("SLUICE_NOTIFY", mail(sink).model_dump_json(exclude={"smtp_password"}))
    ti = SimpleNamespace(log_url="http://airflow.test/log")
    notifier.notify({"ti": ti} | ({"exception": RuntimeError(error)} if error else {}))
    ((_, message),) = sink.mails
    assert message["subject"] == f"Sluice: {event}"
    assert told in message.get_content() and ti.log_url in message.get_content()


@pytest.mark.parametrize(("index", "told"), [(0.24, []), (0.25, ["Sluice: quality.drift"])])
def test_a_distribution_that_has_shifted_is_told(sink, index, told):
    app = SimpleNamespace(settings=SimpleNamespace(notify=mail(sink)))
    found = {"release": 7, "scope": "live", "shift": {"psi_length": index, "chunks_ratio": 3.0}}
    airflow_quality._tell_shift(app, found)
    assert [message["subject"] for _, message in sink.mails] == told


def test_nobody_is_told_by_default():
    assert tell(NotifySettings(), EVENT) == 0
