"""Keywords: noun phrases by part of speech, weighted by inverse document frequency."""

import math
from collections import defaultdict
from functools import cache
from itertools import groupby

from schemas.facts import Keyword

_NOUN = ("n", "vn", "nz", "eng", "an", "l", "j", "nr", "ns", "nt")


def keywords(text: str, count: int, max_phrase: int) -> tuple[Keyword, ...]:
    """The `count` heaviest phrases, each a substring of the text."""
    weights: dict[str, float] = defaultdict(float)
    for phrase, weight in _phrases(text, max_phrase):
        weights[phrase] += weight
    heaviest = sorted(weights.items(), key=lambda pair: -pair[1])
    return tuple(Keyword(text=phrase, weight=round(weight, 4)) for phrase, weight in heaviest[:count])


def _phrases(text: str, max_phrase: int) -> list[tuple[str, float]]:
    import rjieba

    idf, unknown = _idf()
    found: list[tuple[str, float]] = []
    for is_noun, group in groupby(rjieba.tag(text), key=lambda pair: pair[1] in _NOUN):
        words = [word for word, _ in group if word.strip()]
        phrase = "".join(words)
        if is_noun and 2 <= len(phrase) <= (max_phrase if not phrase.isascii() else 40) and phrase in text:
            mean = sum(idf.get(word, unknown) for word in words) / len(words)
            found.append((phrase, mean * math.sqrt(len(words))))
    return found


@cache
def _idf() -> tuple[dict[str, float], float]:
    """Inverse document frequencies that jieba ships (MIT), and their median for words it lacks."""
    import importlib.util
    from pathlib import Path

    spec = importlib.util.find_spec("jieba")
    if spec is None or spec.origin is None:
        return {}, 10.0
    lines = (Path(spec.origin).parent / "analyse" / "idf.txt").read_text("utf-8").splitlines()
    table = {word: float(value) for word, _, value in (line.partition(" ") for line in lines) if value}
    return table, sorted(table.values())[len(table) // 2]
