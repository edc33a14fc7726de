"""Keywords: noun phrases by part of speech, weighted by inverse document frequency."""

import math
import re
from functools import cache
from itertools import groupby

from schemas.chunk import MASKED
from schemas.facts import Keyword

_NOUN = frozenset(("n", "vn", "nz", "eng", "an", "l", "j", "nr", "ns", "nt", "nrt", "nrfg", "ng", "b"))
_LONGEST_LATIN = 40
"""Characters of a name in Latin letters."""
_FULL = 6
"""Characters from which a longer phrase is no better a term."""


def keywords(text: str, count: int, max_phrase: int) -> tuple[Keyword, ...]:
    """The `count` heaviest phrases, each a substring of the text.

    Weight: how often the text has it x mean idf of its words x square root of its length, since terms are long.
    """
    weights = {
        phrase: text.count(phrase) * idf * math.sqrt(min(len(phrase), _FULL))
        for phrase, idf in _phrases(text, max_phrase).items()
    }
    heaviest = sorted(weights.items(), key=lambda pair: -pair[1])
    return tuple(Keyword(text=phrase, weight=round(weight, 4)) for phrase, weight in heaviest[:count])


def _phrases(text: str, max_phrase: int) -> dict[str, float]:
    """Longest runs of noun-like words with the mean idf of these, in order of the text; no masked value is one."""
    import rjieba

    idf, unknown = _idf()
    found: dict[str, float] = {}
    for is_noun, group in groupby(rjieba.tag(re.sub(MASKED, "\n", text)), key=lambda pair: pair[1] in _NOUN):
        words = [word for word, _ in group if word.strip()]
        phrase = "".join(words)
        longest = _LONGEST_LATIN if phrase.isascii() else max_phrase
        if is_noun and 2 <= len(phrase) <= longest and phrase in text:
            found[phrase] = sum(idf.get(word, unknown) for word in words) / len(words)
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
