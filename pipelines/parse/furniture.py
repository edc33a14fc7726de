"""Headers, footers and page numbers: lines that come back on page after page in the same band."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from pipelines.parse.lines import Line
from schemas.document import Block

Key = tuple[str, int]
BAND = 0.10
"""Share of the page height at top and bottom where furniture stands."""
MIN_PAGES = 3
PAGE_NUMBER = re.compile(
    r"^[-–—·\s]*(第\s*[0-9一二三四五六七八九十百]+\s*页(\s*[/,，共]?\s*(共\s*)?\d*\s*页?)?"
    r"|(page\s*)?\d{1,4}(\s*(/|of)\s*\d{1,4})?)[-–—·\s]*$",
    re.IGNORECASE,
)


def candidates(lines: Iterable[Line], height: float) -> set[Key]:
    """Keys of the lines of a page, `height` points tall, that would be furniture if they came back."""
    return {key(line, height) for line in lines if _in_band(line, height)}


def repeated(seen: Counter[Key], pages: int) -> frozenset[Key]:
    """Keys of lines that are furniture. `seen`: on how many of the `pages` each candidate stands."""
    least = 2 if pages == 2 else MIN_PAGES
    return frozenset(found for found, times in seen.items() if times >= least)


def is_furniture(line: Line, height: float, known: frozenset[Key]) -> bool:
    if line.slanted:
        return True
    if not _in_band(line, height):
        return False
    return key(line, height) in known or bool(PAGE_NUMBER.match(line.text))


def is_page_number(line: Line, lines: Iterable[Line], height: float) -> bool:
    """Of a page of which nothing else is known: a number at its edge, with nothing beyond or beside."""
    if not (_in_band(line, height) and PAGE_NUMBER.match(line.text)):
        return False
    others = [other for other in lines if other is not line]
    above = all(other.box[3] <= line.box[1] for other in others)
    return bool(others) and (above or all(other.box[1] >= line.box[3] for other in others))


def come_back(blocks: Sequence[Block], heights: Mapping[int, float]) -> frozenset[int]:
    """Indexes of blocks of scanned pages (`heights` in points by number) that repeat a line at the edge of others: the
    layout model knows a header on some pages and takes it for text on the rest."""
    pages: dict[tuple[str, bool], set[int]] = defaultdict(set)
    places: dict[int, tuple[str, bool]] = {}
    for index, block in enumerate(blocks):
        height = heights.get(block.page or 0)
        if not (height and block.box) or block.kind not in ("text", "heading") or "\n" in block.text:
            continue
        line = Line(block.text, (block.box.x0, block.box.y0, block.box.x1, block.box.y1), 0.0)
        if _in_band(line, height):
            places[index] = key(line, height)[0], block.box.y0 < height / 2
            pages[places[index]].add(block.page or 0)
    return frozenset(index for index, place in places.items() if len(pages[place]) >= MIN_PAGES)


def key(line: Line, height: float) -> Key:
    """The text with numbers masked, so that "Page 3 of 9" is the same line on all pages, and its place in percent."""
    text = re.sub(r"\d+", "#", re.sub(r"\s+", "", unicodedata.normalize("NFKC", line.text)))
    return text, round(100 * line.box[1] / max(height, 1.0))


def _in_band(line: Line, height: float) -> bool:
    return line.box[3] < BAND * height or line.box[1] > (1 - BAND) * height
