"""Rules on trial: what they would have done, beside what was done."""

from collections import Counter
from collections.abc import Iterable

from pipelines.score.settings import ScoreSettings
from schemas.base import Record
from schemas.facts import QualityBand, QualityScore


class Trial(Record):
    """One rule on trial over some chunks."""

    rule: str
    hits: int
    """Chunks in which it saw something."""
    moved: dict[str, int]
    """`index>low`: chunks that it would have moved from one band to another."""


def band_of(score: float, settings: ScoreSettings) -> QualityBand:
    """The band of a score."""
    if score >= settings.index_from:
        return "index"
    return "low" if score >= settings.low_from else "quarantine"


def trials(scores: Iterable[QualityScore], settings: ScoreSettings) -> tuple[Trial, ...]:
    """Each rule by itself: the bands with it against the bands without it."""
    hits: Counter[str] = Counter()
    moved: dict[str, Counter[str]] = {}
    for one in scores:
        for signal in one.shadow:
            hits[signal.name] += signal.value > 0
            would = band_of(min(1.0, max(0.0, one.score + signal.weight * signal.value)), settings)
            moves = moved.setdefault(signal.name, Counter())
            if would != one.band:
                moves[f"{one.band}>{would}"] += 1
    return tuple(Trial(rule=name, hits=hits[name], moved=dict(sorted(moves.items()))) for name, moves in moved.items())
