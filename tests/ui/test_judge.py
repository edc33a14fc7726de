"""A language model as judge of conflicts, behind a real port: from the sync to the page."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from starlette.testclient import TestClient

from pipelines.conflict.views import conflicts
from pipelines.migrate import migrate
from pipelines.settings import LlmSettings, Settings
from pipelines.wiring import wire
from sluice_ui.app import create_app
from tests.fakes_host import FakeHost
from tests.fakes_model import ModelServer, Reply, says
from tests.flow.conftest import Kb
from tests.ui.conftest import Browser, opened

RULE = "# {title}\n\n## Hotel limit\n\nFor a trip inside the country the hotel limit is {limit} euros a night.\n"
WHY = "two limits <b>for one night</b>"


def asks_to_judge(request: dict[str, Any]) -> bool:
    return "contradict each other" in str(request["messages"])


def judge(request: dict[str, Any]) -> Reply:
    """A weak model: the limit 170 is for another thing, all else contradicts. It knows no other task."""
    if not asks_to_judge(request):
        return 400
    if "170" in str(request["messages"]):
        return says('<think>Cards?</think>{"verdict": "different", "reason": "cards",}')
    return says(f'Here:\n```json\n{{"verdict": "conflict", "reason": "{WHY}"}}\n```')


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer([judge]) as running:
        yield running


@pytest.fixture
def judged(server: ModelServer, tmp_path: Path) -> Iterator[Kb]:
    """The model as a site configures it, with its stored replies."""
    made = opened(tmp_path)
    migrate(made.app)
    llm = LlmSettings(base_url=server.url, model="judge-7b", timeout_seconds=5)
    wired = wire(Settings(home=made.home, sources=tmp_path / "sources.yaml", secret_key=SecretStr("test"), llm=llm))
    made.app = replace(made.app, llm=wired.llm)
    for name, title, limit in (("rules", "Travel rules", 120), ("guide", "Guide", 150), ("card", "Card", 170)):
        (made.docs / f"{name}.md").write_text(RULE.format(title=title, limit=limit), encoding="utf-8")
    yield made
    made.app.database.dispose()
    wired.database.dispose()


def asked(server: ModelServer) -> int:
    return sum(asks_to_judge(one) for one in server.requests)


def test_the_judge_decides_is_named_on_the_page_and_is_never_asked_twice(judged: Kb, server: ModelServer) -> None:
    judged.release()
    with judged.app.database.read() as tx:
        (found,) = conflicts(tx, judged.app.kb)["conflicts"]
    assert {found["a"]["title"], found["b"]["title"]} == {"Travel rules", "Guide"}
    with TestClient(create_app(FakeHost(), lambda: judged.app)) as client:
        page = Browser(client, "admin").get(f"/conflicts/{found['conflict']}")
    assert "judge-7b" in page and "two limits &lt;b&gt;for one night&lt;/b&gt;" in page
    calls = asked(server)
    assert calls == 3
    card = judged.docs / "card.md"
    card.write_text(card.read_text() + "\n## Use\n\nThe card is asked for at the desk.\n", encoding="utf-8")
    judged.release()
    assert asked(server) == calls


@pytest.mark.parametrize("fault", [500, says("no idea")], ids=["down", "prose"])
def test_where_the_judge_fails_the_rule_decides(judged: Kb, server: ModelServer, fault: Reply) -> None:
    server.script = [lambda request: fault if asks_to_judge(request) else 400]
    judged.release()
    with judged.app.database.read() as tx:
        found = conflicts(tx, judged.app.kb)["conflicts"]
    assert {one["method"] for one in found} == {"rule"}
    assert len(found) == 3
