"""What the parsers make of one small file of each format and bug. `make golden` writes the expectations anew."""

import difflib
import json
import os
from pathlib import Path

import pytest

from pipelines.chunk import ChunkSettings, chunk_document
from pipelines.errors import Rejected
from pipelines.parse.dispatch import parse_file
from pipelines.parse.settings import ParseSettings
from tests.golden.sources import SOURCES

EXPECTED = Path(__file__).parent / "expected"
WRITE = os.environ.get("SLUICE_GOLDEN") == "write"


def parsed(path: Path) -> dict[str, object]:
    try:
        document = parse_file(path, name=path.name, ocr=None, settings=ParseSettings())
    except Rejected as error:
        return {"rejection": error.code.value}
    chunks = chunk_document(document, document_id="d", salt=b"golden", settings=ChunkSettings())
    shown = document.model_dump(mode="json", exclude_defaults=True, exclude={"blocks": {"__all__": {"engine"}}})
    return shown | {"chunks": [chunk.model_dump(mode="json", include={"context", "text", "kind"}) for chunk in chunks]}


@pytest.mark.parametrize("name", SOURCES)
def test_a_file_is_read_as_before(name, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))  # LibreOffice is not everywhere
    path = tmp_path / name
    path.write_bytes(SOURCES[name]())
    made = json.dumps(parsed(path), ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    golden = EXPECTED / f"{name}.json"
    if WRITE:
        golden.write_text(made, encoding="utf-8")
    before = golden.read_text(encoding="utf-8")
    diff = "".join(difflib.unified_diff(before.splitlines(True), made.splitlines(True), "expected", "made", n=1))
    assert made == before, f"look at this diff; if it is wanted, run `make golden`\n{diff}"


def test_no_expectation_is_left_over():
    assert {path.name.removesuffix(".json") for path in EXPECTED.iterdir()} == set(SOURCES)
