"""What each rule of the score layer did, and what rules on trial would have done, over the versions of a report."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from pipelines.layers import Scores, load
from pipelines.score import effects
from schemas.facts import QualityScore
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App

_AT_ONCE = 500


def rule_effects(app: "App", versions: Sequence[str]) -> list[dict[str, Any]]:
    """`rule`, `acting` (False: on trial), `hits`, `moved` {"index>low": chunks}; no acting rule that saw nothing."""
    found = effects(_scores(app, versions), app.settings.score)
    return [one.model_dump() for one in found if one.hits or not one.acting]


def _scores(app: "App", versions: Sequence[str]) -> Iterator[QualityScore]:
    v = tables.version
    for start in range(0, len(versions), _AT_ONCE):
        with app.database.read() as tx:
            rows = tx.execute(select(v.c.artifacts).where(v.c.id.in_(versions[start : start + _AT_ONCE]))).scalars()
            keys = [row["score"] for row in rows if "score" in row]
        for key in keys:
            yield from load(app, key, Scores).scores
