"""People are told by webhook and mail, and a target that fails holds nothing up."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

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


def test_nobody_is_told_by_default():
    assert tell(NotifySettings(), EVENT) == 0
