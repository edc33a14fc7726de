"""The OCR route: turn the page upright, read it, label what was read, read tables from the image."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pipelines.parse.drawn import pixels
from pipelines.parse.furniture import is_page_number
from pipelines.parse.lines import Line, ocr_lines, union
from pipelines.parse.order import Rectangle, inside, reading_order
from pipelines.parse.orientation import quarter_turns
from pipelines.parse.paragraphs import blocks_of
from pipelines.parse.routes import FURNITURE, Context, Read, home, layout_regions, region_heading
from pipelines.parse.scan_tables import table_block, table_places
from pipelines.parse.settings import ParseSettings
from pipelines.parse.vertical import is_vertical, vertical_order
from pipelines.ports import Ocr
from schemas.document import Block, Box

SAMPLE = 3
"""Lines of an OCR layer that are read again."""
LAYER_ALIKE = 0.6
"""Similarity below which an OCR layer is not that of its scan."""
PAGE_SIDE = 960.0
"""Points: what the longer side of a page seldom exceeds (A4 has 842, a PowerPoint slide 960)."""
GOOD = 0.85
"""Mean confidence above which a page is surely upright."""


def ocr(page: Any, number: int, reader: Ocr, context: Context) -> Read:
    """The image never exceeds the pixel cap: the resolution goes down instead. Boxes are those of the page as shown."""
    dpi = _dpi(page, context.settings)
    scale = 72 / dpi
    image, turns, seen = _upright(render(page, dpi), reader, scale)
    lines = [line for line in seen if line.confidence >= context.settings.trusted_confidence]
    if not lines:
        return Read((), warnings=("no text was found in the image",), confidence=0.0)
    weight = sum(len(line.text) for line in lines)
    confidence = sum(line.confidence * len(line.text) for line in lines) / weight
    sizes = sorted(line.size for line in lines)
    scanned = replace(context, body=sizes[len(sizes) // 2] * 1.25)
    regions = _labels(image, lines, scale)
    blocks, furniture = _blocks(image, lines, regions, number, scanned, reader, scale)
    if turns:
        height, width = image.shape[0] * scale, image.shape[1] * scale
        blocks = [_turned_back(block, turns, width, height) for block in blocks]
    warnings = ("turned by a quarter", "upside down", "turned by a quarter")[turns - 1 : turns] if turns else ()
    coverage = round(weight / sum(len(line.text) for line in seen), 3)
    return Read(tuple(blocks), tuple(furniture), warnings, round(confidence, 3), coverage)


def spot_check(page: Any, layer: Sequence[Line], reader: Ocr, settings: ParseSettings) -> float:
    """Mean similarity of the longest lines of an OCR layer with what `reader` sees in their place."""
    import numpy as np
    from rapidfuzz import fuzz

    dpi = _dpi(page, settings)
    image = render(page, dpi)
    alike = []
    for line in sorted(layer, key=lambda line: -len(line.text))[:SAMPLE]:
        x0, y0, x1, y1 = (int(value * dpi / 72) for value in line.box)
        margin = max(6, (y1 - y0) // 2)
        cut = image[max(0, y0 - margin) : y1 + margin, max(0, x0 - margin) : x1 + margin]
        seen = "".join(found.text for found in reader.read(np.ascontiguousarray(cut))) if cut.size else ""
        alike.append(fuzz.partial_ratio("".join(line.text.split()), "".join(seen.split())) / 100)
    return sum(alike) / len(alike)


def _blocks(
    image: Any,
    lines: Sequence[Line],
    regions: Sequence[tuple[Rectangle, str]],
    number: int,
    context: Context,
    reader: Ocr,
    scale: float,
) -> tuple[list[Block], list[str]]:
    """Lines ordered by XY-cut, tables standing in for their lines; furniture apart."""
    tables = table_places(image, lines, regions, scale)
    rest: list[Line] = []
    furniture: list[str] = []
    held: dict[int, list[Line]] = {}
    height = image.shape[0] * scale
    for line in lines:
        if is_page_number(line, lines, height):
            furniture.append(line.text)
            continue
        table = next((i for i, place in enumerate(tables) if inside(line.box, place.box)), None)
        place = home(line, regions)
        if table is not None:
            held.setdefault(table, []).append(line)
        elif place is not None and regions[place][1] in FURNITURE:
            furniture.append(line.text)
        else:
            rest.append(line)
    pieces: list[tuple[Rectangle, Line | Block]] = [(line.box, line) for line in rest]
    for index, members in held.items():
        if len(members) < 3:
            pieces += [(line.box, line) for line in members]
        else:
            block = table_block(image, members, tables[index], number, scale, reader)
            pieces.append((union([line.box for line in members]), block))
    if is_vertical(rest):
        order = vertical_order([box for box, _ in pieces])
    else:
        order = reading_order([box for box, _ in pieces], _line_height(rest))
    blocks: list[Block] = []
    run: list[Line] = []
    for index in order:
        piece = pieces[index][1]
        if isinstance(piece, Line):
            run.append(piece)
            continue
        blocks += _paragraphs(run, regions, number, context, reader.name)
        blocks.append(piece)
        run = []
    return blocks + _paragraphs(run, regions, number, context, reader.name), furniture


def _line_height(lines: Sequence[Line]) -> float | None:
    heights = sorted(line.box[3] - line.box[1] for line in lines)
    return heights[len(heights) // 2] if heights else None


def _paragraphs(
    run: Sequence[Line], regions: Sequence[tuple[Rectangle, str]], number: int, context: Context, engine: str
) -> list[Block]:
    """Runs of lines of the same heading region are headings; all else is cut into paragraphs by its looks."""
    groups: list[tuple[int | None, list[Line]]] = []
    for line in run:
        place = home(line, regions)
        if place is None or regions[place][1] not in ("title", "section-header"):
            place = None
        if groups and groups[-1][0] == place:
            groups[-1][1].append(line)
        else:
            groups.append((place, [line]))
    blocks: list[Block] = []
    for place, members in groups:
        if place is None:
            blocks += blocks_of(members, number, context.body, context.bookmarks, engine)
        else:
            blocks.append(region_heading(regions[place][1], members, number, context, engine))
    return blocks


def _labels(image: Any, lines: Sequence[Line], scale: float) -> list[tuple[Rectangle, str]]:
    """Regions of the layout model on a page that has the image and, invisible, the text that was read in it."""
    import pymupdf

    height, width = image.shape[0] * scale, image.shape[1] * scale
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=width, height=height)
        pixmap = pymupdf.Pixmap(pymupdf.csRGB, image.shape[1], image.shape[0], image.tobytes(), 0)
        page.insert_image(page.rect, pixmap=pixmap)
        for line in lines:
            _write(page, line)
        # Reloaded, so that the model sees the page as it would see one from a file.
        with pymupdf.open("pdf", pdf.tobytes()) as again:
            return layout_regions(again.load_page(0))


def _write(page: Any, line: Line) -> None:
    import pymupdf

    font = "helv" if line.text.isascii() else "china-s"
    across, down = line.box[2] - line.box[0], line.box[3] - line.box[1]
    if down > 2 * across and len(line.text) > 1:  # on end: a character below the other
        step = down / len(line.text)
        for place, character in enumerate(line.text):
            at = pymupdf.Point(line.box[0], line.box[1] + (place + 0.8) * step)
            page.insert_text(at, character, fontname=font, fontsize=max(1.0, min(step, across)), render_mode=3)
        return
    wide = pymupdf.get_text_length(line.text, fontname=font, fontsize=1) or 1.0
    size = max(1.0, min((line.box[2] - line.box[0]) / wide, line.box[3] - line.box[1]))
    start = pymupdf.Point(line.box[0], line.box[3] - 0.2 * (line.box[3] - line.box[1]))
    page.insert_text(start, line.text, fontname=font, fontsize=size, render_mode=3)


def _upright(image: Any, reader: Ocr, scale: float) -> tuple[Any, int, list[Line]]:
    """The image turned as its text stands, the quarter turns that took, and its lines.

    The orientation model mistakes one page in twenty, so a turn has to read better than the page as it is.
    """
    import numpy as np

    def read(turns: int) -> list[Line]:
        return ocr_lines(reader.read(np.ascontiguousarray(np.rot90(image, turns))), scale, 0.0)

    guess = quarter_turns(image)
    found = {guess: read(guess)}
    if guess or _sure(found[guess]) < GOOD or _on_end(found[guess]):
        others = (0,) if guess and _sure(found[guess]) >= GOOD else _others(guess, found[guess])
        found |= {turns: read(turns) for turns in others if turns not in found}
    best = max(found, key=lambda turns: (_score(found[turns]), turns == guess))
    return np.ascontiguousarray(np.rot90(image, best)), best, found[best]


def _others(guess: int, lines: Sequence[Line]) -> tuple[int, ...]:
    if _on_end(lines):
        return ((guess + 1) % 4, (guess + 3) % 4)
    return ((guess + 2) % 4,) if lines else ()


def _sure(lines: Sequence[Line]) -> float:
    weight = sum(len(line.text) for line in lines)
    return sum(line.confidence * len(line.text) for line in lines) / weight if weight else 0.0


def _score(lines: Sequence[Line]) -> float:
    return sum(len(line.text) * line.confidence**4 for line in lines)


def _on_end(lines: Sequence[Line]) -> bool:
    long = [line for line in lines if len(line.text) > 2]
    on_end = sum(line.box[3] - line.box[1] > 1.5 * (line.box[2] - line.box[0]) for line in long)
    return bool(long) and on_end > 0.6 * len(long)


def _turned_back(block: Block, turns: int, width: float, height: float) -> Block:
    """`width`, `height` of the upright page, in points; boxes become those of the page as it lies in the file."""
    if block.box is None:
        return block
    x0, y0, x1, y1 = block.box.x0, block.box.y0, block.box.x1, block.box.y1
    if turns == 1:  # was turned against the clock
        box = (height - y1, x0, height - y0, x1)
    elif turns == 2:
        box = (width - x1, height - y1, width - x0, height - y0)
    else:
        box = (y0, width - x1, y1, width - x0)
    left, top, right, bottom = (round(value, 2) for value in box)
    return block.model_copy(update={"box": Box(x0=left, y0=top, x1=right, y1=bottom)})


def _dpi(page: Any, settings: ParseSettings) -> float:
    """That of the settings, under the cap on pixels; an image file says nothing true of its size on paper, so it is
    taken for a page of `PAGE_SIDE` at most and never blown up."""
    dpi, longest = float(settings.render_dpi), max(page.rect.width, page.rect.height, 1.0)
    if not page.parent.is_pdf:
        own = max((max(image["width"], image["height"]) for image in page.get_image_info()), default=longest)
        dpi = min(dpi, 72 * min(own, PAGE_SIDE * dpi / 72) / longest)
    pixels = page.rect.width * page.rect.height * (dpi / 72) ** 2
    return float(dpi * min(1.0, (settings.max_pixels / max(pixels, 1)) ** 0.5))


def render(page: Any, dpi: float) -> Any:
    """numpy uint8 array, height x width x 3, RGB."""
    import pymupdf

    return pixels(page.get_pixmap(matrix=pymupdf.Matrix(dpi / 72, dpi / 72), colorspace=pymupdf.csRGB, alpha=False))
