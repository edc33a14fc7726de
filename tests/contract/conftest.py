"""An installation without sources, over SQLite and over a real MariaDB."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.app import App
from pipelines.migrate import migrate
from pipelines.settings import Settings
from pipelines.wiring import wire


@pytest.fixture(params=["sqlite", pytest.param("mariadb", marks=pytest.mark.mariadb)])
def app(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[App]:
    url = request.getfixturevalue("mariadb") if request.param == "mariadb" else ""
    wired = wire(Settings(home=tmp_path / "home", sources=tmp_path / "none.yaml", database_url=url, secret_key="k"))
    migrate(wired)
    yield wired
    wired.database.dispose()
