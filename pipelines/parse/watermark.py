"""Takes slanted text out of a PDF: a diagonal watermark makes the layout model see one table on the whole page."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

SHOW = ("Tj", "TJ", "'", '"')
Matrix = tuple[float, float, float, float]
"""The turning part a, b, c, d of a PDF matrix (PDF 1.7, 8.3.3)."""
UPRIGHT: Matrix = (1.0, 0.0, 0.0, 1.0)


def strip_slanted(source: Path, target: Path, pages: Sequence[int]) -> None:
    """Write `source` to `target` without the slanted text of the pages with these indexes."""
    import pikepdf

    with pikepdf.open(source) as pdf:
        for index in pages:
            page = pdf.pages[index]
            kept = _without_slanted(pikepdf.parse_content_stream(page))
            page.Contents = pdf.make_stream(pikepdf.unparse_content_stream(kept))
        pdf.save(target)


def _without_slanted(instructions: Sequence[Any]) -> list[Any]:
    kept = []
    stack: list[Matrix] = []
    page = text = UPRIGHT
    for instruction in instructions:
        operator = str(instruction.operator)
        if operator == "q":
            stack.append(page)
        elif operator == "Q" and stack:
            page = stack.pop()
        elif operator == "cm":
            page = _times(_turn(instruction.operands), page)
        elif operator == "BT":
            text = UPRIGHT
        elif operator == "Tm":
            text = _turn(instruction.operands)
        if operator in SHOW and _slanted(_times(text, page)):
            continue
        kept.append(instruction)
    return kept


def _turn(operands: Sequence[Any]) -> Matrix:
    a, b, c, d = (float(value) for value in list(operands)[:4])
    return (a, b, c, d)


def _times(first: Matrix, second: Matrix) -> Matrix:
    a, b, c, d = first
    e, f, g, h = second
    return (a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h)


def _slanted(matrix: Matrix) -> bool:
    across, down = abs(matrix[0]), abs(matrix[1])
    return min(across, down) > 0.1 * max(across, down)
