"""`sluice try` on what people pipe into it."""

import json

import pytest
import structlog
from typer.testing import CliRunner

from pipelines.cli_try import app


@pytest.fixture(autouse=True)
def logs_as_before():
    yield
    structlog.reset_defaults()  # the command's log goes to a stream that ends with it


def run(*arguments, lines=()):
    done = CliRunner().invoke(app, list(arguments), input=b"".join(line + b"\n" for line in lines))
    return done.exit_code, [json.loads(line) for line in done.stdout.splitlines()]


BAD = [b"not json", b"[1]", b'{"id": 4}', b'{"id": 5, "b64": 7}', b"\xff\xfe", b'{"id": 6, "b64": "@"}', b"[" * 9000]


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_line_has_an_answer_with_its_code_and_the_others_go_on(bad):
    status, (first, second, third) = run(
        "decode", lines=[b'{"id": 1, "b64": "5o6o"}', bad, b'{"id": 3, "b64": "YQ=="}']
    )
    assert status == 1
    assert (first["text"], third["text"]) == ("推", "a")
    assert (second["line"], second["rejection"]["code"]) == (2, "input.bad_line")


def test_a_lone_surrogate_is_a_bad_line():
    _, (answer,) = run("dedup", lines=[b'{"id": 1, "a": "\\ud800", "b": "x"}'])
    assert answer["rejection"]["code"] == "input.bad_line"


def test_what_a_layer_rejects_is_an_answer_and_no_failure():
    status, (answer,) = run("decode", lines=[b'{"id": 1, "b64": "AAECAwABAgM="}'])
    assert (status, answer["rejection"]["code"]) == (0, "parse.binary")


def test_a_file_that_cannot_be_read_has_its_code_and_the_next_is_parsed(tmp_path, monkeypatch):
    monkeypatch.setenv("SLUICE_HOME", str(tmp_path / "home"))
    (tmp_path / "a.txt").write_text("正文在这里。", "utf-8")
    status, answers = run("parse", str(tmp_path / "none.txt"), str(tmp_path), str(tmp_path / "a.txt"))
    assert status == 1
    assert [one["rejection"] and one["rejection"]["code"] for one in answers] == ["scan.unreadable"] * 2 + [None]
