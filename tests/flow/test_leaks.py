"""The sample through the real command, models and Milvus Lite: no planted value is left outside the raw zone."""

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import select

from pipelines.publish.collections import collections
from pipelines.settings import Settings
from pipelines.wiring import wire
from sql import tables
from tests.flow.command import command
from tests.sample.make_sample import make
from tests.sample.planted import PLANTED

QUESTIONS = ("谁负责新员工入职？电话是多少", "Whom do I call about onboarding?", "员工通讯录 身份证号")


def squeezed(text: str) -> str:
    """Without what may stand between the digits of a number."""
    return re.sub(r"[\s\-()]", "", text).casefold()


VALUES = {squeezed(one.value) for one in PLANTED}


def found_in(texts: dict[str, str]) -> dict[str, list[str]]:
    """Planted values by place."""
    hits = {place: [value for value in VALUES if value in squeezed(text)] for place, text in texts.items()}
    return {place: values for place, values in hits.items() if values}


def rows_of(app: Any) -> dict[str, str]:
    """All that Milvus holds, by collection, read back from the server."""
    index = app.index()
    with app.database.read() as tx:
        names = [one.name for one in collections(tx, app.kb)]
    return {name: str(index.fetch(name, [one.id for one in index.states(name)])) for name in names}


@pytest.mark.slow
@pytest.mark.ocr
def test_no_planted_value_is_found_outside_the_raw_zone(tmp_path: Path) -> None:
    make(tmp_path / "sample")
    home = tmp_path / "home"
    with command(home, tmp_path / "sample" / "sources.yaml") as sluice:
        told = [str(sluice("sync"))]
        told.append(str(sluice("release", "show", "1")))
        sluice("release", "approve", "1", "--reason", "looked through")
        assert sluice("release", "publish", "1")["live_release"] == 1
        told += [str(sluice("ask", text, "--groups", "staff,engineering", "--explain")) for text in QUESTIONS]
        told += [str(sluice("search", PLANTED[0].value, "--groups", "staff,engineering"))]
        told += [str(sluice("audit")), str(sluice("reconcile"))]
        app = wire(Settings(home=home, sources=tmp_path / "sample" / "sources.yaml", secret_key=SecretStr("")))
        rows = rows_of(app)
        with app.database.read() as tx:
            stored = {table.name: str(tx.execute(select(table)).all()) for table in tables.metadata.sorted_tables}
        app.database.dispose()
        said = {f"log {number}": text for number, text in enumerate(sluice.said)}
    files = [one for one in home.rglob("*") if one.is_file() and "raw" not in one.relative_to(home).parts]
    kept = {str(one.relative_to(home)): one.read_bytes().decode("utf-8", "replace") for one in files}
    raw = "".join(one.read_bytes().decode("gb18030", "replace") for one in home.rglob("raw/**/*") if one.is_file())
    assert [value for value in VALUES if value in squeezed(raw)], "the sample has lost its planted values"
    assert sum(map(len, rows.values())) > 10_000 and len(kept) > 50
    shown = {f"output {number}": text for number, text in enumerate(told)}
    assert found_in(rows | stored | said | kept | shown) == {}
