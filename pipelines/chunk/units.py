"""The smallest pieces that a chunk is packed from: paragraphs, list items, lines of code, sentences."""

import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from schemas.document import Block

SENTENCE = re.compile(r".+?(?:[。！？；!?;…]+[”’」』）)\"']*|\.(?=\s)|\n|$)\s*", re.S)
CLAUSE = re.compile(r".+?(?:[，、,：:\s]|$)\s*", re.S)
QUESTION = re.compile(r"^\s*(?:Q(?:uestion)?\s*\d*|问题?\s*\d*)\s*[:：.、]", re.I)
ANSWER = re.compile(r"^\s*(?:A(?:nswer)?\s*\d*|答案?\s*\d*)\s*[:：.、]", re.I)

Cost = Callable[[str], float]
"""Tokens of a text, or more."""


@dataclass(frozen=True)
class Limits:
    """What one chunk's text may hold."""

    characters: int
    tokens: float
    cost: Cost

    def fit(self, text: str) -> bool:
        return len(text) <= self.characters and self.cost(text) <= self.tokens


@dataclass(frozen=True)
class Unit:
    """`glue` joins it to the unit before; `rank` is lower where a cut hurts less."""

    text: str
    block: Block
    glue: str
    rank: int
    kind: str

    def priority(self) -> int:
        """Cuts go to low values first: by rank, then by content, so that they stay where they are after an edit."""
        return (self.rank << 32) + zlib.crc32(self.text.encode("utf-8", "surrogatepass"))


def estimate_tokens(text: str) -> float:
    """0.9 a Han character, 0.4 a Latin one, in between for two-byte scripts: more than e5's tokenizer needs."""
    if text.isascii():
        return 0.4 * len(text)
    return 0.4 * len(text) + 0.25 * (len(text.encode("utf-8", "surrogatepass")) - len(text))


def units_of(block: Block, limits: Limits) -> Iterator[Unit]:
    """The block whole where it fits, else by lines (lists, code), sentences, clauses, characters."""
    text = block.text if block.kind == "code" else block.text.strip()
    if not text.strip():
        return
    kind = block.kind if block.kind in ("list", "code", "faq", "api", "figure") else "text"
    if limits.fit(text):
        yield Unit(text, block, "\n\n", 0, kind)
        return
    by_line = kind in ("list", "code") or "\n" in text
    parts = text.split("\n") if by_line else [text]
    first = True
    for part in parts:
        if not part.strip():
            continue
        for number, piece in enumerate(_pieces(part, limits)):
            glue = "\n\n" if first else "\n" if number == 0 else ""
            yield Unit(piece, block, glue, 0 if first else 1 if number == 0 else 2, kind)
            first = False


def _pieces(text: str, limits: Limits) -> list[str]:
    if limits.fit(text):
        return [text]
    pieces: list[str] = []
    for sentence in SENTENCE.findall(text):
        # A sentence stays whole beyond the wished size, as long as the embedder can read it.
        if len(sentence) <= 1.5 * limits.characters and limits.cost(sentence) <= limits.tokens:
            pieces.append(sentence)
        else:
            pieces += _clauses(sentence, limits)
    return pieces


def _clauses(sentence: str, limits: Limits) -> list[str]:
    """Greedy: clauses packed up to the limit; what has no clauses is cut by characters."""
    packed: list[str] = []
    for clause in CLAUSE.findall(sentence):
        for part in _cut(clause, limits):
            if packed and limits.fit(packed[-1] + part):
                packed[-1] += part
            else:
                packed.append(part)
    return packed


def _cut(text: str, limits: Limits) -> list[str]:
    if limits.fit(text) or len(text) == 1:
        return [text]
    middle = min(len(text) // 2, limits.characters)
    return [*_cut(text[:middle], limits), *_cut(text[middle : 2 * middle], limits), *_rest(text[2 * middle :], limits)]


def _rest(text: str, limits: Limits) -> list[str]:
    """Pieces of a long run without any separator, by steps instead of recursion."""
    step = limits.characters
    return [part for start in range(0, len(text), step) for part in _cut(text[start : start + step], limits)]


def join(units: list[Unit]) -> str:
    return "".join((unit.glue if number else "") + unit.text for number, unit in enumerate(units))


def pair_questions(units: list[Unit], limits: Limits) -> list[Unit]:
    """A question and the answer right after it become one unit where they fit together."""
    paired: list[Unit] = []
    for unit in units:
        before = paired[-1] if paired else None
        if before and ANSWER.match(unit.text) and QUESTION.match(before.text):
            both = f"{before.text}\n{unit.text}"
            if limits.fit(both):
                paired[-1] = Unit(both, before.block, before.glue, before.rank, "faq")
                continue
        paired.append(unit)
    return paired
