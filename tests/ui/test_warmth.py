"""The search model loads behind the pages."""

from threading import Event

from starlette.testclient import TestClient

from sluice_ui.app import create_app
from tests.ui.conftest import Browser, FakeHost


def test_a_question_before_the_model_is_loaded_says_so_and_asks_again_by_itself(built, monkeypatch):
    monkeypatch.setattr("sluice_ui.routes.preview.PATIENCE", 0.01)
    loaded, begun = Event(), []

    def load():
        begun.append(1)
        loaded.wait(20)

    with TestClient(create_app(FakeHost(), lambda: built.app, load)) as client:
        ann = Browser(client, "admin")
        ann.get("/")
        assert not begun
        ann.get("/releases/3/review")
        early = ann.raw("GET", "/releases/3/preview?q=annual+leave+days")
        assert early.headers["refresh"] == "3" and "model is loading" in early.text and "thirty days" not in early.text
        loaded.set()
        client.app.state.warmth.ready(20)
        late = ann.raw("GET", "/releases/3/preview?q=annual+leave+days")
        assert "refresh" not in late.headers and "thirty days" in late.text
    assert begun == [1]
