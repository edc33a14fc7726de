"""Who looks, what they may do, and which requests count as theirs."""

import hashlib
import hmac
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.requests import Request

from pipelines.report.scope import Person
from pipelines.settings import PagesSettings
from sluice_ui.host import Account, Host

TOKEN_SECONDS = 12 * 3600
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'self'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True)
class Viewer:
    """A signed-in person, as the settings and Airflow describe them."""

    account: Account
    person: Person
    audits: bool
    host: Host

    @property
    def user(self) -> str:
        return self.account.id

    def may_run(self, dag: str) -> bool:
        return self.host.may_run(self.account, dag)


def viewer(account: Account, settings: PagesSettings, host: Host) -> Viewer:
    """The settings' members are user ids, or `role:NAME` of the host's roles, whatever their case."""
    roles = {f"role:{one}".casefold() for one in account.roles}

    def among(members: tuple[str, ...]) -> bool:
        named = {one for one in members if not one.startswith("role:")}
        return account.id in named or any(one.casefold() in roles for one in members)

    teams = {*account.teams, *(team for team, members in settings.teams.items() if among(members))}
    admin = among(settings.admins)
    person = Person(user=account.id, teams=tuple(sorted(teams)), admin=admin)
    return Viewer(account=account, person=person, audits=admin or among(settings.auditors), host=host)


def csrf_token(key: bytes, user: str, now: float | None = None) -> str:
    """Good for this user and twelve hours. A stranger's page cannot read it, and no other user's fits."""
    until = str(int((time.time() if now is None else now) + TOKEN_SECONDS))
    return f"{until}.{_sign(key, user, until)}"


def csrf_valid(key: bytes, user: str, token: str, now: float | None = None) -> bool:
    until, _, signature = token.partition(".")
    if not until.isascii() or not until.isdigit() or int(until) < (time.time() if now is None else now):
        return False
    return hmac.compare_digest(_sign(key, user, until).encode(), signature.encode("utf-8", "replace"))


def _sign(key: bytes, user: str, until: str) -> str:
    return hmac.new(key, f"csrf\0{user}\0{until}".encode(), hashlib.sha256).hexdigest()


def same_origin(request: Request) -> bool:
    """False where the browser says that another site's page sent this."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")
