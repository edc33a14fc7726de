"""Search and ask over HTTP, for a product's back end: it knows its users, we know what they may read.

`Authorization: Bearer <SLUICE_SERVE__TOKEN>` makes the identity headers trusted; without it a caller is nobody in
particular and sees what everyone may. Errors are `{"code", "reason"}` with the codes of the command line.
"""

import secrets
from contextlib import suppress
from dataclasses import replace
from datetime import date
from typing import Annotated, Any, Literal

from fastapi import Depends, FastAPI, Header, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from pipelines import ask as asking
from pipelines.app import App
from pipelines.errors import Code, Conflict, Misconfigured, Rejected, SluiceError, Transient
from pipelines.library import Reader, SqlLibrary
from pipelines.publish.collections import embedder_for
from pipelines.query_log import feedback

MISSING = frozenset({Code.RELEASE_UNKNOWN, Code.UNKNOWN_SUBJECT})


class Unauthorised(Exception):
    """Identity headers without the token that makes them trusted, or with a wrong one."""


Text = Annotated[str, Field(min_length=1, max_length=4000)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


class Search(_Body):
    """Body of POST /v1/search."""

    text: Text
    top: int = Field(default=10, ge=1, le=200)
    as_of: int | None = Field(default=None, ge=1)
    history: tuple[Text, ...] = Field(default=(), max_length=20)
    sources: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    dated_from: date | None = None
    """As 2026-01-31; that day or later."""
    dated_to: date | None = None
    explain: bool = False


class Ask(_Body):
    """Body of POST /v1/ask."""

    text: Text
    as_of: int | None = Field(default=None, ge=1)
    history: tuple[Text, ...] = Field(default=(), max_length=20)
    explain: bool = False


class Feedback(_Body):
    """Body of POST /v1/feedback."""

    query: str = Field(min_length=1, max_length=32)
    verdict: Literal["up", "down"]
    comment: str = Field(default="", max_length=2000)


def create(app: App) -> FastAPI:
    """The ASGI application."""
    api = FastAPI(title="Sluice", docs_url=None, redoc_url=None)
    token = app.settings.serve.token.get_secret_value()

    def who(
        authorization: Annotated[str, Header()] = "",
        x_sluice_user: Annotated[str, Header()] = "",
        x_sluice_groups: Annotated[str, Header()] = "",
    ) -> Reader:
        trusted = bool(token) and secrets.compare_digest(authorization.encode(), f"Bearer {token}".encode())
        if not trusted and (authorization or x_sluice_user or x_sluice_groups):
            raise Unauthorised
        return asking.reader(x_sluice_user or None, x_sluice_groups)

    @api.post("/v1/search")
    def search(body: Search, reader: Annotated[Reader, Depends(who)]) -> dict[str, Any]:
        where = asking.narrowed(body.sources, body.kinds, body.languages, body.dated_from, body.dated_to)
        return asking.search(app, body.text, reader, body.as_of, body.top, body.explain, where, body.history)

    @api.post("/v1/ask")
    def ask(body: Ask, reader: Annotated[Reader, Depends(who)]) -> dict[str, Any]:
        return asking.ask(app, body.text, reader, body.as_of, body.explain, body.history)

    @api.post("/v1/feedback")
    def say(body: Feedback, reader: Annotated[Reader, Depends(who)]) -> dict[str, Any]:
        return feedback(app, body.query, body.verdict, reader.user or "anonymous", body.comment)

    @api.get("/v1/health")
    def health() -> dict[str, Any]:
        """Whether the database answers, and which release readers see; null before the first."""
        return {"status": "ok", "kb": app.kb, "release": SqlLibrary(app, Reader()).release or None}

    @api.exception_handler(SluiceError)
    def ours(_request: Request, error: SluiceError) -> JSONResponse:
        return _error(status_of(error), error.code, error.reason)

    @api.exception_handler(Unauthorised)
    def stranger(_request: Request, _error_: Unauthorised) -> JSONResponse:
        return _error(401, Code.UNAUTHORISED, "identity headers need the right bearer token")

    @api.exception_handler(RequestValidationError)
    def wrong(_request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        return _error(422, Code.BAD_REQUEST, f"{'.'.join(map(str, first['loc']))}: {first['msg']}")

    @api.exception_handler(HTTPException)
    def elsewhere(_request: Request, error: HTTPException) -> JSONResponse:
        return _error(error.status_code, Code.BAD_REQUEST, str(error.detail))

    return api


def warm(app: App) -> None:
    """Loads the model, its scale and the index now, so that the first reader does not wait for them. One that is down
    is told to whoever asks."""
    from pipelines.retrieve.similarity import similarity

    with suppress(SluiceError):
        library, found = asking.find(replace(app, llm=lambda: None), "ready", Reader(), None, 1)
        if found:
            similarity(embedder_for(app, library.embedder), "ready", 0.0)


def _error(status: int, code: Code, reason: str) -> JSONResponse:
    return JSONResponse({"code": code.value, "reason": reason}, status_code=status)


def status_of(error: SluiceError) -> int:
    """404 for what is not there, 409 for a conflict, 503 for what may pass, 500 for a setting or a defect."""
    if error.code in MISSING:
        return 404
    for kind, status in ((Transient, 503), (Conflict, 409), (Rejected, 422), (Misconfigured, 500)):
        if isinstance(error, kind):
            return status
    return 500
