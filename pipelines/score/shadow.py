"""What each rule did to the bands of chunks, and what rules on trial would have done."""

from collections import Counter
from collections.abc import Iterable

from pipelines.score.settings import ScoreSettings
from schemas.base import Record
from schemas.facts import QualityBand, QualityScore


class RuleEffect(Record):
    """What one rule does, or on trial would do, to some chunks."""

    rule: str
    acting: bool
    hits: int
    """Chunks in which it saw something."""
    moved: dict[str, int]
    """`index>low`: chunks that are in another band with it than without it."""


def band_of(score: float, settings: ScoreSettings) -> QualityBand:
    """The band of a score."""
    if score >= settings.index_from:
        return "index"
    return "low" if score >= settings.low_from else "quarantine"


def effects(scores: Iterable[QualityScore], settings: ScoreSettings) -> tuple[RuleEffect, ...]:
    """Each rule that lowers scores by itself, those on trial last: the bands with it against the bands without it."""
    hits: Counter[tuple[bool, str]] = Counter()
    moved: dict[tuple[bool, str], Counter[str]] = {}
    for one in scores:
        for acting, signal in (*((True, s) for s in one.signals if s.weight < 0), *((False, s) for s in one.shadow)):
            rule = (not acting, signal.name)
            hits[rule] += signal.value > 0
            moves = moved.setdefault(rule, Counter())
            part = signal.weight * signal.value
            other = band_of(min(1.0, max(0.0, one.score - part if acting else one.score + part)), settings)
            if other != one.band:
                moves[f"{other}>{one.band}" if acting else f"{one.band}>{other}"] += 1
    return tuple(
        RuleEffect(rule=name, acting=not trial, hits=hits[trial, name], moved=dict(sorted(moved[trial, name].items())))
        for trial, name in sorted(moved)
    )
