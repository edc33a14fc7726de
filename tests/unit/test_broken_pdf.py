"""Whatever is done to a PDF, what comes of it has a name, in time, and the next file is read."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.errors import Rejected
from pipelines.parse.isolate import parse_isolated, shut_down
from pipelines.parse.pdf import DAMAGED
from pipelines.parse.settings import ParseSettings
from tests.broken_pdf import TEXT, WARNED, Case, cases

SETTINGS = ParseSettings(timeout=60, page_timeout=30, memory_mb=1024)


@pytest.fixture(scope="module", autouse=True)
def _workers() -> Iterator[None]:
    yield
    shut_down()


def outcome(case: Case, folder: Path) -> str:
    path = folder / case.file
    path.write_bytes(case.data)
    try:
        document = parse_isolated(path, name=case.file, settings=SETTINGS)
    except Rejected as error:
        return error.code.value
    warned = any(DAMAGED in page.warnings or page.code for page in document.pages)
    return WARNED if warned else TEXT


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_a_broken_file_has_an_outcome_with_a_name(tmp_path: Path, case: Case) -> None:
    assert outcome(case, tmp_path) in case.outcomes
