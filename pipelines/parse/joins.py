"""Tables that go on over a page break, made one; contents pages, set apart."""

import re
from collections.abc import Sequence
from dataclasses import replace

from pipelines.parse.cells import flatten, read_html, to_html, to_markdown
from schemas.document import Block, PageVerdict

EDGE = 5.0
"""Points by which the sides of the parts may differ."""
TOP, BOTTOM = 0.2, 0.8
"""Shares of the page: the first part ends below BOTTOM, the next starts above TOP."""
ENTRY = re.compile(r"[^.…·․‥]{2,90}(?:[.…·․‥]\s?){3,}\s*[ivxlc\d]{1,5}(?=\s|\D|$)")
"""A title, dots, a page number."""
LEADERS = re.compile(r"[.…·․‥]\s?[.…·․‥]\s?[.…·․‥]")


def join_tables(blocks: Sequence[Block], pages: Sequence[PageVerdict]) -> list[Block]:
    """Joins a table with the one that opens the next page when both have the same sides and columns and nothing but
    furniture lies between; a repeated head is dropped. When unsure both stay."""
    heights = {page.page: page.height or 0.0 for page in pages}
    joined: list[Block] = []
    for block in blocks:
        if joined and _goes_on(joined[-1], block, heights):
            joined[-1] = _one(joined[-1], block)
        else:
            joined.append(block)
    return joined


def _goes_on(above: Block, below: Block, heights: dict[int, float]) -> bool:
    if above.kind != "table" or below.kind != "table" or not (above.html and below.html) or below.caption:
        return False
    if not (above.box and below.box and above.page and below.page):
        return False
    last = above.parts[-1] if above.parts else None
    page, box = (last.page, last.box) if last else (above.page, above.box)
    if below.page != page + 1 or abs(box.x0 - below.box.x0) > EDGE or abs(box.x1 - below.box.x1) > EDGE:
        return False
    tall = heights.get(page, 0.0), heights.get(below.page, 0.0)
    if box.y1 < BOTTOM * tall[0] or below.box.y0 > TOP * tall[1]:
        return False
    return _width(above.html) == _width(below.html)


def _width(html: str) -> int:
    return max((len(row) for row in flatten(read_html(html))), default=0)


def _one(above: Block, below: Block) -> Block:
    upper, lower = read_html(above.html or ""), read_html(below.html or "")
    repeated = bool(upper and lower) and [cell.text for cell in upper[0]] == [cell.text for cell in lower[0]]
    rest = lower[1:] if repeated else lower
    # The first row of the lower part is a head only where it repeats one.
    grid = (*upper, *(tuple(replace(cell, header=False) for cell in row) for row in rest))
    return above.model_copy(
        update={
            "text": to_markdown(grid),
            "html": to_html(grid),
            "parts": above.places() + below.places(),
            "confidence": min(above.confidence, below.confidence),
            "artifact": None,  # a picture of one part is none of the table
            "below": None,
        }
    )


def is_contents(blocks: Sequence[Block]) -> bool:
    """Whether the blocks of a page are hardly anything but entries of a table of contents."""
    text = "\n".join(block.text for block in blocks if not block.hidden)
    if len(LEADERS.findall(text)) < 4:
        return False
    entries = len(ENTRY.findall(text))
    left = len("".join(ENTRY.sub("", text).split()))
    return entries >= 4 and left < 0.3 * len("".join(text.split()))
