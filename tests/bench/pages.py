"""How fast the pages answer with ten thousand staged documents in one release (bar: the queue under 300 ms, median).

Prints one JSON object: median wall and CPU milliseconds for each page, drawn in full by the real application over
SQLite; only the sign-in is a fake.
"""

import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pydantic import SecretStr
from starlette.testclient import TestClient

from pipelines.app import App
from pipelines.migrate import migrate
from pipelines.settings import Settings
from pipelines.wiring import wire
from sluice_ui.app import create_app
from sql import tables
from tests.fakes_host import FakeHost

DOCUMENTS = 10_000
ROUNDS = 15
RISKS = (["new_document"], ["new_document", "pii"], [], ["near_duplicate"], ["low_quality", "pii"], ["parse_warning"])
SOURCES = "knowledge_base: main\nsources:\n  - {name: big, location: docs}\n"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "sources.yaml").write_text(SOURCES)
        app = wire(Settings(home=home, sources=home / "sources.yaml", secret_key=SecretStr("bench")), actor="bench")
        migrate(app)
        _fill(app)
        with TestClient(create_app(FakeHost(), lambda: app)) as client:
            measured = {name: _measure(lambda path=path: _get(client, path)) for name, path in PAGES.items()}
        app.database.dispose()
    print(json.dumps({"bench": "pages", "documents": DOCUMENTS, "rounds": ROUNDS, "pages": measured}))


PAGES = {
    "queue": "/releases/1/review",
    "queue, one risk": "/releases/1/review?risk=pii&start=100",
    "queue, low risk": "/releases/1/review?group=low",
    "overview": "/",
    "documents": "/documents?text=00042",
    "release": "/releases/1",
}


def _get(client: TestClient, path: str) -> None:
    answer = client.get(path, headers={"x-user": "admin", "accept": "text/html"})
    assert answer.status_code == 200, answer.text[-500:]


def _measure(call: Callable[[], None]) -> dict[str, float]:
    call()
    wall, cpu = [], []
    for _ in range(ROUNDS):
        at, used = time.perf_counter(), time.process_time()
        call()
        wall.append(1000 * (time.perf_counter() - at))
        cpu.append(1000 * (time.process_time() - used))
    return {"wall_ms": round(statistics.median(wall), 1), "cpu_ms": round(statistics.median(cpu), 1)}


def _fill(app: App) -> None:
    """A first release of ten thousand staged documents, as a sync would have left it."""
    ids = [f"{number:032x}" for number in range(DOCUMENTS)]
    now = app.clock()
    config = app.sources().sources[0].model_dump(mode="json")
    with app.database.write() as tx:
        tx.execute(tables.access_set.insert().values(id=1, principals="everyone"))
        tx.execute(tables.source.insert().values(kb="main", name="big", config=config, acl=1, synced=now))
        tx.execute(tables.document.insert(), [_row(tables.document, id=one, uri=f"{one}.md", acl=1) for one in ids])
        versions = [
            _row(tables.version, id=one, document=one, number=1, uri=f"{one}.md", title=f"Document {one[-5:]}")
            for one in ids
        ]
        tx.execute(tables.version.insert(), versions)
        release = {"kb": "main", "number": 1, "state": "in_review", "kind": "sync", "base": 0, "created": now}
        tx.execute(tables.release.insert().values(**release, created_by="bench", counts={"add": DOCUMENTS}))
        items = [
            _row(tables.release_item, release=1, document=one, version=one, change="add", risk=RISKS[n % len(RISKS)])
            for n, one in enumerate(ids)
        ]
        tx.execute(tables.release_item.insert(), items)


def _row(table: object, **given: object) -> dict[str, object]:
    """All that a row needs, whatever the table asks for beyond what is `given`."""
    usual: dict[str, object] = {
        "kb": "main",
        "source": "big",
        "state": "staged",
        "decision": "pending",
        "language": "en",
    }
    made: dict[str, object] = {}
    for column in table.c:  # type: ignore[attr-defined]
        kind = column.type.python_type
        value = given.get(column.name, usual.get(column.name))
        if value is None and not column.nullable and column.default is None:
            value = {} if column.type.__class__.__name__ == "JSON" else True if kind is bool else kind()
        if value is not None or column.nullable:
            made[column.name] = value
    return made


if __name__ == "__main__":
    main()
