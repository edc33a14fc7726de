"""A host of the pages without Airflow: users by a header, runs and answers kept in lists."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from sluice_ui.host import Account

ACCOUNTS = {
    "admin": Account("admin", "admin", ("admin",)),
    "reviewer": Account("reviewer", "reviewer", ("user",)),
    "viewer": Account("viewer", "viewer", ("viewer",)),
}


class FakeHost:
    """The header `x-user` says who asks; `user` and `admin` may run DAGs, as with Airflow's simple auth manager."""

    def __init__(self, accounts: Mapping[str, Account] = ACCOUNTS) -> None:
        self.accounts = dict(accounts)
        self.started: list[tuple[str, dict[str, Any]]] = []
        self.asking: set[int] = set()
        """Releases that a run of kb_release asks about."""
        self.answers: list[tuple[int, str, str]] = []

    async def account(self, request: Request) -> Account | None:
        return self.accounts.get(request.headers.get("x-user", ""))

    def login_url(self, back: str) -> str:
        return f"/auth/login?next={back}"

    def may_run(self, account: Account, dag: str) -> bool:
        return "viewer" not in account.roles

    def run(self, request: Request, dag: str, conf: Mapping[str, Any]) -> str:
        self.started.append((dag, dict(conf)))
        return f"run-{len(self.started)}"

    def run_url(self, dag: str, run: str) -> str:
        return f"/dags/{dag}/runs/{run}"

    def run_conf(self, request: Request, dag: str, run: str) -> Mapping[str, Any]:
        place = run.removeprefix("run-")
        return self.started[int(place) - 1][1] if place.isdigit() and 0 < int(place) <= len(self.started) else {}

    def answer(self, request: Request, release: int, option: str, reason: str) -> bool:
        if release not in self.asking:
            return False
        self.asking.remove(release)
        self.answers.append((release, option, reason))
        return True
