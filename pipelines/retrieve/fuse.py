"""Several ranked lists into one.

Min-max fusion after Lee 1997 ("Analyses of multiple evidence combination"), reciprocal ranks after Cormack, Clarke and
Büttcher 2009. A passage that a route did not match gets nothing from it: no rank, no score.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from schemas.search import Hit

Scores = Mapping[str, float]


def minmax(lists: Sequence[tuple[float, Scores]], depth: int = 100) -> dict[str, float]:
    """Weighted sum of scores scaled to 0..1 over the `depth` best of each list."""
    fused: dict[str, float] = {}
    for weight, scores in lists:
        best = _best(scores, depth)
        low = min((score for _, score in best), default=0.0)
        spread = max((score for _, score in best), default=0.0) - low
        for id_, score in best:
            scaled = (score - low) / spread if spread > 0 else 1.0
            fused[id_] = fused.get(id_, 0.0) + weight * scaled
    return fused


def reciprocal_ranks(lists: Sequence[tuple[float, Scores]], k: int = 60, depth: int = 100) -> dict[str, float]:
    """Weighted sum of 1 / (k + rank), ranks from 1."""
    fused: dict[str, float] = {}
    for weight, scores in lists:
        for rank, (id_, _) in enumerate(_best(scores, depth), start=1):
            fused[id_] = fused.get(id_, 0.0) + weight / (k + rank)
    return fused


def _best(scores: Scores, depth: int) -> list[tuple[str, float]]:
    matched = [(id_, score) for id_, score in scores.items() if score > 0]
    return sorted(matched, key=lambda one: (-one[1], one[0]))[:depth]


def collapse(hits: Iterable[Hit]) -> list[Hit]:
    """Only the best of each group of linked duplicates; hits come best first."""
    seen: set[str] = set()
    kept: list[Hit] = []
    for hit in hits:
        group = hit.passage.duplicate_group
        if group is None or group not in seen:
            kept.append(hit)
        if group is not None:
            seen.add(group)
    return kept


def diversify(hits: Sequence[Hit], top: int, novelty: float, tokens: Callable[[str], set[str]]) -> list[Hit]:
    """Maximal marginal relevance (Carbonell and Goldstein 1998) over Jaccard similarity of tokens."""
    bags = {hit.passage.id: tokens(hit.passage.text) for hit in hits}
    nearest = dict.fromkeys(bags, 0.0)
    left, chosen = list(hits), list[Hit]()
    while left and len(chosen) < top:
        best = max(left, key=lambda hit: (1 - novelty) * hit.score - novelty * nearest[hit.passage.id])
        left.remove(best)
        chosen.append(best)
        for hit in left:
            similarity = _jaccard(bags[hit.passage.id], bags[best.passage.id])
            nearest[hit.passage.id] = max(nearest[hit.passage.id], similarity)
    return chosen


def _jaccard(a: set[str], b: set[str]) -> float:
    return len(a & b) / len(a | b) if a or b else 0.0
