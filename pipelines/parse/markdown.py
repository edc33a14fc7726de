"""Markdown (CommonMark with tables and front matter) through markdown-it-py."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipelines.parse.cells import Cell
from pipelines.parse.formats import build, table_block
from pipelines.parse.settings import ParseSettings
from pipelines.parse.text import read_text
from schemas.document import Block, Document

ENGINE = "markdown-it"


def parse_markdown(path: Path, *, name: str, settings: ParseSettings) -> Document:
    decoded = read_text(path, settings)
    return document_of(decoded.text, name=name, encoding=decoded.encoding)


def document_of(text: str, *, name: str, encoding: str | None = None) -> Document:
    """Raises Rejected(PARSE_NO_TEXT)."""
    from markdown_it import MarkdownIt
    from mdit_py_plugins.front_matter import front_matter_plugin

    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"]).use(front_matter_plugin)
    tokens = reader.parse(text)
    metadata = _front_matter(tokens)
    return build(
        list(_blocks(tokens)),
        name=name,
        media_type="text/markdown",
        title=metadata.get("title", ""),
        dated=metadata.get("date") or metadata.get("updated"),
        encoding=encoding,
        metadata=metadata,
    )


def _front_matter(tokens: list[Any]) -> dict[str, str]:
    """Scalars of the YAML head; a head that is no YAML mapping is left alone."""
    import yaml

    if not tokens or tokens[0].type != "front_matter":
        return {}
    try:
        values = yaml.safe_load(tokens[0].content)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    if not isinstance(values, dict):
        return {}
    return {str(key): str(value) for key, value in values.items() if not isinstance(value, dict | list | None)}


def _blocks(tokens: list[Any]) -> Iterator[Block]:
    position = 0
    while position < len(tokens):
        token = tokens[position]
        end = _end(tokens, position)
        inner = tokens[position : end + 1]
        if token.type == "heading_open":
            yield Block(kind="heading", text=_inline(inner[1]), level=int(token.tag[1]), engine=ENGINE)
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            yield from _list(inner)
        elif token.type == "table_open":
            if block := _table(inner):
                yield block
        elif token.type in ("fence", "code_block"):
            if token.content.strip():
                yield Block(kind="code", text=token.content.rstrip("\n"), engine=ENGINE)
        elif token.type == "html_block":
            yield from _html(token.content)
        elif token.type == "blockquote_open":
            yield from _blocks(inner[1:-1])
        elif token.type == "paragraph_open" and (text := _inline(inner[1])):
            yield Block(kind="text", text=text, engine=ENGINE)
        position = end + 1


def _end(tokens: list[Any], start: int) -> int:
    """Position of the token that closes the one at `start`."""
    depth = 0
    for position in range(start, len(tokens)):
        depth += tokens[position].nesting
        if depth == 0:
            return position
    return len(tokens) - 1


def _inline(token: Any) -> str:
    """Text as it reads: links and emphasis lose their marks, inline HTML its tags."""
    parts = []
    for child in token.children or ():
        if child.type in ("text", "code_inline"):
            parts.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif child.type == "image":
            parts.append(child.content)
    return "".join(parts).strip()


def _list(tokens: list[Any]) -> Iterator[Block]:
    """One block for the list with its nested lists; code and tables inside it are blocks of their own."""
    lines: list[str] = []
    depth, marks, fresh = 0, [""], False
    position = 0
    while position < len(tokens):
        token = tokens[position]
        if token.type in ("bullet_list_open", "ordered_list_open"):
            depth += 1
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            depth -= 1
        elif token.type == "list_item_open":
            marks, fresh = [f"{token.info}{token.markup}" if token.info else "-"], True
        elif token.type == "inline" and (text := _inline(token)):
            indent = "  " * (depth - 1)
            mark = f"{marks[0]} " if fresh else "  "
            lines.append(f"{indent}{mark}" + text.replace("\n", f"\n{indent}  "))
            fresh = False
        elif token.type in ("fence", "code_block", "table_open", "html_block"):
            end = _end(tokens, position)
            if lines:
                yield Block(kind="list", text="\n".join(lines), engine=ENGINE)
            lines = []
            yield from _blocks(tokens[position : end + 1])
            position = end
        position += 1
    if lines:
        yield Block(kind="list", text="\n".join(lines), engine=ENGINE)


def _table(tokens: list[Any]) -> Block | None:
    rows: list[list[Cell]] = []
    for number, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            text = " ".join(_inline(tokens[number + 1]).split())
            rows[-1].append(Cell(text, header=token.type == "th_open"))
    return table_block(tuple(tuple(row) for row in rows), engine=ENGINE)


def _html(content: str) -> Iterator[Block]:
    from pipelines.parse.html import blocks_of_html

    yield from (block for block in blocks_of_html(content) if block.text.strip())
