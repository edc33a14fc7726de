"""The pages over a small knowledge base: real SQLite, real layers, a fake of Airflow. It is built once; tests that
change something work on a copy."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute
from sqlalchemy import select
from starlette.testclient import TestClient

from pipelines.migrate import migrate
from sluice_ui.app import create_app
from sql import tables
from tests.fakes import FakeEmbedder
from tests.fakes_host import FakeHost
from tests.fakes_index import FakeIndex
from tests.flow.conftest import SOURCES as NOTES
from tests.flow.conftest import TOPICS, Kb, open_kb

SOURCES = f"""{NOTES}
  - name: staff
    location: staff
    scope: team:staff
    owner: reviewer
    review: {{approver: owner}}
  - name: diary
    location: diary
    scope: user:viewer
"""
SCRIPT = '<script>alert("pwned")</script>'
HOSTILE = f"""# Title {SCRIPT}

Text {SCRIPT} <img src=x onerror=alert(1)> [link](javascript:alert(1)) and 13812345678.

| head {SCRIPT} | b |
|---|---|
| <svg/onload=alert(1)> | "><b onmouseover=alert(1)> |
"""


class Browser:
    """One person's requests. Forms carry the token of the page that they stand on, as in a real browser."""

    def __init__(self, client: TestClient, user: str, language: str = "en") -> None:
        self._client = client
        self._headers = {"x-user": user, "accept": "text/html", "accept-language": language}

    def get(self, path: str, status: int = 200, **headers: str) -> str:
        response = self.raw("GET", path, **headers)
        assert response.status_code == status, (path, response.status_code, response.text[-2000:])
        return str(response.text)

    def raw(self, method: str, path: str, data: dict[str, Any] | None = None, **headers: str) -> Any:
        sent = self._headers | {name.replace("_", "-"): value for name, value in headers.items()}
        return self._client.request(method, path, data=data, headers=sent, follow_redirects=False)

    def token(self, page: str) -> str:
        found = re.search(r'name="csrf" value="([^"]+)"', self.get(page))
        assert found, "the page has no form"
        return found[1]

    def post(self, path: str, data: dict[str, Any], page: str, status: int = 303) -> Any:
        response = self.raw("POST", path, {"csrf": self.token(page), **data})
        assert response.status_code == status, (path, response.status_code, response.text[-2000:])
        return response


def opened(base: Path) -> Kb:
    """Folders of all sources, empty, and the knowledge base over them."""
    for folder in ("docs", "staff", "diary"):
        (base / folder).mkdir()
    (base / "sources.yaml").write_text(SOURCES, encoding="utf-8")
    return open_kb(base / "home", base / "docs", FakeIndex(), FakeEmbedder())


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kb]:
    """Release 1 is superseded, 2 is live, 3 is in review, with changed, new and removed documents of two sources."""
    base = tmp_path_factory.mktemp("pages")
    kb = opened(base)
    migrate(kb.app)
    for topic in ("leave", "laptop", "canteen"):
        kb.write(topic, *TOPICS[topic])
    (base / "staff" / "wages.md").write_text("# Wages\n\nWages are paid on the last day.\n", encoding="utf-8")
    (base / "diary" / "mine.md").write_text("# Mine\n\nA note to myself about holidays.\n", encoding="utf-8")
    (base / "docs" / "empty.md").write_text("", encoding="utf-8")
    kb.release()
    kb.write("laptop", "Laptops are replaced every three years by the desk.")
    kb.release()
    kb.write("leave", "Annual leave is thirty days for everybody.", "Unused holidays expire at the end of March.")
    (base / "docs" / "hostile <b>.md").write_text(HOSTILE, encoding="utf-8")
    (base / "staff" / "bonus.md").write_text("# Bonus\n\nThe bonus is secret.\n", encoding="utf-8")
    (kb.docs / "canteen.md").unlink()
    kb.sync()
    yield kb
    kb.app.database.engine.dispose()


@pytest.fixture
def kb(built: Kb, tmp_path: Path) -> Iterator[Kb]:
    """A copy to be changed."""
    copied = built.copied(tmp_path / "home")
    yield copied
    copied.app.database.engine.dispose()


@pytest.fixture
def host() -> FakeHost:
    return FakeHost()


@pytest.fixture
def client(kb: Kb, host: FakeHost) -> Iterator[TestClient]:
    with TestClient(create_app(host, lambda: kb.app)) as made:
        yield made


@pytest.fixture(scope="session")
def looking(built: Kb) -> Iterator[TestClient]:
    """For tests that only look."""
    with TestClient(create_app(FakeHost(), lambda: built.app)) as made:
        yield made


def routes(client: TestClient) -> list[APIRoute]:
    """All that the application answers; a new one is in the tables of these tests by itself."""
    return [route for route in client.app.routes if isinstance(route, APIRoute)]  # type: ignore[attr-defined]


def addresses(client: TestClient, method: str, places: dict[str, list[str]]) -> list[str]:
    """Every route of this method with every value of its places; a place without a value is a KeyError."""
    found = []
    for route in routes(client):
        if method in route.methods:
            names = re.findall(r"{(\w+)(?::path)?}", route.path)
            blank = re.sub(r"{(\w+):path}", r"{\1}", route.path)
            found += [
                blank.format(**dict(zip(names, values, strict=True)))
                for values in itertools.product(*(places[name] for name in names))
            ]
    return found


def places(kb: Kb, name: str) -> dict[str, list[str]]:
    """What stands in the addresses that concern this document, its versions and its chunks."""
    v, vc, c, q = tables.version, tables.version_chunk, tables.conflict, tables.question
    id_ = document(kb, name)
    with kb.app.database.read() as tx:
        versions = list(tx.execute(select(v.c.id).where(v.c.document == id_)).scalars())
        chunks = list(tx.execute(select(vc.c.chunk).where(vc.c.version.in_(versions)).distinct()).scalars())
        mine = (c.c.document_a == id_) | (c.c.document_b == id_)
        others = [*tx.execute(select(c.c.id).where(mine)).scalars(), *tx.execute(select(q.c.id)).scalars()]
    return {
        "document": [id_],
        "version": versions[:1],
        "chunk": chunks[:1],
        "subject": [id_, *versions[:1], *chunks[:1]],
        "act": ["quarantine", "restore", "requeue", "forget", "rollback"],
        "kind": ["document", "version", "chunk"],
        "number": ["1", "3"],
        "key": ["0" * 32],
        "id_": others or ["0" * 32],
        "run": ["1"],
        "dag": ["kb_release"],
        "form": ["csv", "json"],
        "code": ["en"],
        "path": ["index.html", "../x.html"],
    }


def document(kb: Kb, name: str) -> str:
    """Id of the document of this file."""
    d = tables.document
    with kb.app.database.read() as tx:
        return str(tx.execute(select(d.c.id).where(d.c.uri.like(f"%{name}%"))).scalar_one())
