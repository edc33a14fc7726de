"""The application: every route behind the guard, every answer with the same headers, every error as a page."""

from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path
from urllib.parse import urlsplit

from fastapi import Depends, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from pipelines.app import App
from pipelines.errors import Conflict, Misconfigured, SluiceError, Transient
from sluice_ui.context import SignIn, context, guard
from sluice_ui.host import Host
from sluice_ui.nav import EXTRA_MODULES, entries
from sluice_ui.security import HEADERS
from sluice_ui.warmth import Warmth

STATUS = {Conflict: 409, Misconfigured: 422, Transient: 503}


def create_app(host: Host, wired: Callable[[], App], load: Callable[[], None] = lambda: None) -> FastAPI:
    """`wired` gives the application of this installation; it is called for each request and may be cached. `load` makes
    its search ready; it is called once, behind the first page of a release."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, dependencies=[Depends(guard)])
    app.state.host, app.state.wired, app.state.warmth = host, wired, Warmth(load)
    for module in (*(one.module for one in entries()), *EXTRA_MODULES):
        app.include_router(import_module(f"sluice_ui.routes.{module}").router)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"))
    app.middleware("http")(_headers)
    app.exception_handler(SignIn)(_sign_in)
    app.exception_handler(SluiceError)(_refused)
    app.exception_handler(StarletteHTTPException)(_http_error)
    app.exception_handler(RequestValidationError)(_bad_request)
    return app


async def _headers(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    response = await call_next(request)
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    if "/static/" in request.url.path:
        response.headers["Cache-Control"] = "max-age=300"
    return response


def _wants_page(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")


def _sign_in(request: Request, error: Exception) -> Response:
    assert isinstance(error, SignIn)
    if request.method == "GET" and _wants_page(request):
        return RedirectResponse(request.app.state.host.login_url(error.back), 302)
    return JSONResponse({"code": "sign_in", "reason": "not signed in"}, 401)


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, SluiceError)
    status = next((number for kind, number in STATUS.items() if isinstance(error, kind)), 400)
    return _error(request, status, error.code.value, error.reason)


def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, StarletteHTTPException)
    return _error(request, error.status_code, f"http.{error.status_code}", str(error.detail))


def _bad_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    return _error(request, 422, "http.422", f"{first['loc'][-1]}: {first['msg']}")


def _error(request: Request, status: int, code: str, reason: str) -> Response:
    if not _wants_page(request) or not hasattr(request.state, "viewer"):
        return JSONResponse({"code": code, "reason": reason}, status)
    return context(request).page("error.html", status, code=code, reason=reason, came_from=_came_from(request))


def _came_from(request: Request) -> str:
    """The page of ours that a form stood on; nothing for any other address."""
    before = urlsplit(request.headers.get("referer", ""))
    ours = before.netloc == request.headers.get("host") and before.path.startswith(
        request.scope.get("root_path", "") + "/"
    )
    return f"{before.path}?{before.query}" if ours else ""
