"""Two texts beside each other, with the words that differ marked. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Operation = Literal["same", "cut", "put"]
_TOKEN = re.compile(r"[A-Za-zÀ-ɏ]+|\d+(?:[.,:/-]\d+)*|\s+|.", re.DOTALL)
_BRIDGE = 2
"""So few equal tokens between two changes are part of the change: a sentence reads better in larger pieces."""
MAX_TOKENS = 20_000


@dataclass(frozen=True)
class Piece:
    """A run of text that is in both, only in the old (`cut`) or only in the new (`put`)."""

    operation: Operation
    text: str


def tokens(text: str) -> list[str]:
    """Words, numbers with their separators, and all else character by character, as Chinese needs it."""
    return _TOKEN.findall(text)


def marked(before: str, after: str) -> tuple[Piece, ...]:
    """The old and the new text in one, in reading order."""
    from rapidfuzz.distance import Indel

    old, new = tokens(before), tokens(after)
    if len(old) + len(new) > MAX_TOKENS:
        return (Piece("cut", before), Piece("put", after))
    pieces: list[tuple[Operation, list[str]]] = []
    for op in Indel.opcodes(old, new):
        if op.tag == "equal":
            pieces.append(("same", old[op.src_start : op.src_end]))
        if op.tag == "delete":
            pieces.append(("cut", old[op.src_start : op.src_end]))
        if op.tag == "insert":
            pieces.append(("put", new[op.dest_start : op.dest_end]))
    return tuple(Piece(operation, "".join(run)) for operation, run in _joined(pieces) if run)


def _joined(pieces: Sequence[tuple[Operation, list[str]]]) -> list[tuple[Operation, list[str]]]:
    """Changes with next to nothing between them become one: first all that was cut, then all that was put."""
    out: list[tuple[Operation, list[str]]] = []
    cut: list[str] = []
    put: list[str] = []
    for place, (operation, run) in enumerate(pieces):
        small = len(run) <= _BRIDGE and 0 < place < len(pieces) - 1 and not any("\n" in one for one in run)
        if operation == "cut":
            cut += run
        elif operation == "put":
            put += run
        elif small and (cut or put):
            cut += run
            put += run
        else:
            out += [("cut", cut), ("put", put), ("same", run)]
            cut, put = [], []
    return [*out, ("cut", cut), ("put", put)]
