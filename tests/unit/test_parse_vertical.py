"""Text that runs down the page, or stands on its side, is read in its own order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.parse.lines import Line
from pipelines.parse.vertical import stacked, turned, upright

HAN = "会议于三月召开并批准"


def column(x: float, text: str, pitch: float = 18.0) -> list[Line]:
    return [Line(character, (x, 100 + pitch * n, x + 14, 114 + pitch * n), 14.0) for n, character in enumerate(text)]


def test_characters_below_each_other_are_columns_from_right_to_left() -> None:
    lines = stacked([*column(100, HAN), *column(140, HAN[::-1])])
    assert [(line.text, line.turns) for line in lines] == [(HAN[::-1], 1), (HAN, 1)]
    assert turned(lines) == 1


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([one for x in range(10) for one in column(100 + 18 * x, HAN)], id="a grid"),
        pytest.param([Line("会议于三月召开", (0, 20 * n, 100, 20 * n + 14), 14.0) for n in range(9)], id="lines"),
        pytest.param(column(100, "abcdefghij"), id="letters"),
    ],
)
def test_other_pages_stay_as_they_are(lines: list[Line]) -> None:
    assert stacked(lines) == lines


@given(st.tuples(*[st.floats(-1e4, 1e4)] * 4), st.integers(0, 3))
def test_a_box_that_was_turned_can_be_turned_back(box: tuple[float, float, float, float], turns: int) -> None:
    assert upright(upright(box, turns), (4 - turns) % 4) == box
