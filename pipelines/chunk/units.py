"""The smallest pieces that a chunk is packed from: paragraphs, list items, lines of code, sentences."""

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from schemas.chunk import ChunkKind
from schemas.document import Block

SENTENCE = re.compile(r".+?(?:[。！？；!?;…]+[”’」』）)\"']*|\.(?=\s)|\n|$)\s*", re.S)
CLAUSE = re.compile(r".+?(?:[，、,：:\s]|$)\s*", re.S)
QUESTION = re.compile(r"(?:Q(?:uestion)?\s*\d*|问题?\s*\d*)\s*[:：.、]", re.I)
ANSWER = re.compile(r"(?:A(?:nswer)?\s*\d*|答案?\s*\d*)\s*[:：.、]", re.I)

OWN_KIND: dict[str, ChunkKind] = {"list": "list", "code": "code", "faq": "faq", "api": "api", "figure": "figure"}
BEGINNING = 24
"""Characters of a unit that say how readily it begins a chunk."""

Cost = Callable[[str], float]
"""Tokens of a text, or more."""


@dataclass(frozen=True)
class Limits:
    """What one chunk's text may hold. `sparse`: so many characters never have too many tokens."""

    characters: int
    tokens: float
    cost: Cost
    sparse: bool = False

    def load(self, text: str) -> float:
        """Share of a chunk that the text fills with what joins it, by characters or tokens, whichever is more."""
        share = (len(text) + 2) / self.characters
        return share if self.sparse else max(share, (self.cost(text) + 1) / self.tokens)

    def fit(self, text: str) -> bool:
        return len(text) <= self.characters and (self.sparse or self.cost(text) <= self.tokens)


class Unit(NamedTuple):
    """`glue` joins it to the unit before; `rank` is lower where a cut hurts less; `load` as of `Limits`."""

    text: str
    block: Block
    glue: str
    rank: int
    kind: ChunkKind
    load: float

    def priority(self) -> int:
        """Cuts go to low values first: by rank, then by how the text begins, so that an edit leaves them in place."""
        return (self.rank << 32) + zlib.crc32(self.text[:BEGINNING].encode("utf-8", "surrogatepass"))


def estimate_tokens(text: str) -> float:
    """0.9 a Han character, 0.4 a Latin one, in between for two-byte scripts, at most 1: more than e5's needs."""
    length = len(text)
    if text.isascii():
        return 0.4 * length
    return min(0.4 * length + 0.25 * (len(text.encode("utf-8", "surrogatepass")) - length), float(length))


def units_of(block: Block, limits: Limits) -> list[Unit]:
    """The block whole where it fits, else by lines (lists, code), sentences, clauses, characters."""
    text = block.text if block.kind == "code" else block.text.strip()
    if not text or text.isspace():
        return []
    kind = OWN_KIND.get(block.kind, "text")
    if limits.fit(text):
        return [Unit(text, block, "\n\n", 0, kind, limits.load(text))]
    parts = text.split("\n") if kind in ("list", "code") or "\n" in text else [text]
    units: list[Unit] = []
    for part in parts:
        if not part or part.isspace():
            continue
        glue, rank = ("\n", 1) if units else ("\n\n", 0)
        for piece in _pieces(part, limits):
            units.append(Unit(piece, block, glue, rank, kind, limits.load(piece)))
            glue, rank = "", 2
    return units


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


def pair_questions(units: list[Unit], limits: Limits) -> list[Unit]:
    """A question and the answer right after it become one unit where they fit together."""
    if not any(unit.text[0] in "Aa答" for unit in units):
        return units
    paired: list[Unit] = []
    for unit in units:
        if unit.text[0] in "Aa答" and paired and ANSWER.match(unit.text) and QUESTION.match(paired[-1].text):
            before = paired[-1]
            both = f"{before.text}\n{unit.text}"
            if limits.fit(both):
                paired[-1] = before._replace(text=both, kind="faq", load=limits.load(both))
                continue
        paired.append(unit)
    return paired
