"""The sample knowledge base is what it says it is."""

import json
from pathlib import Path

import pytest
import yaml

from schemas.source import SourcesFile
from tests.sample.make_sample import documents, make
from tests.sample.planted import PLANTED, card, resident_id

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sample")
    make(folder)
    return folder


@pytest.fixture(scope="module")
def written(folder):
    files = [path for path in folder.rglob("*") if path.is_file() and path.parent != folder]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_every_making_gives_the_same_bytes_but_for_the_encrypted_file(written):
    again = documents()
    assert written.keys() == again.keys()
    assert [name for name in written if written[name] != again[name]] == ["policies/合同归档.pdf"]


def test_an_unchanged_file_is_not_written_again(folder, written, monkeypatch):
    monkeypatch.setattr("tests.sample.make_sample.documents", lambda: written)
    before = {name: (folder / name).stat().st_mtime_ns for name in written}
    make(folder)
    assert {name: (folder / name).stat().st_mtime_ns for name in written} == before


def test_every_source_file_is_valid(folder):
    texts = [path.read_text(encoding="utf-8") for path in (folder / "sources.yaml", ROOT / "sources.example.yaml")]
    made, example = (SourcesFile.model_validate(yaml.safe_load(text)) for text in texts)
    for one in (made, example):
        assert [source.name for source in one.sources][:3] == ["policies", "handbook", "wiki"]
    assert len(made.sources) == 3 and len({source.kind for source in example.sources}) > 3
    assert len({source.scope for source in made.sources}) == 3


def test_check_digits_are_those_of_the_standards():
    assert resident_id("11010519491231002") == "11010519491231002X"  # the example of GB 11643-1999
    assert card("453201511283036") == "4532015112830366"


def test_planted_values_stand_where_they_are_said_to(written):
    for one in PLANTED:
        data = written[f"{one.source}/{one.document}"]
        if not one.document.endswith(".docx"):
            encoding = "gb18030" if one.document.endswith((".csv", ".txt")) else "utf-8"
            assert one.value in data.decode(encoding)


def test_questions_name_documents_that_exist(written):
    lines = (ROOT / "tests/sample/questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    assert len(questions) == 8
    assert all(f"{one['source']}/{one['document']}" in written for one in questions)


def test_the_damaged_files_are_damaged(written):
    import pymupdf

    assert pymupdf.open(stream=written["policies/合同归档.pdf"]).needs_pass
    assert pymupdf.open(stream=written["policies/采购审批流程.pdf"])[0].get_text() == ""
    assert written["wiki/empty.md"] == b""
    assert b"%%EOF" not in written["policies/资产盘点.pdf"]
