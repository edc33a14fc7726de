"""The command line on real adapters: SQLite, Milvus Lite, the bundled models. Keys are a public contract."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pipelines.cli import app, main
from pipelines.wiring import stop_local_index

DOCUMENTS = {
    "travel.md": "# Travel\n\n## Hotels\n\nA hotel night in Berlin costs at most 120 euros. Breakfast is paid apart.\n",
    "leave.md": "# 年假制度\n\n## 天数\n\n员工每年享有十五天带薪年假，未休部分可以顺延到次年三月底。\n",
    "card.md": "# Contact\n\n## Desk\n\nThe service desk answers within two hours. Call 13812345678 at night.\n",
    "empty.md": "",
}
SOURCES = "knowledge_base: main\nsources:\n  - {name: notes, location: docs, breaker: {share: 0.9, documents: 9}}\n"
IMPACT = {"schema", "subject", "impact", "release"}
PUBLISHED = {"schema", "live_release", "release", "gate", "calls", "seconds"}


class Cli:
    """One home; `json` runs a command and gives its object."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.env = {"SLUICE_HOME": str(home / "state"), "SLUICE_SOURCES": str(home / "sources.yaml")}

    def run(self, *words: str, code: int = 0):
        done = CliRunner(env=self.env).invoke(app, list(words))
        if done.exception and not isinstance(done.exception, SystemExit) and code == 0:
            raise done.exception
        assert (done.exit_code, words) == (code, words)
        return done

    def json(self, *words: str):
        return json.loads(self.run(*words, "--json").stdout)


@pytest.fixture(scope="module")
def cli(tmp_path_factory):
    """Three good documents and an empty one, synced and published as release 1."""
    home = tmp_path_factory.mktemp("cli")
    (home / "docs").mkdir()
    (home / "sources.yaml").write_text(SOURCES)
    for name, text in DOCUMENTS.items():
        (home / "docs" / name).write_text(text, encoding="utf-8")
    made = Cli(home)
    made.json("init")
    made.synced = made.json("sync")
    made.json("release", "approve", "1", "--reason", "read it")
    made.published = made.json("release", "publish", "1")
    yield made
    stop_local_index(home / "state")


def test_sync_tells_files_documents_chunks_and_calls(cli):
    assert set(cli.synced) >= {
        "schema",
        "release",
        "files",
        "documents",
        "chunks",
        "calls",
        "rejections",
        "breaker",
        "seconds",
    }
    assert set(cli.synced["files"]) == {"seen", "opened", "hashed", "parsed"}
    assert set(cli.synced["documents"]) == {"new", "changed", "unchanged", "renamed", "removed", "rejected"}
    assert set(cli.synced["chunks"]) == {"kept", "new", "replaced", "retired"}
    assert set(cli.synced["calls"]) == {"embed", "llm", "ocr_pages"}
    assert [one["code"] for one in cli.synced["rejections"]] == ["parse.empty"]
    assert cli.synced["files"]["seen"] == 4


def test_publish_tells_the_live_release_and_the_gate(cli):
    assert set(cli.published) >= PUBLISHED
    assert cli.published["live_release"] == 1
    assert cli.published["gate"]["verdict"] == "pass"


def test_releases_are_listed_and_shown(cli):
    assert set(cli.json("release", "list")["releases"][0]) >= {"release", "state", "created", "counts"}
    shown = cli.json("release", "show", "1")
    assert set(shown) >= {"schema", "release", "state", "items"}
    assert set(shown["items"][0]) >= {"document", "version", "change", "risk", "decision"}


def test_a_hit_says_where_it_comes_from(cli):
    found = cli.json("search", "hotel in Berlin")
    keys = {"chunk", "document", "version", "release", "title", "section", "page", "score", "text", "authority"}
    assert set(found["hits"][0]) >= keys
    assert "120 euros" in found["hits"][0]["text"]
    assert "trace" in cli.json("search", "hotel", "--explain")


def test_an_answer_is_cited_and_names_its_release(cli):
    told = cli.json("ask", "What does a hotel night in Berlin cost at most?")
    assert told["found"] and "120" in told["answer"] and told["release"] == 1
    assert set(told["citations"][0]) >= {"n", "chunk", "document", "section", "page"}


def test_personal_data_is_not_in_any_hit(cli):
    assert all("13812345678" not in one["text"] for one in cli.json("search", "service desk at night")["hits"])


def test_quarantine_hides_and_restore_gives_back_with_the_impact(cli):
    document = cli.json("search", "带薪年假")["hits"][0]["document"]
    hidden = cli.json("quarantine", "--doc", document, "--reason", "wrong")
    assert set(hidden) >= IMPACT and set(hidden["impact"]) >= {"chunks", "queries", "users"}
    assert document not in {one["document"] for one in cli.json("search", "带薪年假")["hits"]}
    assert set(cli.json("restore", "--doc", document, "--reason", "right after all")) >= IMPACT
    assert document in {one["document"] for one in cli.json("search", "带薪年假")["hits"]}
    assert set(cli.json("impact", "--doc", document)) >= IMPACT


def test_rollback_moves_readers_and_a_publish_brings_them_back(cli):
    back = cli.json("rollback", "0", "--reason", "try")
    assert set(back) >= PUBLISHED and back["live_release"] == 0 and back["calls"]["embed"] == 0
    assert cli.json("search", "hotel")["hits"] == []
    assert cli.json("search", "hotel", "--as-of", "1")["hits"]


def test_history_can_be_read_and_verified(cli):
    assert cli.json("log")["entries"]
    assert cli.json("audit", "--verify")["verified"] is True
    assert set(cli.json("diff", "0", "1")) >= {"added", "removed", "replaced"}
    assert set(cli.json("status")) >= {"kb", "live_release", "documents", "chunks", "waiting", "drift"}
    assert set(cli.json("reconcile")) >= {"checked", "faults", "repaired"}


def test_an_unknown_release_is_an_error_with_its_code(cli, monkeypatch, capsys):
    for name, value in cli.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.argv", ["sluice", "release", "publish", "99"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("release.unknown: ")


def test_a_result_for_a_person_is_a_table(cli):
    shown = cli.run("release", "list").stdout
    assert "release" in shown and "state" in shown and "{" not in shown
