"""Plain text in any encoding: paragraphs, headings by their numbering, lists."""

import re
from collections.abc import Iterator
from pathlib import Path

from pipelines.errors import Code, Rejected
from pipelines.parse.decode import Decoded, decode
from pipelines.parse.formats import build
from pipelines.parse.headings import numbered_level
from pipelines.parse.settings import ParseSettings
from schemas.document import Block, Document

ARTICLE = re.compile(r"^第\s*[0-9一二三四五六七八九十百千零〇]+\s*条(?:[\s　]|$)")
ITEM = re.compile(r"^\s*(?:[-*•·●]\s+|\d{1,2}[)）]\s*|[（(][0-9]{1,2}[)）])")
SENTENCE_END = ("。", "；", "，", ",", ";", "、", "!", "！", "?", "？", ":", "：", ".")
MAX_HEADING = 50


def read_text(path: Path, settings: ParseSettings) -> Decoded:
    """Raises Rejected(PARSE_BINARY | PARSE_LONG_LINE | PARSE_EMPTY)."""
    data = path.read_bytes()
    if not data:
        raise Rejected(Code.PARSE_EMPTY, "the file has no bytes")
    if len(data) > settings.max_line_characters:
        longest = max(map(len, data.splitlines()), default=0)
        # A character has at most four bytes.
        if longest > 4 * settings.max_line_characters:
            raise Rejected(Code.PARSE_LONG_LINE, f"a line of {longest} bytes")
    decoded = decode(data)
    longest = max(map(len, decoded.text.splitlines()), default=0)
    if longest > settings.max_line_characters:
        raise Rejected(Code.PARSE_LONG_LINE, f"a line of {longest} characters")
    return decoded


def parse_text(path: Path, *, name: str, settings: ParseSettings) -> Document:
    decoded = read_text(path, settings)
    blocks = list(blocks_of(decoded.text))
    title = _title(blocks)
    return build(blocks, name=name, media_type="text/plain", title=title, encoding=decoded.encoding)


def blocks_of(text: str) -> Iterator[Block]:
    """A blank line ends a paragraph; so does a heading, and a line end after a sentence."""
    lines: list[str] = []
    for line in [*text.replace("\x0c", "\n\n").splitlines(), ""]:
        level = heading_level(line)
        if line.strip() and level is None:
            lines.append(line.rstrip())
            continue
        if lines:
            yield _block(lines)
            lines = []
        if level is not None:
            yield Block(kind="heading", text=line.strip(), level=level, engine="text")


def heading_level(line: str) -> int | None:
    line = line.strip()
    if not 1 < len(line) <= MAX_HEADING or line.endswith(SENTENCE_END) or ITEM.match(line):
        return None
    if ARTICLE.match(line):
        return 3 if len(line) <= 20 else None
    if re.match(r"^\d{1,2}\.?\s", line) and len(line) > 30:
        return None
    return numbered_level(line)


def _block(lines: list[str]) -> Block:
    kind = "list" if len(lines) > 1 and sum(bool(ITEM.match(line)) for line in lines) > len(lines) / 2 else "text"
    return Block(kind="list" if kind == "list" else "text", text="\n".join(lines).strip("\n"), engine="text")


def _title(blocks: list[Block]) -> str:
    """A short first line that is no sentence; where the first block is one, it is the title."""
    first = blocks[0].text if blocks else ""
    line = first.split("\n")[0].strip()
    return line if 1 < len(line) <= MAX_HEADING and not line.endswith(SENTENCE_END) else ""
