"""PowerPoint files through python-pptx."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipelines.parse.cells import Cell
from pipelines.parse.formats import build, plain_grid, refuse_entities, table_block, whole
from pipelines.parse.settings import ParseSettings
from schemas.document import Block, Document

PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"


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
    for shape in _shapes(slide.shapes):
        if title is not None and shape.shape_id == title.shape_id:
            continue
        for block in _shape(shape, number):
            yield block.model_copy(update={"hidden": hidden})
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = slide.notes_slide.notes_text_frame.text.strip()
        if notes:
            yield Block(kind="text", text=notes, page=number, hidden=hidden, engine="python-pptx")


def _shapes(shapes: Any) -> Iterator[Any]:
    """From top to bottom, then from left to right; a group is read as a whole, where it stands."""
    for shape in sorted(shapes, key=lambda one: (one.top or 0, one.left or 0)):
        if shape.shape_type == 6:  # MSO_SHAPE_TYPE.GROUP
            yield from _shapes(shape.shapes)
        else:
            yield shape


def _chart(chart: Any, number: int) -> Block | None:
    """A chart as the table behind it."""
    plots = list(chart.plots)
    if not plots:
        return None
    series = [one for plot in plots for one in plot.series]
    rows = [["", *(str(one.name) for one in series)]]
    for at, category in enumerate(plots[0].categories):
        values = [one.values[at] if at < len(one.values) else None for one in series]
        rows.append([str(category), *("" if value is None else f"{value:g}" for value in values)])
    named = chart.has_title and chart.chart_title.has_text_frame
    caption = chart.chart_title.text_frame.text if named else None
    return table_block(plain_grid(rows, header=True), page=number, caption=caption, engine="python-pptx")


def _shape(shape: Any, number: int) -> Iterator[Block]:
    if getattr(shape, "has_chart", False):
        if block := _chart(shape.chart, number):
            yield block
        return
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
