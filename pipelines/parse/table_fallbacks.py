"""The same table once more, by other engines, where the first one's numbers are not those of the page.

Ruled lines (pdfplumber, MIT), white space (camelot, MIT), the picture (SLANet-plus, Apache-2.0) with the words of the
text layer in its cells. Each answer must hold every number of the page below it, so that none can make one up.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pipelines.parse.cells import Cell, Grid, flatten
from pipelines.parse.drawn import pixels
from pipelines.parse.lines import Line
from pipelines.parse.order import Rectangle
from pipelines.parse.plain_tables import by_camelot
from pipelines.parse.table_image import read_table

DPI = 150
MARGIN = 3.0
"""Points."""

Engine = Callable[[Any, Path, Rectangle], tuple[Grid, str] | None]


def other_readings(page: Any, path: Path, box: Rectangle, first: Grid) -> Iterator[tuple[Grid, str]]:
    """Grid and engine, cheapest first; made when asked for. `box`: points of an upright page. Those with fewer columns
    than the `first` reading are left out, for their numbers may all stand in one cell."""
    for engine in ENGINES if not page.rotation else ():
        try:
            found = engine(page, path, box)
        except MemoryError:
            raise
        except Exception:  # all of them raise anything on damaged pages; the first reading stays
            continue
        if found and _width(found[0]) >= _width(first):
            yield found


def _width(grid: Grid) -> int:
    return max((len(row) for row in flatten(grid)[:1]), default=0)


def by_rules(page: Any, path: Path, box: Rectangle) -> tuple[Grid, str] | None:
    import pdfplumber

    with pdfplumber.open(path, pages=[page.number + 1]) as pdf:
        plumbed = pdf.pages[0]
        try:
            x1, y1 = min(box[2] + MARGIN, float(plumbed.width)), min(box[3] + MARGIN, float(plumbed.height))
            part = plumbed.crop((max(box[0] - MARGIN, 0), max(box[1] - MARGIN, 0), x1, y1))
            rows = part.extract_table({"vertical_strategy": "lines", "horizontal_strategy": "lines"})
        finally:
            plumbed.close()
    return (_grid(rows), "pdfplumber") if rows else None


def by_space(page: Any, path: Path, box: Rectangle) -> tuple[Grid, str] | None:
    tables = by_camelot(path, page.number + 1)
    best = max(tables, key=lambda one: _common(one.box, box), default=None)
    return (best.grid, best.engine) if best and _common(best.box, box) > 0.5 else None


def by_picture(page: Any, path: Path, box: Rectangle) -> tuple[Grid, str] | None:
    """The model sees the picture, the words come from the text layer."""
    import pymupdf

    scale = DPI / 72
    clip = pymupdf.Rect(box[0] - MARGIN, box[1] - MARGIN, box[2] + MARGIN, box[3] + MARGIN) & page.rect
    image = pixels(page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), clip=clip, alpha=False))
    words = [
        Line(word[4], tuple((v - o) * scale for v, o in zip(word[:4], (clip.x0, clip.y0) * 2, strict=True)), 10 * scale)
        for word in page.get_text("words", clip=clip)
    ]
    return read_table(image, words) if words else None


ENGINES: tuple[Engine, ...] = (by_rules, by_space, by_picture)


def _grid(rows: Sequence[Sequence[str | None]]) -> Grid:
    return tuple(
        tuple(Cell(" ".join((text or "").split()), header=y == 0) for text in row) for y, row in enumerate(rows)
    )


def _common(a: Rectangle, b: Rectangle) -> float:
    """Intersection over union."""
    width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    both = max(0.0, width) * max(0.0, height)
    return both / max(1.0, (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)
