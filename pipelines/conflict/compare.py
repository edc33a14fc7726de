"""Do two texts on one subject contradict each other?

Their words are lined up. A place where both texts say something, but not the same, is a slot with two values. What
stands in the slot (a number, an actor, a must or must not) and how much one text merely adds give the score: a text
that only says more is an update, one whose values differ is a conflict.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from pipelines.conflict.slots import Difference, differences
from pipelines.conflict.tokens import Word, words
from pipelines.dedup.normalise import grams, normalise
from schemas.base import Record

Outcome = Literal["conflict", "update", "same", "unrelated"]

SIMILAR = 0.4
"""Share of common character n-grams up to which two texts are on different things."""
BIAS = -3.0
WEIGHTS = {"value": 2.5, "actor": 2.0, "polarity": 2.0, "rewritten": 1.0, "size": 0.5, "replaced": 2.0}
"""Log-odds of a conflict for each feature; `tests/bench/conflict.py` measures them."""
UNVALUED = 0.49
"""Score at most where nothing that differs is a value."""
MANY = 2
"""More slots of a kind than this say no more."""


class Comparison(Record):
    """What two texts are to each other, with the reasons."""

    outcome: Outcome
    score: float
    """Of a conflict, 0..1; from 0.5 on it is one."""
    similarity: float
    differences: tuple[Difference, ...] = ()


def compare(a: str, b: str) -> Comparison:
    """Symmetric in outcome and score."""
    similarity = alike(a, b)
    if similarity <= SIMILAR:
        return Comparison(outcome="unrelated", score=0.0, similarity=similarity)
    left, right = words(a), words(b)
    found = differences(left, right)
    if not found:
        return Comparison(outcome="same", score=0.0, similarity=similarity)
    if sum(one.kind == "name" and one.both for one in found) > 1 or _of_another(found):
        # Two fillings of one template: other parties, another subject.
        return Comparison(outcome="unrelated", score=0.0, similarity=similarity, differences=found)
    values = features(found, left, right)
    score = 1 / (1 + math.exp(-BIAS - sum(WEIGHTS[name] * value for name, value in values.items())))
    if all(one.kind == "text" and not one.clear for one in found):
        # Prose was rewritten, added or left out: no value, actor or duty of one stands against one of the other. What
        # it means is for a language model to say, where there is one.
        score = min(score, UNVALUED)
    outcome: Outcome = "conflict" if score >= 0.5 else "update"
    return Comparison(outcome=outcome, score=round(score, 4), similarity=similarity, differences=found)


def _of_another(found: Sequence[Difference]) -> bool:
    """Whether the texts name another place, product or thing, and then say other values of it."""
    named = [n for n, one in enumerate(found) if one.names]
    return bool(named) and any(one.clear and one.kind != "text" and not one.names for one in found[named[0] + 1 :])


def alike(a: str, b: str) -> float:
    """Jaccard of character n-grams: two Chinese letters say about as much as six Latin ones."""
    one, other = normalise(a), normalise(b)
    size = 2 if sum(c > "\u2fff" for c in one + other) * 4 > len(one + other) else 6
    left, right = grams(one, size), grams(other, size)
    return len(left & right) / max(1, len(left | right))


def features(found: Sequence[Difference], left: Sequence[Word], right: Sequence[Word]) -> dict[str, float]:
    """By name as in WEIGHTS: clear slots by kind, grave words inside rewritten places, size (log of words) of the
    largest replaced place, and replaced words as a share of all that differ."""
    clear = Counter(one.kind for one in found if one.clear)
    replaced = [_size(one, left, right) for one in found if one.both or one.clear]
    added = sum(_size(one, left, right) for one in found if not (one.both or one.clear))
    counts = {
        "value": sum(clear[kind] for kind in ("date", "number", "unit", "code")),
        "actor": clear["actor"] + clear["name"],
        "polarity": clear["polarity"],
        "rewritten": sum(one.kind != "text" for one in found if one.both and not one.clear),
    }
    return {name: float(min(count, MANY)) for name, count in counts.items()} | {
        "size": math.log1p(max(replaced, default=0)),
        "replaced": sum(replaced) / max(1, sum(replaced) + added),
    }


def _size(one: Difference, left: Sequence[Word], right: Sequence[Word]) -> int:
    ours = sum(one.a_start <= word.start < one.a_end for word in left)
    return ours + sum(one.b_start <= word.start < one.b_end for word in right)
