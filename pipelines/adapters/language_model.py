"""Asks an OpenAI-compatible server for one record, and survives what weak servers do.

The strictest way of asking comes first: `json_schema`, then `json_object`, then a plain request. A way that the server
refuses is given up once it has taken the next. A reply is cleaned (thinking, fences, trailing commas); one that still
does not fit the schema is sent back once with the validation error.
"""

import base64
import hashlib
import json
import re
import threading
import time
from collections.abc import MutableMapping
from functools import cached_property
from typing import Any, TypeVar

from pydantic import ValidationError

from pipelines.adapters.model_server import connect, translated
from pipelines.errors import Code, Rejected, Transient
from pipelines.settings import LlmSettings
from schemas.base import Record

Reply = TypeVar("Reply", bound=Record)
Content = str | list[dict[str, Any]]
Message = dict[str, Any]
"""As the OpenAI protocol has them: text, or parts of text and pictures."""

THINKING = re.compile(
    r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)|\A[^{]*</think(?:ing)?>", re.DOTALL | re.IGNORECASE
)
MODES = ("json_schema", "json_object", "plain")
REFUSED = frozenset({400, 404, 415, 422, 500, 501})
"""Statuses with which servers answer a response format that they do not know."""
PICTURE = 1500
"""Tokens that a picture is taken for where the server does not count: between a tile of most models and a full page."""
NO_OBJECT = "The reply holds no JSON object."
TRUNCATED = "The reply was cut off. Answer again, shorter, with one complete JSON object."


class OpenAILanguageModel:
    """A `LanguageModel`, and a `VisionModel` where the model sees.

    `cache` keeps accepted replies as JSON by content; give a persistent one.
    """

    def __init__(self, settings: LlmSettings, cache: MutableMapping[str, str] | None = None) -> None:
        self._settings = settings
        self._cache: MutableMapping[str, str] = {} if cache is None else cache
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(settings.concurrency)
        self._mode = 0
        self._away_until = 0.0
        self.tokens_used = 0
        """Of this run, as the server counts; estimated where it does not say."""
        self.calls = 0
        """Requests sent, repairs and fallbacks included, the SDK's own retries not."""

    @property
    def name(self) -> str:
        return self._settings.model

    @cached_property
    def _client(self) -> Any:
        settings = self._settings
        return connect(settings.base_url, settings.api_key, settings.timeout_seconds)

    def close(self) -> None:
        """Closes the connections."""
        if "_client" in self.__dict__:
            self._client.close()

    def ask(self, task: str, instructions: str, text: str, reply: type[Reply]) -> Reply:
        """Raises Rejected(LLM_FAILED | LLM_BUDGET), Transient when the server is away, Misconfigured on a bad key."""
        return self._ask(task, instructions, text, text, reply)

    def look(self, task: str, instructions: str, text: str, image: bytes, reply: type[Reply]) -> Reply:
        """As `ask`, about a picture (PNG)."""
        url = f"data:image/png;base64,{base64.b64encode(image).decode()}"
        parts: Content = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": url}}]
        return self._ask(task, instructions, f"{hashlib.sha256(image).hexdigest()}\n{text}", parts, reply)

    def _ask(self, task: str, instructions: str, known_by: str, content: Content, reply: type[Reply]) -> Reply:
        schema = json.dumps(reply.model_json_schema(), ensure_ascii=False, sort_keys=True)
        key = cache_key(task, instructions, schema, self._settings.model, known_by)
        if (known := self._known(key, reply)) is not None:
            return known
        messages: list[Message] = [
            {"role": "system", "content": f"{instructions}\n\nAnswer with one JSON object of this schema:\n{schema}"},
            {"role": "user", "content": content},
        ]
        with self._slots:
            answer = self._ask_twice(task, messages, reply)
        with self._lock:
            self._cache[key] = answer.model_dump_json()
        return answer

    def _known(self, key: str, reply: type[Reply]) -> Reply | None:
        with self._lock:
            stored = self._cache.get(key)
        try:
            return None if stored is None else reply.model_validate_json(stored)
        except ValidationError:
            return None  # a damaged entry is worth a new question, not a stop

    def _ask_twice(self, task: str, messages: list[Message], reply: type[Reply]) -> Reply:
        """The question, and one repair turn."""
        content, complete = self._send(task, messages, reply)
        try:
            return read_reply(content, complete, reply)
        except ValueError as error:
            repair = [
                *messages,
                {"role": "assistant", "content": content or "(nothing)"},
                {"role": "user", "content": f"{error}\nAnswer again with one JSON object that fits the schema."},
            ]
        content, complete = self._send(task, repair, reply)
        try:
            return read_reply(content, complete, reply)
        except ValueError as error:
            reason = f"{self.name} gave no usable {reply.__name__}: {error}"
            raise Rejected(Code.LLM_FAILED, reason[:500]) from error

    def _send(self, task: str, messages: list[Message], reply: type[Record]) -> tuple[str, bool]:
        """(content, whether it is complete), in the strictest mode that the server takes."""
        import openai

        client = self._client_for(task)
        for mode in range(self._mode, len(MODES)):
            self._check_budget(messages)
            self.calls += 1
            try:
                completion = client.chat.completions.create(
                    model=self._settings.model, messages=messages, temperature=0, **response_format(MODES[mode], reply)
                )
            except openai.APIStatusError as error:
                if error.status_code in REFUSED and mode + 1 < len(MODES):
                    continue
                raise translated(error, "the language model", Code.LLM_FAILED) from error
            except (openai.OpenAIError, ValueError) as error:
                if isinstance(error, openai.APIConnectionError):
                    self._away_until = time.monotonic() + self._settings.pause_seconds
                raise translated(error, "the language model", Code.LLM_FAILED) from error
            self._mode = mode  # only now: a server that is down refuses every mode
            return self._taken(completion, messages)
        raise AssertionError("the last mode returns or raises")

    def _client_for(self, task: str) -> Any:
        """Raises Transient(MODEL_DOWN) at once where the server did not answer a moment ago."""
        left = self._away_until - time.monotonic()
        if left > 0:
            reason = f"the language model did not answer; it is asked again in {left:.0f} seconds"
            raise Transient(Code.MODEL_DOWN, reason)
        seconds = self._settings.task_seconds.get(task)
        return self._client if seconds is None else self._client.with_options(timeout=seconds, max_retries=0)

    def _taken(self, completion: Any, messages: list[Message]) -> tuple[str, bool]:
        choice = next(iter(getattr(completion, "choices", None) or ()), None)
        message = getattr(choice, "message", None)
        if choice is None or message is None:
            raise Rejected(Code.LLM_FAILED, "the language model sent an answer without choices")
        content = message.content or ""
        counted = getattr(getattr(completion, "usage", None), "total_tokens", None)
        spent = counted or _estimate(messages) + len(content) // 2
        with self._lock:
            self.tokens_used += spent
        return content, choice.finish_reason != "length"

    def _check_budget(self, messages: list[Message]) -> None:
        limit = self._settings.max_tokens_per_run
        if self.tokens_used + _estimate(messages) > limit:
            raise Rejected(Code.LLM_BUDGET, f"{self.tokens_used} of {limit} model tokens are used")


def cache_key(task: str, instructions: str, schema: str, model: str, text: str) -> str:
    """SHA-256 over the length-prefixed parts: no file name, no time."""
    state = hashlib.sha256()
    for part in (task, instructions, schema, model, text):
        data = part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "big") + data)
    return state.hexdigest()


def response_format(mode: str, reply: type[Record]) -> dict[str, Any]:
    """Arguments of the request for one of MODES."""
    if mode == "json_schema":
        schema = {"name": reply.__name__, "schema": reply.model_json_schema()}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
    return {"response_format": {"type": "json_object"}} if mode == "json_object" else {}


def read_reply(content: str, complete: bool, reply: type[Reply]) -> Reply:
    """The record in a model's reply. Raises ValueError with a text for the model (ValidationError is one)."""
    bare = THINKING.sub("", content)
    start = bare.find("{")
    if start < 0:
        raise ValueError(NO_OBJECT if complete else TRUNCATED)
    try:
        found, _ = json.JSONDecoder().raw_decode(bare, start)  # whatever follows (a fence, a remark) is left out
    except json.JSONDecodeError:
        found = _repaired(bare[start:], complete)
    return reply.model_validate_json(json.dumps(found))


def _repaired(body: str, complete: bool) -> Any:
    """Small slips only. A cut reply could be closed into a record that lacks what was cut, so it is refused."""
    if not complete or any(body.count(left) > body.count(right) for left, right in ("{}", "[]")):
        raise ValueError(TRUNCATED)
    import json_repair

    return json_repair.loads(body[: body.rfind("}") + 1])


def _estimate(messages: list[Message]) -> int:
    """Tokens of a request, from its characters: two a token lies between Chinese (about 1.5) and English (4)."""
    return sum(_tokens(message["content"]) for message in messages)


def _tokens(content: Content) -> int:
    if isinstance(content, str):
        return len(content) // 2
    return sum(len(part["text"]) // 2 if part["type"] == "text" else PICTURE for part in content)
