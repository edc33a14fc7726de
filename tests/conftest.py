"""What all tests share."""

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine
from sqlalchemy.engine import make_url

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The development data with ground truth; not part of the project."""
    for candidate in (os.environ.get("SLUICE_TEST_DATA"), str(ROOT.parent / "shared" / "data")):
        if candidate and Path(candidate).is_dir():
            return Path(candidate)
    pytest.skip("no development data: set SLUICE_TEST_DATA to its folder")


@pytest.fixture
def mariadb() -> Iterator[str]:
    """Url of an empty database of one's own on a real MariaDB."""
    given = os.environ.get("SLUICE_TEST_MARIADB_URL", "")
    if not given and os.environ.get("SLUICE_TEST_REQUIRE_SERVERS"):
        pytest.fail("SLUICE_TEST_MARIADB_URL is not set, and this run may not skip")
    if not given:
        pytest.skip("no MariaDB: set SLUICE_TEST_MARIADB_URL")
    name = f"sluice_{uuid.uuid4().hex[:12]}"
    engine = create_engine(given)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
    yield make_url(given).set(database=name).render_as_string(hide_password=False)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"DROP DATABASE {name}")
    engine.dispose()
