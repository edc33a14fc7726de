"""Word files through python-docx."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.parse.cells import Cell
from pipelines.parse.formats import build, refuse_entities, table_block, whole
from pipelines.parse.settings import ParseSettings
from schemas.document import Block, Document

OFFICE = "application/vnd.openxmlformats-officedocument."
DOCX = OFFICE + "wordprocessingml.document"
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
HEADING = re.compile(r"^(?:heading|标题)\s*([1-9])$", re.I)
LIST_STYLE = re.compile(r"^List(Bullet|Number|Paragraph|Continue)?(\d)?$")
NOT_HERE = {W + "del", W + "moveFrom", W + "instrText", W + "delText", W + "txbxContent"}
"""Tracked deletions, field codes, and text boxes, which are blocks of their own."""


def parse_docx(path: Path, *, name: str, settings: ParseSettings) -> Document:
    import docx

    refuse_entities(path)
    with whole("document"), path.open("rb") as file:
        book = docx.Document(file)
        blocks = [*_body(book.element.body, Styles(_heading_styles(book), _numbered(book))), *_footnotes(book)]
        title = book.core_properties.title or next((b.text for b in blocks if b.kind == "heading"), "")
        furniture = tuple(dict.fromkeys(_furniture(book)))
    return build(blocks, name=name, media_type=DOCX, title=title).model_copy(update={"furniture": furniture})


def _furniture(book: Any) -> Iterator[str]:
    """Text of headers and footers: shown on every page, indexed on none."""
    for section in book.sections:
        for part in (section.header, section.first_page_header, section.footer, section.first_page_footer):
            if not part.is_linked_to_previous:
                yield from filter(None, (_text(paragraph)[0] for paragraph in part._element.iter(W + "p")))


def _footnotes(book: Any) -> Iterator[Block]:
    """Separators have negative ids or 0 (ECMA-376 part 1, 17.11)."""
    from docx.oxml import parse_xml

    for relation in book.part.rels.values():
        if relation.reltype.endswith(("/footnotes", "/endnotes")) and not relation.is_external:
            for note in parse_xml(relation.target_part.blob):
                text = " ".join(filter(None, (_text(paragraph)[0] for paragraph in note.iter(W + "p"))))
                if text and note.get(W + "type") is None:
                    yield Block(kind="footnote", text=text, engine="python-docx")


def _heading_styles(book: Any) -> dict[str, int]:
    """Depth by style id: by the style's name, or by its outline level."""
    levels: dict[str, int] = {}
    for style in book.styles.element.iterchildren(W + "style"):
        label = style.find(W + "name")
        text = label.get(W + "val", "") if label is not None else ""
        outline = next(style.iter(W + "outlineLvl"), None)
        key = style.get(W + "styleId", "")
        if found := HEADING.match(text):
            levels[key] = min(6, int(found.group(1)))
        elif text.lower() == "title":
            levels[key] = 1
        elif outline is not None and int(outline.get(W + "val", "9")) < 6:
            levels[key] = int(outline.get(W + "val")) + 1
    return levels


@dataclass(frozen=True)
class Styles:
    """Depth of headings by style id, and the lists (number id, level) that are numbered."""

    headings: dict[str, int]
    numbered: frozenset[tuple[str, str]]


def _numbered(book: Any) -> frozenset[tuple[str, str]]:
    """Lists whose marks are no bullets (ECMA-376 part 1, 17.9)."""
    part = next((one.target_part for one in book.part.rels.values() if one.reltype.endswith("/numbering")), None)
    if part is None:
        return frozenset()
    formats: dict[tuple[str, str], str] = {}
    for abstract in part.element.iterchildren(W + "abstractNum"):
        for level in abstract.iterchildren(W + "lvl"):
            found = level.find(W + "numFmt")
            key = (abstract.get(W + "abstractNumId", ""), level.get(W + "ilvl", "0"))
            formats[key] = found.get(W + "val", "") if found is not None else "decimal"
    numbered = set()
    for number in part.element.iterchildren(W + "num"):
        target = number.find(W + "abstractNumId")
        for (abstract_id, level), kind in formats.items():
            if target is not None and target.get(W + "val") == abstract_id and kind not in ("bullet", "none"):
                numbered.add((number.get(W + "numId", ""), level))
    return frozenset(numbered)


def _body(body: Any, styles: Styles) -> Iterator[Block]:
    """Paragraphs and tables in order; neighbouring list items are one block. Content controls are looked into."""
    items: list[str] = []
    counts: list[int] = []
    for element in _elements(body):
        item = _item(element, styles) if element.tag == W + "p" else None
        if items and item is None:
            yield Block(kind="list", text="\n".join(items), engine="python-docx")
            items, counts = [], []
        if element.tag == W + "tbl":
            if block := _table(element):
                yield block
            continue
        text, hidden = _text(element)
        if hidden:
            yield Block(kind="text", text=hidden, hidden="hidden.markup", engine="python-docx")
        if text and (level := _level(element, styles.headings)):
            yield Block(kind="heading", text=text, level=level, engine="python-docx")
        elif text and item is not None:
            depth, ordered = item
            counts = [*counts[: depth + 1], *[0] * (depth + 1 - len(counts))]
            counts[depth] = counts[depth] + 1 if ordered else 0
            items.append(f"{'  ' * depth}{f'{counts[depth]}.' if ordered else '-'} {text}")
        elif text:
            yield Block(kind="text", text=text, engine="python-docx")
        for box in _boxes(element):
            yield from _body(box, styles)
    if items:
        yield Block(kind="list", text="\n".join(items), engine="python-docx")


def _elements(body: Any) -> Iterator[Any]:
    for element in body:
        if element.tag in (W + "p", W + "tbl"):
            yield element
        elif element.tag in (W + "sdt", W + "sdtContent", W + "ins", W + "moveTo"):
            yield from _elements(element)


def _level(paragraph: Any, styles: dict[str, int]) -> int | None:
    style = next(paragraph.iter(W + "pStyle"), None)
    return styles.get(style.get(W + "val", "")) if style is not None else None


def _boxes(paragraph: Any) -> list[Any]:
    """Contents of the text boxes that hang on a paragraph, each once: a drawing and its fallback hold the same."""
    found = []
    stack = list(reversed(paragraph))
    while stack:
        node = stack.pop()
        if node.tag == W + "txbxContent":
            found.append(node)
        elif not str(node.tag).endswith("}Fallback"):
            stack += reversed(node)
    return found


def _item(paragraph: Any, styles: Styles) -> tuple[int, bool] | None:
    """Depth of a list item, from 0, and whether it is numbered."""
    properties = paragraph.find(W + "pPr")
    if properties is None:
        return None
    numbering = properties.find(W + "numPr")
    if numbering is not None:
        level, number = (numbering.find(W + key) for key in ("ilvl", "numId"))
        depth = level.get(W + "val", "0") if level is not None else "0"
        key = number.get(W + "val", "") if number is not None else ""
        return min(8, int(depth)), (key, depth) in styles.numbered
    style = properties.find(W + "pStyle")
    name = LIST_STYLE.match(style.get(W + "val", "")) if style is not None else None
    return (int(name.group(2) or 1) - 1, name.group(1) == "Number") if name else None


def _text(element: Any) -> tuple[str, str]:
    """(shown, hidden) text of a paragraph: tracked deletions are left out, hidden runs apart."""
    shown: list[str] = []
    hidden: list[str] = []
    stack = [(element, False)]
    while stack:
        node, secret = stack.pop()
        if node.tag in NOT_HERE:
            continue
        if node.tag == W + "r":
            vanish = node.find(f"{W}rPr/{W}vanish")
            secret = vanish is not None and vanish.get(W + "val", "1") not in ("0", "false")
        into = hidden if secret else shown
        if node.tag == W + "t":
            into.append(node.text or "")
        elif node.tag in (W + "br", W + "cr"):
            into.append("\n")
        elif node.tag == W + "tab" and node.getparent().tag == W + "r":
            into.append("\t")
        stack += [(child, secret) for child in reversed(node)]
    return "".join(shown).strip(), "".join(hidden).strip()


def _table(table: Any) -> Block | None:
    """Horizontal merges are gridSpan, vertical ones vMerge: restart and continue (ECMA-376 part 1, 17.4)."""
    rows: list[list[Cell]] = []
    open_: dict[int, tuple[int, int]] = {}
    for y, row in enumerate(table.iter(W + "tr")):
        if next(row.iterancestors(W + "tbl")) is not table:
            continue
        head = y == 0 or row.find(f"{W}trPr/{W}tblHeader") is not None
        cells: list[Cell] = []
        x = 0
        for cell in row.iter(W + "tc"):
            if next(cell.iterancestors(W + "tbl")) is not table:
                continue
            properties = cell.find(W + "tcPr")
            span, merge = (
                properties.find(W + key) if properties is not None else None for key in ("gridSpan", "vMerge")
            )
            width = max(1, min(int(span.get(W + "val", "1")), 1000)) if span is not None else 1
            if merge is not None and merge.get(W + "val") != "restart" and x in open_:
                at, index = open_[x]
                above = rows[at][index]
                rows[at][index] = Cell(above.text, above.rows + 1, above.columns, above.header)
            else:
                open_.pop(x, None)
                if merge is not None:
                    open_[x] = (len(rows), len(cells))
                text = " ".join(" ".join(_text(paragraph)[0].split()) for paragraph in cell.iter(W + "p"))
                cells.append(Cell(text.strip(), 1, width, head))
            x += width
        rows.append(cells)
    return table_block(tuple(tuple(row) for row in rows), engine="python-docx")
