"""What the lines of all pages say together: the size of body text and the furniture."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pipelines.parse import furniture
from pipelines.parse.headings import body_size, size_counts
from pipelines.parse.lines import Line


class Survey(NamedTuple):
    """`body`: points; 0 where no page has text."""

    body: float
    furniture: frozenset[furniture.Key]


def survey(pages: Iterable[tuple[Sequence[Line], float]]) -> Survey:
    """`pages`: lines and height in points of each; taken one by one, so that a long file need not be held whole."""
    sizes: Counter[float] = Counter()
    seen: Counter[furniture.Key] = Counter()
    count = 0
    for lines, height in pages:
        count += 1
        sizes.update(size_counts(line for line in lines if not (line.hidden or line.slanted)))
        seen.update(furniture.candidates(lines, height))
    return Survey(body_size(sizes), furniture.repeated(seen, count))
