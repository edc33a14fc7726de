"""Which blocks of a web page are not its content, by trafilatura, where the page itself does not say (no <main>)."""

import re
from collections.abc import Sequence

from schemas.document import Block

JUDGED = frozenset(("text", "list", "heading"))
"""Code and tables are content that extractors lose: they are never dropped."""
LEAST = 0.6
"""Of the judged text: where trafilatura finds less, it did not understand the page, and all is kept."""
BEGINNING = 40
MARK = re.compile(r"^\s*(?:-|\d+\.)\s")


def boilerplate(html: str, blocks: Sequence[Block]) -> frozenset[int]:
    """Indexes of the blocks to leave out."""
    import trafilatura

    judged = [at for at, block in enumerate(blocks) if block.kind in JUDGED and not block.hidden]
    if len(judged) < 3:
        return frozenset()
    found = _squeezed(
        trafilatura.extract(html, favor_recall=True, include_tables=True, include_comments=False, fast=True) or ""
    )
    kept = [at for at in judged if _is_kept(blocks[at], found)]
    size = sum(len(blocks[at].text) for at in judged)
    if sum(len(blocks[at].text) for at in kept) < LEAST * size:
        return frozenset()
    # A heading says what follows it: it goes only with the page's edges, the page's own title never.
    first, last = min(kept), max(kept)
    dropped = (at for at in judged if at not in set(kept))
    return frozenset(
        at for at in dropped if blocks[at].kind != "heading" or (blocks[at].level != 1 and not first < at < last)
    )


def _is_kept(block: Block, found: str) -> bool:
    """By its beginning, a list by most of its items, whose marks the extractor writes in another way."""
    if block.kind != "list":
        return _squeezed(block.text)[:BEGINNING] in found
    items = [_squeezed(MARK.sub("", line)) for line in block.text.split("\n")]
    return 2 * sum(item[:BEGINNING] in found for item in items) >= len(items)


def _squeezed(text: str) -> str:
    """Letters and digits: list marks and line ends differ between the two."""
    return "".join(character for character in text if character.isalnum())
