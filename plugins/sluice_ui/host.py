"""What the pages need from the program that serves them: who asks, what they may run, and runs of DAGs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from starlette.requests import Request


@dataclass(frozen=True)
class Account:
    """A signed-in user as the host knows them."""

    id: str
    name: str
    roles: tuple[str, ...] = ()
    teams: tuple[str, ...] = ()
    handle: Any = None
    """The host's own user object."""


class Host(Protocol):
    """Airflow, or a fake of it in tests. Raises SluiceError where the host refuses."""

    async def account(self, request: Request) -> Account | None:
        """None: nobody is signed in."""
        ...

    def login_url(self, back: str) -> str: ...

    def may_run(self, account: Account, dag: str) -> bool:
        """Whether this user may start the DAG and answer what it asks."""
        ...

    def run(self, request: Request, dag: str, conf: Mapping[str, Any]) -> str:
        """Start a DAG as this user; returns the run's id."""
        ...

    def run_url(self, dag: str, run: str) -> str: ...

    def run_conf(self, request: Request, dag: str, run: str) -> Mapping[str, Any]:
        """The form values of a run; empty where this user may not see it."""
        ...

    def answer(self, request: Request, release: int, option: str, reason: str) -> bool:
        """Answer what `kb_release` asks about this release; False where no run waits for an answer."""
        ...
