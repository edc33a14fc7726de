"""HTML: the main content as blocks. Scripts never run and never show; what a browser hides is flagged, not indexed."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipelines.parse.boilerplate import boilerplate
from pipelines.parse.cells import read_html
from pipelines.parse.decode import decode
from pipelines.parse.formats import build, iso_date, table_block
from pipelines.parse.settings import ParseSettings
from pipelines.parse.text import read_text
from schemas.document import Block, Document

ENGINE = "selectolax"
DROPPED = "script, style, noscript, template, svg, iframe, object, embed, head, form button, select"
FURNITURE = "nav, footer, aside, [role=navigation], [role=contentinfo], [role=complementary], [aria-hidden=true]"
MAIN = ("main", "[role=main]", "article")
MARKUP_HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?:\.0*)?\s*(?:;|$)|font-size\s*:\s*0|"
    r"(?:left|top|text-indent)\s*:\s*-\d{3,}",
    re.I,
)
BREAKING = frozenset(
    (
        "p",
        "div",
        "section",
        "article",
        "main",
        "header",
        "body",
        "html",
        "table",
        "ul",
        "ol",
        "dl",
        "dt",
        "dd",
        "li",
        "pre",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "blockquote",
        "figure",
        "figcaption",
        "address",
        "details",
        "summary",
        "hr",
        "tr",
        "td",
        "th",
        "form",
        "fieldset",
        "center",
        "aside",
        "nav",
        "footer",
    )
)
DATES = ("article:published_time", "date", "dc.date", "pubdate", "last-modified", "publishdate")


def parse_html(path: Path, *, name: str, settings: ParseSettings) -> Document:
    from selectolax.lexbor import LexborHTMLParser

    decoded = read_text(path, settings)
    tree = LexborHTMLParser(decoded.text)
    title = tree.css_first("title")
    heading = tree.css_first("h1")
    dated = next((found for found in map(iso_date, _dates(tree)) if found), None)
    said = _text(heading) if heading else ""
    named = said or (_text(title) if title else "")
    blocks, furniture = _main_blocks(tree, decoded.text)
    document = build(
        blocks,
        name=name,
        media_type="text/html",
        title=named,
        dated=dated,
        encoding=decoded.encoding,
    )
    return document.model_copy(update={"furniture": furniture})


def text_of_html(data: bytes) -> str:
    """All visible text, one block a line."""
    return "\n".join(block.text for block in blocks_of_html(decode(data).text) if not block.hidden)


def blocks_of_html(html: str) -> Iterator[Block]:
    """Blocks of a fragment, nothing left out as furniture."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(html)
    for node in tree.css(DROPPED):
        node.decompose()
    if tree.body:
        yield from _walk(tree.body, None)


def _dates(tree: Any) -> Iterator[str]:
    for node in tree.css("meta"):
        values = node.attributes
        if (values.get("property") or values.get("name") or "").lower() in DATES:
            yield values.get("content") or ""
    for node in tree.css("time[datetime]"):
        yield node.attributes.get("datetime") or ""


def _main_blocks(tree: Any, html: str) -> tuple[list[Block], tuple[str, ...]]:
    """Blocks of the main element where it holds most of the text, else of the body without what is not content; and
    the text that was left out."""
    for node in tree.css(DROPPED):
        node.decompose()
    body = tree.body
    if body is None:
        return [], ()
    everything = len(body.text() or "")
    for selector in MAIN:
        found = tree.css(selector)
        if len(found) == 1 and len(found[0].text() or "") > 0.3 * everything:
            return list(_walk(found[0], None)), ()
    furniture = [node for node in tree.css(FURNITURE) if node.attributes.get("aria-hidden") != "true"]
    gone: list[str] = []
    if sum(len(node.text() or "") for node in furniture) < 0.8 * everything:
        gone = [_text(node) for node in furniture]
        for node in furniture:
            node.decompose()
    blocks = list(_walk(body, None))
    left_out = boilerplate(html, blocks)
    gone += [blocks[at].text for at in sorted(left_out)]
    return [block for at, block in enumerate(blocks) if at not in left_out], tuple(filter(None, dict.fromkeys(gone)))


def _hidden(node: Any) -> bool:
    values = node.attributes
    return (
        "hidden" in values
        or values.get("aria-hidden") == "true"
        or bool(MARKUP_HIDDEN.search(values.get("style") or ""))
        or (node.tag == "input" and values.get("type") == "hidden")
    )


def _walk(root: Any, hidden: str | None) -> Iterator[Block]:
    """Depth first with an own stack, for pages nest thousands deep. Loose text between blocks is a paragraph."""
    stack: list[tuple[Any, str | None]] = [(root, hidden)]
    loose: list[str] = []
    state: str | None = hidden
    while stack:
        node, hidden = stack.pop()
        if node is None or hidden != state:
            yield from _flush(loose, state)
            state = hidden
            if node is None:
                continue
        if node.tag == "-text":
            loose.append(node.text() or "")
            continue
        if node.tag == "br":
            loose.append("\x00")
            continue
        if _hidden(node):
            hidden = "hidden.markup"
        if node.tag in BREAKING or hidden != state:
            yield from _flush(loose, state)
            state = hidden
        if (blocks := _special(node, hidden)) is not None:
            yield from blocks
            continue
        if node.tag in BREAKING:
            stack.append((None, state))
        stack += [(child, hidden) for child in reversed(list(node.iter(include_text=True)))]
    yield from _flush(loose, state)


def _flush(loose: list[str], hidden: str | None) -> Iterator[Block]:
    lines = (" ".join(line.split()) for line in "".join(loose).split("\x00"))
    text = "\n".join(line for line in lines if line)
    loose.clear()
    if text:
        yield Block(kind="text", text=text, hidden=hidden, engine=ENGINE)


def _special(node: Any, hidden: str | None) -> list[Block] | None:
    """Blocks of an element that is one as a whole; None for one that is walked into."""
    if node.tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
        text = _text(node)
        return [Block(kind="heading", text=text, level=int(node.tag[1]), hidden=hidden, engine=ENGINE)] if text else []
    if node.tag == "pre":
        text = (node.text() or "").strip("\n")
        return [Block(kind="code", text=text, hidden=hidden, engine=ENGINE)] if text.strip() else []
    if node.tag in ("ul", "ol") and not node.css_first("pre, table, h1, h2, h3, h4, h5, h6, [hidden], [style]"):
        text = "\n".join(_items(node, 0))
        return [Block(kind="list", text=text, hidden=hidden, engine=ENGINE)] if text else []
    if node.tag == "table" and not node.css_first("table table") and _is_data(node):
        caption = node.css_first("caption")
        words = _text(caption) if caption else None
        block = table_block(read_html(node.html or ""), caption=words or None, engine=ENGINE)
        return [block.model_copy(update={"hidden": hidden})] if block else []
    return None


def _is_data(node: Any) -> bool:
    """Not a layout table: two columns or more, no headings, code or hidden parts inside."""
    wide = any(len(row.css("td, th")) > 1 for row in node.css("tr"))
    return wide and not node.css_first("h1, h2, h3, pre, [hidden], [style*='none'], [style*='hidden']")


def _items(node: Any, depth: int) -> Iterator[str]:
    number = 0
    for item in node.iter():
        if item.tag != "li":
            continue
        number += 1
        own = " ".join((child.text() or "") for child in item.iter(include_text=True) if child.tag not in ("ul", "ol"))
        mark = f"{number}." if node.tag == "ol" else "-"
        yield f"{'  ' * depth}{mark} {' '.join(own.split())}"
        if depth < 20:
            for child in item.iter():
                if child.tag in ("ul", "ol"):
                    yield from _items(child, depth + 1)


def _text(node: Any) -> str:
    return " ".join((node.text() or "").split())
