"""Whether a passage is evidence enough for an answer: what it shares with the question, in words and in meaning."""

import re
from collections.abc import Callable
from functools import lru_cache

from pipelines.retrieve.tokens import CJK, fold, lexical_tokens
from schemas.search import Hit, Passage

Similarity = Callable[[str, float], float]
"""(question, cosine) on the scale of its model: 0 unrelated, 1 a question and its answer."""

ENOUGH = 0.70
"""Half way between questions of one corpus and of another (Wikipedia, see tests/bench/retrieval.py)."""
UNKNOWN = 0.8
"""Stands in for the similarity where there is no embedder: then half of the question's words must be held."""
FOREIGN = 0.85
"""Similarity that is enough by itself where question and passage are in different scripts and can share no word."""

ASKING_ZH = re.compile(
    "什么时候|什么|哪些|哪个|哪里|哪儿|哪一|哪年|哪|谁|何时|何地|如何|怎么样|怎么办|怎样|怎么|为什么|为何|多长时间|多少|多久|最多|最少|几"
    "|是否|可以|能否|需要|应该|请问|吗|呢|的|是|了|在|有|和|与|及|要|会|被|把|对|由|从|到|我|你"
)
WORDS_EN = """the a an of in on at to for is are was were be been do does did what which who whom whose when where why
how many much and or by with from that this it its as has have had there i you we my your our can could should may must
will would if not any about into than then them they their"""
ASKING_EN = frozenset(WORDS_EN.split())
CJK_LETTER = re.compile(f"[{CJK}]")
RUN = re.compile(rf"(?P<cjk>[{CJK}]+)|(?P<latin>[^\W_](?:[^\W_]|[./\-:+#&_](?=\w))*)")


def evidence(question: str, hit: Hit, similarity: Similarity | None) -> float:
    """0 (none) to about 1; `ENOUGH` is the border. Words count one third, meaning two thirds."""
    passage = hit.passage
    meaning = UNKNOWN if similarity is None else similarity(question, hit.dense) if hit.dense is not None else 0.0
    if similarity is not None and _foreign(question, passage):
        return meaning / FOREIGN * ENOUGH
    return (coverage(question, passage) + 2 * meaning) / 3


def coverage(question: str, passage: Passage) -> float:
    """Share of the question's content that the passage holds, title and section included.

    Chinese counts by characters that a shared pair of characters covers, so that no word border has to be known; other
    words count by their length, for long ones are rarer and say more.
    """
    held = _held(f"{passage.title}\n{passage.context}\n{passage.text}")
    total = found = 0.0
    for match in RUN.finditer(ASKING_ZH.sub(" ", fold(question))):
        run = match.group()
        if match.lastgroup == "latin":
            tokens = () if run in ASKING_EN else lexical_tokens(run).split()
            weight = min(len(run), 10) / 2.5 if tokens else 0.0
            total += weight
            found += weight * any(token in held for token in tokens)
        elif len(run) > 1:
            total += len(run)
            found += _covered(run, held)
    return found / total if total else 0.0


def _covered(run: str, held: frozenset[str]) -> int:
    covered = set[int]()
    for at in range(len(run) - 1):
        if run[at : at + 2] in held:
            covered |= {at, at + 1}
    return len(covered)


@lru_cache(maxsize=512)
def _held(text: str) -> frozenset[str]:
    return frozenset(lexical_tokens(text).split())


def _foreign(question: str, passage: Passage) -> bool:
    """Question and passage in different scripts."""
    return is_cjk(question) != is_cjk(passage.text)


def is_cjk(text: str) -> bool:
    """Whether at least a third of the letters are Chinese, Japanese or Korean."""
    letters = [one for one in text[:500] if one.isalpha()]
    return 3 * sum(bool(CJK_LETTER.match(one)) for one in letters) > len(letters)
