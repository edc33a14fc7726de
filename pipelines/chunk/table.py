"""Tables whole where they fit, else by rows with the header repeated, in Markdown and HTML alike."""

import re
from html import escape, unescape

from pipelines.chunk.units import Limits

ROW = re.compile(r"<tr>.*?</tr>", re.S)
RULE = re.compile(r"^\|(\s*:?-{3,}:?\s*\|)+$")
CELL = re.compile(r"(?<!\\)\|")


def split_table(text: str, html: str | None, limits: Limits) -> list[tuple[str, str | None]]:
    """(Markdown, HTML) of each part. A row that alone is too long comes out as it is: the caller cuts it as text."""
    if limits.fit(text):
        return [(text, html)]
    lines = text.strip().split("\n")
    heads = 2 if len(lines) > 2 and RULE.match(lines[1].strip()) else 0
    header, rows = lines[:heads], lines[heads:]
    if header and not limits.fit("\n".join(header) + "x" * (limits.characters // 2)):
        header = []
    html_rows = _html_rows(html, lines, heads)
    groups = _groups(header, rows, limits)
    parts: list[tuple[str, str | None]] = []
    first = 0
    for group in groups:
        body = html_rows[1 if heads else 0 :][first : first + len(group)]
        head = html_rows[:1] if header else []
        parts.append(("\n".join(header + group), f"<table>{''.join([*head, *body])}</table>" if html_rows else None))
        first += len(group)
    if heads and not header:
        parts.insert(0, ("\n".join(lines[:heads]), None))
    return parts


def _groups(header: list[str], rows: list[str], limits: Limits) -> list[list[str]]:
    """Greedy: a table is one object, and rows are short."""
    groups: list[list[str]] = []
    head = "\n".join(header)
    size, cost = 0, 0.0
    for row in rows:
        length, price = len(row) + 1, limits.cost(row) + 1
        if not groups or size + length > limits.characters or cost + price > limits.tokens:
            groups.append([])
            size, cost = len(head), limits.cost(head) + 1
        groups[-1].append(row)
        size, cost = size + length, cost + price
    return groups


def _html_rows(html: str | None, lines: list[str], heads: int) -> list[str]:
    """Rows that match the Markdown ones; spans cannot be cut, so such tables are rebuilt from their filled-in rows."""
    if html is None:
        return []
    rows = ROW.findall(html)
    wanted = lines[:1] + lines[2:] if heads else lines
    if "rowspan=" not in html and len(rows) == len(wanted):
        return rows
    return [_row(line, "th" if heads and number == 0 else "td") for number, line in enumerate(wanted)]


def _row(line: str, tag: str) -> str:
    cells = [cell.strip().replace("\\|", "|") for cell in CELL.split(line.strip().strip("|"))]
    return "<tr>" + "".join(f"<{tag}>{escape(unescape(cell), quote=False)}</{tag}>" for cell in cells) + "</tr>"
