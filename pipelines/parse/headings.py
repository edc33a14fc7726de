"""Which lines are headings, and how deep: by numbering, by size against the body, by the file's own bookmarks."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping

from pipelines.parse.lines import Line

MAX_CHARACTERS = 80
NUMBERED = (
    (re.compile(r"^第\s*[0-9一二三四五六七八九十百千]+\s*[编篇部章]"), 1),
    (re.compile(r"^第\s*[0-9一二三四五六七八九十百千]+\s*节"), 2),
    (re.compile(r"^[一二三四五六七八九十]{1,3}\s*、"), 2),
    (re.compile(r"^[（(][一二三四五六七八九十]{1,3}[）)]"), 3),
    (re.compile(r"^(chapter|part)\s+([0-9]+|[IVX]+)\b", re.IGNORECASE), 1),
)
DECIMAL = re.compile(r"^(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s*(?=[^\d\s.,%．])")
SENTENCE_END = ("。", "；", "，", ",", ";", "、", "!", "！")


def size_counts(lines: Iterable[Line]) -> Counter[float]:
    """Characters of each font size, in half points."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size * 2) / 2] += len(line.text)
    return sizes


def body_size(sizes: Counter[float]) -> float:
    """The font size that most characters have, in half points; 0 without any."""
    return sizes.most_common(1)[0][0] if sizes else 0.0


def heading_level(text: str, size: float, bold: bool, body: float, bookmarks: Mapping[str, int]) -> int | None:
    """Depth 1..6, or None for ordinary text. `bookmarks`: depth by `bookmark_key`."""
    text = text.strip()
    if not 1 < len(text) <= MAX_CHARACTERS or text.endswith(SENTENCE_END):
        return None
    if level := bookmarks.get(bookmark_key(text)):
        return level
    ratio = size / body if body else 1.0
    if (level := numbered_level(text)) and (bold or ratio > 1.1):
        return level
    if not any(character.isalpha() for character in text):
        return None
    if ratio >= 1.15:
        return 1 if ratio >= 1.6 else 2 if ratio >= 1.3 else 3
    return None


def numbered_level(text: str) -> int | None:
    """Depth that the numbering states: 第三章 is 1, 一、 is 2, 1.2 is 2."""
    for pattern, level in NUMBERED:
        if pattern.match(text):
            return level
    found = DECIMAL.match(text)
    return min(6, found.group(1).count(".") + 1) if found else None


def bookmark_key(text: str) -> str:
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text)).casefold()
