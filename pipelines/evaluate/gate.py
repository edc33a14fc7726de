"""Whether a candidate may replace the baseline, judged on the same questions."""

from collections.abc import Collection, Sequence

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


def gate(
    baseline: Sequence[QuestionScore],
    candidate: Sequence[QuestionScore],
    policy: GatePolicy,
    gone: Collection[str] = (),
) -> GateVerdict:
    """Blocks (or warns) when a pinned question is lost, when evidence is lost that stood high before, or when the mean
    falls by more than chance and tolerance.

    Both sequences answer the same questions in the same order; an empty baseline is the first release. `gone`: chunks
    of the baseline that the candidate does not show.
    """
    name = policy.measure
    both = list(zip(baseline, candidate, strict=True)) if baseline else []
    pairs = [(old, new) for old, new in both if name in old.measures and name in new.measures]
    differences = [new.measures[name] - old.measures[name] for old, new in pairs]
    difference = paired_bootstrap(differences, policy.confidence, policy.samples)
    worse = tuple(_worse(old, new, gone) for old, new in pairs if new.measures[name] < old.measures[name])
    reasons = [f"pinned question lost: {new.question}" for old, new in both if _pinned_lost(old, new, policy)]
    lost = [new.question for old, new in pairs if not new.pinned and _lost(old, new, policy)]
    if len(lost) > policy.lost_questions:
        reasons += [f"evidence lost: {question}" for question in lost]
    if difference.high < 0 and difference.mean < -policy.tolerance:
        reasons.append(
            f"{name} fell by {-difference.mean:.4f} (interval {difference.low:.4f} to {difference.high:.4f})"
        )
    verdict = policy.action if reasons else "pass"
    return GateVerdict(verdict=verdict, reasons=tuple(reasons), difference=difference, worse=worse)


def _pinned_lost(old: QuestionScore, new: QuestionScore, policy: GatePolicy) -> bool:
    """A pinned question must *stay* findable: what the baseline does not find yet cannot be lost."""
    found = [one.rank is not None and one.rank <= policy.pinned_rank for one in (old, new)]
    return new.pinned and not new.unanswerable and found == [True, False]


def _lost(old: QuestionScore, new: QuestionScore, policy: GatePolicy) -> bool:
    return old.rank is not None and old.rank <= policy.lost_from and new.rank is None


def evidence(score: QuestionScore) -> str:
    """The chunk that first met a label; empty where none did."""
    return score.chunks[score.rank - 1] if score.rank else ""


def _worse(old: QuestionScore, new: QuestionScore, gone: Collection[str]) -> Worse:
    above = new.chunks if new.rank is None else new.chunks[: new.rank - 1]
    before = set(old.chunks[: old.rank] if old.rank else ())
    risen = [chunk for chunk in above if chunk not in before]
    missing = evidence(old) in gone
    return Worse(
        question=new.question,
        rank_before=old.rank,
        rank_after=new.rank,
        evidence=evidence(old),
        gone=missing,
        displaced_by=risen[0] if risen and not missing else "",
        pinned=new.pinned,
    )
