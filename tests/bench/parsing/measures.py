"""How near a parse is to the truth: TEDS, adjacency, order, similarity. Texts compare in NFKC without spaces."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from rapidfuzz import fuzz
from rapidfuzz.distance import Indel, Levenshtein

from pipelines.parse.cells import read_html


class Cell(NamedTuple):
    row: int
    column: int
    rows: int
    columns: int
    text: str


Cells = tuple[Cell, ...]
Relation = tuple[str, str, str]
NUMERIC = re.compile(r"[^\w]*\d[\d,.]*[.,]\d[\d,.]*\W*")


def plain(text: str) -> str:
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text))


def cells_of(html: str) -> Cells:
    """Cells of an HTML table with their places."""
    taken: set[tuple[int, int]] = set()
    cells = []
    for y, row in enumerate(read_html(html)):
        x = 0
        for cell in row:
            while (y, x) in taken:
                x += 1
            taken |= {(y + down, x + across) for down in range(cell.rows) for across in range(cell.columns)}
            cells.append(Cell(y, x, cell.rows, cell.columns, plain(cell.text)))
            x += cell.columns
    return tuple(cells)


def grid_of(rows: Sequence[Sequence[str | None]]) -> Cells:
    return tuple(Cell(y, x, 1, 1, plain(text or "")) for y, row in enumerate(rows) for x, text in enumerate(row))


def relations(cells: Cells) -> Counter[Relation]:
    """Each text with its next neighbour to the right and below, empty cells skipped (Goebel et al., ICDAR 2013)."""
    places = {
        (cell.row + down, cell.column + across): cell
        for cell in cells
        if cell.text
        for down in range(cell.rows)
        for across in range(cell.columns)
    }
    height, width = max((y for y, _ in places), default=0) + 1, max((x for _, x in places), default=0) + 1
    found: Counter[Relation] = Counter()
    for cell in cells:
        if not cell.text:
            continue
        right = {
            _next(places, y, cell.column + cell.columns, 0, 1, width) for y in range(cell.row, cell.row + cell.rows)
        }
        columns = range(cell.column, cell.column + cell.columns)
        below = {_next(places, cell.row + cell.rows, x, 1, 0, height) for x in columns}
        found.update((cell.text, other.text, "right") for other in right if other)
        found.update((cell.text, other.text, "below") for other in below if other)
    return found


def _next(places: dict[tuple[int, int], Cell], y: int, x: int, down: int, across: int, end: int) -> Cell | None:
    while (y if down else x) < end:
        if (y, x) in places:
            return places[y, x]
        y, x = y + down, x + across
    return None


def teds(truth: Cells, found: Cells) -> float:
    """Tree edit distance similarity (Zhong et al. 2020) of the grids; a span counts as its first place."""
    from apted import APTED, Config

    class Costs(Config):
        def rename(self, a: "_Node", b: "_Node") -> float:
            if a.tag != b.tag:
                return 1.0
            return Levenshtein.normalized_distance(a.text, b.text) if a.tag == "td" and (a.text or b.text) else 0.0

    a, b = _tree(truth), _tree(found)
    return 1.0 - APTED(a, b, Costs()).compute_edit_distance() / max(a.size(), b.size())


class _Node:
    def __init__(self, tag: str, text: str = "", children: Sequence["_Node"] = ()) -> None:
        self.tag, self.text, self.children = tag, text, list(children)

    def size(self) -> int:
        return 1 + sum(child.size() for child in self.children)


def _tree(cells: Cells) -> _Node:
    height = max((cell.row + cell.rows for cell in cells), default=0)
    width = max((cell.column + cell.columns for cell in cells), default=0)
    texts = {(cell.row, cell.column): cell.text for cell in cells}
    rows = [_Node("tr", "", [_Node("td", texts.get((y, x), "")) for x in range(width)]) for y in range(height)]
    return _Node("table", "", rows)


def match(truth: Sequence[Cells], found: Sequence[Cells]) -> list[tuple[Cells, Cells]]:
    """Each table of the truth with the found one that shares most of its texts, or with nothing."""
    shared = []
    for i, a in enumerate(truth):
        texts = Counter(cell.text for cell in a if cell.text)
        for j, b in enumerate(found):
            other = Counter(cell.text for cell in b if cell.text)
            both = sum((texts & other).values())
            letters = fuzz.ratio("".join(sorted("".join(texts))), "".join(sorted("".join(other)))) / 1000
            shared.append((2 * both / max(texts.total() + other.total(), 1) + letters, i, j))
    pairs: dict[int, int] = {}
    for score, i, j in sorted(shared, reverse=True):
        if score > 0.06 and i not in pairs and j not in pairs.values():
            pairs[i] = j
    return [(a, found[pairs[i]] if i in pairs else ()) for i, a in enumerate(truth)]


def numeric_intact(truth: Cells, found: Cells) -> tuple[int, int]:
    """Numeric cells with a point or comma that came out unchanged, and how many there are."""
    wanted = Counter(cell.text for cell in truth if NUMERIC.fullmatch(cell.text))
    there = Counter(cell.text for cell in found)
    return sum((wanted & there).values()), wanted.total()


def similarity(truth: str, found: str) -> float:
    return Indel.normalized_similarity(plain(truth), plain(found))


def kendall(blocks: Sequence[str], text: str) -> float | None:
    """Tau over the blocks that are in `text`; None when fewer than two are."""
    places = [place for block in blocks if (place := _place(plain(block), text)) is not None]
    pairs = [(a, b) for i, a in enumerate(places) for b in places[i + 1 :] if a != b]
    return sum(1 if a < b else -1 for a, b in pairs) / len(pairs) if pairs else None


def _place(block: str, text: str) -> int | None:
    head = block[:40]
    if len(head) < 4:
        return None
    if (place := text.find(head)) >= 0:
        return place
    found = fuzz.partial_ratio_alignment(head, text, score_cutoff=75)
    return found.dest_start if found else None


def mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0
