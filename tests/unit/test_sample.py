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
def written():
    return documents()


def test_a_second_making_changes_no_file(tmp_path):
    sources = make(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.parent != tmp_path}
    assert make(tmp_path) == sources
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_bytes_are_the_same_on_every_run(written):
    again = documents()
    assert [name for name in written if written[name] != again[name]] == ["policies/合同归档.pdf"]


def test_every_source_file_is_valid(tmp_path):
    made = SourcesFile.model_validate(yaml.safe_load(make(tmp_path).read_text(encoding="utf-8")))
    example = SourcesFile.model_validate(yaml.safe_load((ROOT / "sources.example.yaml").read_text(encoding="utf-8")))
    for one in (made, example):
        assert [source.name for source in one.sources] == ["policies", "handbook", "wiki"]
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
