"""How far a distribution has moved: the population stability index (PSI), 0 for the same; from 0.25 on a shift."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

LENGTHS = (0, 50, 100, 200, 400, 800, 1600)
QUALITIES = (0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
ENOUGH = 50
"""Fewer chunks than this on one side say nothing about a distribution."""
FLOOR = 0.001
"""Stands for an empty class, whose logarithm there is none of."""


def psi(before: Mapping[Any, int], after: Mapping[Any, int]) -> float:
    """Over classes with their counts."""
    total_before, total_after = sum(before.values()), sum(after.values())
    if min(total_before, total_after) < ENOUGH:
        return 0.0
    found = 0.0
    for key in before.keys() | after.keys():
        p = max(before.get(key, 0) / total_before, FLOOR)
        q = max(after.get(key, 0) / total_after, FLOOR)
        found += (q - p) * math.log(q / p)
    return round(found, 4)


def binned(values: Iterable[float], edges: Sequence[float]) -> dict[str, int]:
    """Counts by the lower edge of the class, in order; classes that nothing fell into are left out."""
    found = Counter(max((edge for edge in edges if edge <= value), default=edges[0]) for value in values)
    return {f"{edge:g}": found[edge] for edge in sorted(found)}


def distributions(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """Counts by class of what is watched, of rows as in `frames.live_chunks`."""
    return {
        "length": binned((row["characters"] for row in rows), LENGTHS),
        "quality": binned((row["quality"] for row in rows), QUALITIES),
        "language": dict(sorted(Counter(row["language"] for row in rows).items())),
        "kind": dict(sorted(Counter(row["kind"] for row in rows).items())),
    }


def shift(before: Mapping[str, Mapping[Any, int]] | None, after: Mapping[str, Mapping[Any, int]]) -> dict[str, float]:
    """One number for each watched distribution, and the ratio of sizes; no shift where there is nothing before."""
    past = before or after
    small, large = sum(past["kind"].values()), sum(after["kind"].values())
    ratio = large / small if min(small, large) >= ENOUGH else 1.0
    return {f"psi_{name}": psi(past[name], after[name]) for name in after} | {"chunks_ratio": round(ratio, 4)}
