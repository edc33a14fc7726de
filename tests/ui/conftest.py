"""The pages over a small knowledge base: real SQLite, real layers, a fake of Airflow."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from sluice_ui.app import create_app
from tests.fakes_host import FakeHost
from tests.flow.conftest import Kb, kb

__all__ = ["Browser", "Kb", "kb"]


class Browser:
    """One person's requests. Forms carry the token of the page they stand on, as in a real browser."""

    def __init__(self, client: TestClient, user: str, language: str = "en") -> None:
        self._client = client
        self._headers = {"x-user": user, "accept": "text/html", "accept-language": language}

    def get(self, path: str, status: int = 200, **headers: str) -> str:
        response = self.raw("GET", path, **headers)
        assert response.status_code == status, (path, response.status_code, response.text[-2000:])
        return response.text

    def raw(self, method: str, path: str, data: dict[str, Any] | None = None, **headers: str) -> Any:
        sent = self._headers | {name.replace("_", "-"): value for name, value in headers.items()}
        return self._client.request(method, path, data=data, headers=sent, follow_redirects=False)

    def token(self, page: str = "/") -> str:
        found = re.search(r'name="csrf" value="([^"]+)"', self.get(page))
        assert found, "the page has no form"
        return found[1]

    def post(self, path: str, data: dict[str, Any], page: str, status: int = 303) -> Any:
        response = self.raw("POST", path, {"csrf": self.token(page), **data})
        assert response.status_code == status, (path, response.status_code, response.text[-2000:])
        return response


@pytest.fixture
def host() -> FakeHost:
    return FakeHost()


@pytest.fixture
def client(kb: Kb, host: FakeHost) -> Iterator[TestClient]:
    with TestClient(create_app(host, lambda: kb.app)) as made:
        yield made


@pytest.fixture
def admin(client: TestClient) -> Browser:
    return Browser(client, "admin")


@pytest.fixture
def viewer(client: TestClient) -> Browser:
    return Browser(client, "viewer")


@pytest.fixture
def reviewed(kb: Kb) -> Kb:
    """Release 1 is superseded, 2 is live, 3 is in review, with a changed, a new and a removed document."""
    kb.release()
    kb.write("laptop", "Laptops are replaced every three years by the desk.")
    kb.release()
    kb.write("leave", "Annual leave is thirty days for everybody.", "Unused holidays expire at the end of March.")
    kb.write("parking", "Bicycles have places under the roof.")
    (kb.docs / "canteen.md").unlink()
    kb.sync()
    return kb
