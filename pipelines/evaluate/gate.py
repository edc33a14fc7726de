"""Whether a candidate may replace the baseline, judged on the same questions."""

from collections.abc import Sequence

from schemas.evaluation import GatePolicy, GateVerdict, Interval, QuestionScore, Worse


def paired_bootstrap(
    differences: Sequence[float], confidence: float = 0.95, samples: int = 2000, seed: int = 0
) -> Interval:
    """Percentile interval of the mean (Efron 1979), questions drawn with replacement; same seed, same answer."""
    import numpy as np

    if not differences:
        return Interval(mean=0.0, low=0.0, high=0.0)
    values = np.asarray(differences, dtype=np.float64)
    generator = np.random.default_rng(seed)
    drawn = [float(values[generator.integers(0, len(values), len(values))].mean()) for _ in range(samples)]
    tail = (1 - confidence) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return Interval(mean=float(values.mean()), low=float(low), high=float(high))


def gate(baseline: Sequence[QuestionScore], candidate: Sequence[QuestionScore], policy: GatePolicy) -> GateVerdict:
    """Blocks (or warns) when a pinned question is lost, or when the mean falls by more than chance and tolerance."""
    before = {one.question: one for one in baseline}
    pairs = [(before[one.question], one) for one in candidate if one.question in before]
    name = policy.measure
    judged = [(old, new) for old, new in pairs if name in old.measures and name in new.measures]
    ups_and_downs = [new.measures[name] - old.measures[name] for old, new in judged]
    difference = paired_bootstrap(ups_and_downs, policy.confidence, policy.samples)
    worse = tuple(_worse(old, new) for old, new in judged if new.measures[name] < old.measures[name])
    reasons = [f"pinned question lost: {one.question}" for one in candidate if one.pinned and _lost(one, policy)]
    if difference.high < 0 and difference.mean < -policy.tolerance:
        reasons.append(f"{name} fell by {-difference.mean:.4f} ({difference.low:.4f} to {difference.high:.4f})")
    verdict = policy.action if reasons else "pass"
    return GateVerdict(verdict=verdict, reasons=tuple(reasons), difference=difference, worse=worse)


def _lost(score: QuestionScore, policy: GatePolicy) -> bool:
    return not score.unanswerable and (score.rank is None or score.rank > policy.pinned_rank)


def _worse(old: QuestionScore, new: QuestionScore) -> Worse:
    return Worse(
        question=new.question,
        rank_before=old.rank,
        rank_after=new.rank,
        displaced_by=new.first_chunk if new.rank != 1 else "",
        pinned=new.pinned,
    )
