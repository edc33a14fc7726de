"""From lines in reading order to paragraphs, list items and headings."""

import re
from collections.abc import Mapping, Sequence

from pipelines.parse.headings import heading_level, numbered_level
from pipelines.parse.lines import Line, union
from pipelines.parse.order import Rectangle
from schemas.document import Block, Box

BULLET = re.compile(r"^\s*([•●▪◦■□◆\-–*·]\s+|[•●▪◦■◆]|[（(]?\d{1,2}[）)]|[a-zA-Z][.)]\s)")
WIDE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\u3000-\u303f]")


def join(texts: Sequence[str]) -> str:
    """Lines as one text: no space between Chinese characters, hyphenated words made whole."""
    joined = ""
    for text in (text.strip() for text in texts):
        if not joined or not text:
            joined += text
        elif joined.endswith("-") and joined[-2:-1].islower() and text[0].islower():
            joined = joined[:-1] + text
        elif WIDE.match(joined[-1]) or WIDE.match(text[0]):
            joined += text
        else:
            joined += " " + text
    return joined


def to_box(box: Rectangle) -> Box:
    x0, y0, x1, y1 = (round(value, 2) for value in box)
    return Box(x0=x0, y0=y0, x1=x1, y1=y1)


def blocks_of(lines: Sequence[Line], page: int, body: float, bookmarks: Mapping[str, int], engine: str) -> list[Block]:
    """Blocks of lines that are in reading order."""
    groups: list[list[Line]] = []
    for line in lines:
        if groups and _continues(groups[-1], line):
            groups[-1].append(line)
        else:
            groups.append([line])
    return [_block(group, page, body, bookmarks, engine) for group in groups]


def _continues(group: Sequence[Line], line: Line) -> bool:
    last = group[-1]
    if abs(last.size - line.size) > 0.12 * max(last.size, line.size):
        return False
    height = last.box[3] - last.box[1]
    if line.box[1] < last.box[3] - 0.7 * height:  # beside it, or the top of another column
        return line.box[3] > last.box[1] and line.box[0] >= last.box[2] - height
    if line.box[1] - last.box[3] > 0.8 * height or line.box[0] > last.box[2] or line.box[2] < last.box[0]:
        return False
    if BULLET.match(line.text) or (last.box[2] < group[0].box[2] - 2 * line.size and numbered_level(line.text)):
        return False
    if line.bold != last.bold and (len(group) == 1 or line.bold):
        return False
    return line.box[0] < last.box[0] + 1.2 * line.size or (len(group) == 1 and bool(BULLET.match(last.text)))


def _block(group: Sequence[Line], page: int, body: float, bookmarks: Mapping[str, int], engine: str) -> Block:
    text = join([line.text for line in group])
    level = heading_level(text, group[0].size, all(line.bold for line in group), body, bookmarks)
    kind = "heading" if level else "list" if BULLET.match(text) else "text"
    return Block(
        kind=kind,
        text=text,
        page=page,
        box=to_box(union([line.box for line in group])),
        level=level,
        engine=engine,
        confidence=round(min(line.confidence for line in group), 3),
    )
