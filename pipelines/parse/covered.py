"""Text that was drawn first and then painted over by an image or a filled rectangle: no reader of the page sees it."""

from collections.abc import Sequence
from typing import Any

from pipelines.parse.drawn import Drawn
from pipelines.parse.order import Rectangle

SLACK = 1.0
"""Points by which a line may look out from under its cover."""


def hidden_below(page: Any, boxes: Sequence[Rectangle], drawn: Drawn) -> list[bool]:
    """For each box of a line (before page rotation), whether something opaque was drawn over it later."""
    over = [(number, box) for number, box in drawn.covers if any(_within(line, box) for line in boxes)]
    if not over:
        return [False] * len(boxes)
    texts = [(number, box) for number, (kind, box) in enumerate(page.get_bboxlog()) if kind.endswith("-text")]
    return [_below(line, over, texts) for line in boxes]


def _below(line: Rectangle, over: Sequence[tuple[int, Rectangle]], texts: Sequence[tuple[int, Rectangle]]) -> bool:
    last = max((number for number, box in over if _within(line, box)), default=-1)
    x, y = (line[0] + line[2]) / 2, (line[1] + line[3]) / 2
    own = [number for number, box in texts if box[0] <= x <= box[2] and box[1] - SLACK <= y <= box[3] + SLACK]
    return bool(own) and last > max(own)


def _within(inner: Sequence[float], outer: Sequence[float]) -> bool:
    return bool(
        inner[0] >= outer[0] - SLACK
        and inner[1] >= outer[1] - SLACK
        and inner[2] <= outer[2] + SLACK
        and inner[3] <= outer[3] + SLACK
    )
