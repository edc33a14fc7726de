"""Word and PowerPoint files through python-docx and python-pptx."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipelines.parse.cells import Cell
from pipelines.parse.formats import build, refuse_entities, table_block, whole
from pipelines.parse.settings import ParseSettings
from schemas.document import Block, Document

OFFICE = "application/vnd.openxmlformats-officedocument."
DOCX = OFFICE + "wordprocessingml.document"
PPTX = OFFICE + "presentationml.presentation"
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
HEADING = re.compile(r"^(?:heading|标题)\s*([1-9])$", re.I)
DELETED = {W + "del", W + "moveFrom", W + "instrText", W + "delText"}


def parse_docx(path: Path, *, name: str, settings: ParseSettings) -> Document:
    import docx

    refuse_entities(path)
    with whole("document"), path.open("rb") as file:
        book = docx.Document(file)
        styles = _heading_styles(book)
        blocks = list(_body(book.element.body, styles))
        title = book.core_properties.title or next((b.text for b in blocks if b.kind == "heading"), "")
    return build(blocks, name=name, media_type=DOCX, title=title)


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


def _body(body: Any, styles: dict[str, int]) -> Iterator[Block]:
    """Paragraphs and tables in order; neighbouring list items are one block. Content controls are looked into."""
    items: list[str] = []
    for element in _elements(body):
        item = _item(element) if element.tag == W + "p" else None
        if items and item is None:
            yield Block(kind="list", text="\n".join(items), engine="python-docx")
            items = []
        if element.tag == W + "tbl":
            if block := _table(element):
                yield block
            continue
        text, hidden = _text(element)
        if hidden:
            yield Block(kind="text", text=hidden, hidden="hidden.markup", engine="python-docx")
        if not text:
            continue
        if level := _level(element, styles):
            yield Block(kind="heading", text=text, level=level, engine="python-docx")
        elif item is not None:
            items.append(f"{'  ' * item}- {text}")
        else:
            yield Block(kind="text", text=text, engine="python-docx")
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


def _item(paragraph: Any) -> int | None:
    """Depth of a list item, from 0."""
    properties = paragraph.find(W + "pPr")
    if properties is None:
        return None
    numbering = properties.find(W + "numPr")
    if numbering is not None:
        level = numbering.find(W + "ilvl")
        return min(8, int(level.get(W + "val", "0"))) if level is not None else 0
    style = properties.find(W + "pStyle")
    return 0 if style is not None and style.get(W + "val", "").startswith("List") else None


def _text(element: Any) -> tuple[str, str]:
    """(shown, hidden) text of a paragraph: tracked deletions are left out, hidden runs apart."""
    shown: list[str] = []
    hidden: list[str] = []
    stack = [(element, False)]
    while stack:
        node, secret = stack.pop()
        if node.tag in DELETED:
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
        # A drawing and its fallback hold the same text box twice.
        stack += [(child, secret) for child in reversed(node) if not str(child.tag).endswith("}Fallback")]
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


def parse_pptx(path: Path, *, name: str, settings: ParseSettings) -> Document:
    import pptx

    refuse_entities(path)
    with whole("presentation"), path.open("rb") as file:
        book = pptx.Presentation(file)
        blocks = [block for number, slide in enumerate(book.slides, start=1) for block in _slide(slide, number)]
        title = book.core_properties.title or ""
    if title == "PowerPoint Presentation":
        title = ""
    return build(blocks, name=name, media_type=PPTX, title=title)


def _slide(slide: Any, number: int) -> Iterator[Block]:
    """The title first, then shapes from top to bottom, then the notes."""
    hidden = "hidden.markup" if slide._element.get("show") == "0" else None
    title = slide.shapes.title
    if title is not None and title.text_frame.text.strip():
        text = " ".join(title.text_frame.text.split())
        yield Block(kind="heading", text=text, level=1, page=number, hidden=hidden, engine="python-pptx")
    else:
        yield Block(kind="heading", text=f"{number}", level=1, page=number, hidden=hidden, engine="python-pptx")
    shapes = sorted(_shapes(slide.shapes), key=lambda shape: (shape.top or 0, shape.left or 0))
    for shape in shapes:
        if title is not None and shape.shape_id == title.shape_id:
            continue
        for block in _shape(shape, number):
            yield block.model_copy(update={"hidden": hidden})
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = slide.notes_slide.notes_text_frame.text.strip()
        if notes:
            yield Block(kind="text", text=notes, page=number, hidden=hidden, engine="python-pptx")


def _shapes(shapes: Any) -> Iterator[Any]:
    for shape in shapes:
        if shape.shape_type == 6:  # MSO_SHAPE_TYPE.GROUP
            yield from _shapes(shape.shapes)
        else:
            yield shape


def _shape(shape: Any, number: int) -> Iterator[Block]:
    if getattr(shape, "has_table", False):
        rows = tuple(
            tuple(
                Cell(
                    " ".join(cell.text.split()),
                    cell.span_height if cell.is_merge_origin else 1,
                    cell.span_width if cell.is_merge_origin else 1,
                    y == 0,
                )
                for cell in row.cells
                if not cell.is_spanned
            )
            for y, row in enumerate(shape.table.rows)
        )
        if block := table_block(rows, page=number, engine="python-pptx"):
            yield block
    elif shape.has_text_frame:
        lines = [
            ("  " * p.level + p.text.replace("\v", "\n")).rstrip()
            for p in shape.text_frame.paragraphs
            if p.text.strip()
        ]
        if lines:
            kind = "list" if len(lines) > 1 else "text"
            yield Block(
                kind="list" if kind == "list" else "text", text="\n".join(lines), page=number, engine="python-pptx"
            )
