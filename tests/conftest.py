"""What all tests share."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The development data with ground truth; not part of the project."""
    for candidate in (os.environ.get("SLUICE_TEST_DATA"), str(ROOT.parent / "shared" / "data")):
        if candidate and Path(candidate).is_dir():
            return Path(candidate)
    pytest.skip("no development data: set SLUICE_TEST_DATA to its folder")
