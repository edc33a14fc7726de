"""Page orientation on drawn pages."""

import numpy as np
import pytest

from pipelines.parse.orientation import quarter_turns
from tests.drawing import page

pytestmark = pytest.mark.ocr


def test_turning_by_the_quarter_turns_makes_a_page_upright() -> None:
    upright = page(*["The supplier delivers within thirty days of the order"] * 9)
    assert [quarter_turns(np.rot90(upright, k)) for k in range(4)] == [0, 3, 2, 1]
