"""What every page starts from: the guard, the reader's scope and language, and drawing."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import Depends, HTTPException
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse

from pipelines.app import App
from pipelines.report.scope import Scope, scope_of
from sluice_ui.i18n import LANGUAGES, Translator, language_of, when
from sluice_ui.markup import safe_table
from sluice_ui.nav import entries
from sluice_ui.security import Viewer, csrf_token, csrf_valid, same_origin, viewer
from sluice_ui.warmth import Warmth


class SignIn(Exception):
    """Nobody is signed in: to the login page, or 401 where no person looks."""

    def __init__(self, back: str) -> None:
        super().__init__("not signed in")
        self.back = back


async def guard(request: Request) -> None:
    """On every route: a signed-in person, and for what changes anything a token that only our pages hold."""
    site = request.app.state
    account = await site.host.account(request)
    if account is None:
        raise SignIn(_back(request))
    request.state.viewer = viewer(account, site.wired().settings.pages, site.host)
    if request.method in ("GET", "HEAD"):
        return
    token = request.headers.get("x-csrf-token") or str((await request.form()).get("csrf", ""))
    if not same_origin(request) or not csrf_valid(site.wired().key, account.id, token):
        raise HTTPException(403, "This form is too old or not ours: load the page again.")


def _back(request: Request) -> str:
    return f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path


def _root(request: Request) -> str:
    """Where the pages are mounted."""
    return str(request.scope.get("root_path", ""))


@dataclass(frozen=True)
class Context:
    """One request of one person."""

    request: Request
    viewer: Viewer
    app: App
    """Acts under this person's name."""
    scope: Scope
    say: Translator

    def url(self, path: str, **query: Any) -> str:
        """A path of ours; `path` starts with a slash."""
        words = urlencode({key: value for key, value in query.items() if value not in (None, "", False)}, doseq=True)
        return _root(self.request) + quote(path, safe="/:@~") + (f"?{words}" if words else "")

    def page(self, template: str, status: int = 200, **values: Any) -> HTMLResponse:
        """Draw a page; every value is escaped."""
        return HTMLResponse(self.draw(template, **values), status)

    def draw(self, template: str, **values: Any) -> str:
        return _environment().get_template(template).render({**self._common(), **values})

    def _common(self) -> Mapping[str, Any]:
        return {
            "_": self.say.text,
            "n_": self.say.count,
            "name": self.say.name,
            "describe": self.say.describe,
            "why": self.say.why,
            "said": self.say.said,
            "ago": self.say.ago,
            "url": self.url,
            "nav": [one for one in entries() if one.allowed(self.viewer)],
            "here": self.request.url.path.removeprefix(_root(self.request)),
            "back": _back(self.request),
            "viewer": self.viewer,
            "scope": self.scope,
            "kb": self.app.kb,
            "language": self.say.language,
            "languages": LANGUAGES,
            "csrf": csrf_token(self.app.key, self.viewer.user),
            "done": self.request.query_params.get("done", ""),
            "run": self.request.query_params.get("run", ""),
        }

    @property
    def warmth(self) -> Warmth:
        """The search model of this server."""
        found: Warmth = self.request.app.state.warmth
        return found

    def goto(self, path: str, **query: Any) -> RedirectResponse:
        """After a form was taken in."""
        return RedirectResponse(self.url(path, **query), 303)

    def forbidden(self) -> HTTPException:
        return HTTPException(403, "You may not do this.")

    def missing(self) -> HTTPException:
        """The same answer for what does not exist and for what this person may not see."""
        return HTTPException(404, "There is no such page, or it is outside of what you may see.")


def context(request: Request) -> Context:
    site = request.app.state
    who: Viewer = request.state.viewer
    app = replace(site.wired(), actor=who.user)
    with app.database.read() as tx:
        scope = scope_of(tx, app.kb, who.person)
    return Context(request, who, app, scope, Translator(language_of(request)))


Page = Annotated[Context, Depends(context)]


@cache
def _environment() -> Environment:
    folder = Path(__file__).parent / "templates"
    made = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"when": when, "table": safe_table}
    return made
