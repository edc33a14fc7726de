"""A scripted OpenAI-compatible server on loopback."""

import contextlib
import json
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Reply = dict[str, Any] | int
Step = Reply | Callable[[dict[str, Any]], Reply]
"""An answer, a status, or what makes one of them from the request."""


def says(content: str, finish: str = "stop") -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content}}
    usage = {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


class ModelServer(ThreadingHTTPServer):
    """Answers from its script while the `with` block runs; the last step repeats. Formats in `refuses` get a status."""

    daemon_threads = True

    def __init__(self, script: Sequence[Step], refuses: dict[str, int] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = list(script)
        self.refuses = refuses or {}
        self.requests: list[dict[str, Any]] = []
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()

    def answer(self, request: dict[str, Any]) -> Reply:
        self.requests.append(request)
        wanted = request.get("response_format", {}).get("type", "plain")
        if wanted in self.refuses:
            return self.refuses[wanted]
        step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        return step(request) if callable(step) else step


class Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = self.server.answer(request)
        status, body = (200, answer) if isinstance(answer, dict) else (answer, {"error": {"message": "no"}})
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Retry-After-Ms", "1")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        with contextlib.suppress(BrokenPipeError):  # who waited has gone
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Quiet."""
