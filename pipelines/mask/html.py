"""The text of an HTML table with the way back, so that a value is masked and every tag stays."""

import html
import re
from collections.abc import Iterable

_TOKEN = re.compile(
    r"<!--.*?-->|<(/?)([A-Za-z][A-Za-z0-9]*)\b(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>|&(?:#\w+|\w+);", re.DOTALL
)
_INLINE = re.compile(
    r"a|abbr|b|bd[io]|big|cite|code|em|font|i|ins|kbd|mark|q|s|small|span|strong|su[bp]|tt|u|var|wbr", re.IGNORECASE
)

CELL_BREAK = "\n\n\n"
"""Between cells and blocks: three line breaks are more separators than a number may have inside."""


def visible(markup: str) -> tuple[str, list[tuple[int, int]]]:
    """Text and, for each of its characters, the span in the markup that it came from (empty for cell breaks)."""
    text: list[str] = []
    origin: list[tuple[int, int]] = []

    def add(characters: str, spans: Iterable[tuple[int, int]]) -> None:
        text.append(characters)
        origin.extend(spans)

    at = 0
    for token in _TOKEN.finditer(markup):
        add(markup[at : token.start()], ((i, i + 1) for i in range(at, token.start())))
        at = token.end()
        if token.group().startswith("&"):
            character = html.unescape(token.group())
            add(character, [token.span()] + [(at, at)] * (len(character) - 1))
        elif (name := token.group(2)) and not _INLINE.fullmatch(name):
            gap = "\n" if name.lower() == "br" else CELL_BREAK
            add(gap, [(at, at)] * len(gap))
    add(markup[at:], ((i, i + 1) for i in range(at, len(markup))))
    return "".join(text), origin


def put_back(markup: str, origin: list[tuple[int, int]], changes: Iterable[tuple[int, int, str]]) -> str:
    """The markup with each text span (start, end, replacement) replaced; tags inside a span stay where they are."""
    out: list[str] = []
    at = 0
    for start, end, new in changes:
        for index in range(start, end):
            left, right = origin[index]
            out.append(markup[at:left] if left > at else "")
            if index == start:
                out.append(html.escape(new, quote=False))
            at = max(at, right)
    out.append(markup[at:])
    return "".join(out)
