"""XML without a known vocabulary: repeated flat records as tables, what has text of its own as paragraphs."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipelines.parse.formats import build, refuse_entity_in, whole
from pipelines.parse.settings import ParseSettings
from pipelines.parse.sheets import row_groups
from pipelines.parse.text import read_text
from schemas.document import Block, Document

ENGINE = "lxml"
TITLE = re.compile(r"^(?:title|heading|head|subject|h[1-6]|标题)$", re.I)


def read_xml(data: bytes) -> Any:
    """The root element. Nothing is fetched and no entity is expanded. Raises Rejected(PARSE_XXE | BOMB | CORRUPT)."""
    from lxml import etree

    refuse_entity_in(data, "the XML")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True
    )
    with whole("XML"):
        return etree.fromstring(data, parser)


def parse_xml(path: Path, *, name: str, settings: ParseSettings) -> Document:
    decoded = read_text(path, settings)
    # The declaration may name another encoding than the one that the bytes turned out to be in.
    text = re.sub(r"^\ufeff?\s*<\?xml[^>]*\?>", "", decoded.text, count=1)
    blocks = list(_blocks(read_xml(text.encode("utf-8")), 0))
    return build(blocks, name=name, media_type="application/xml", encoding=decoded.encoding)


def _blocks(root: Any, level: int) -> Iterator[Block]:
    """Depth first with an own stack, for XML nests thousands deep."""
    stack: list[tuple[Any, int]] = [(root, level)]
    while stack:
        element, level = stack.pop()
        children = [child for child in element if isinstance(child.tag, str)]
        if _is_table(children):
            keys = list(dict.fromkeys(_tag(field) for child in children for field in child))
            fields = ({_tag(field): _text(field) for field in child} for child in children)
            yield from row_groups(([one.get(key, "") for key in keys] for one in fields), None, head=keys)
        elif not children or _is_mixed(element, children):
            if text := _text(element):
                title = bool(TITLE.match(_tag(element))) and len(text) <= 200
                yield Block(
                    kind="heading" if title else "text",
                    text=text,
                    level=min(6, max(1, level)) if title else None,
                    engine=ENGINE,
                )
        else:
            stack += [(child, level + 1) for child in reversed(children)]


def _is_table(children: list[Any]) -> bool:
    """Two siblings or more of one name, whose own children are all leaves."""
    if len(children) < 2 or len({child.tag for child in children}) > 1:
        return False
    return all(len(child) > 1 and all(len(field) == 0 for field in child) for child in children)


def _is_mixed(element: Any, children: list[Any]) -> bool:
    return bool((element.text or "").strip()) or any((child.tail or "").strip() for child in children)


def _tag(element: Any) -> str:
    return str(element.tag).rsplit("}", 1)[-1] if isinstance(element.tag, str) else ""


def _text(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())
