"""Page orientation on drawn pages."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from pipelines.parse.orientation import quarter_turns

pytestmark = pytest.mark.ocr


def page(*lines: str) -> np.ndarray:
    image = Image.new("RGB", (900, 120 * len(lines) + 60), "white")
    draw = ImageDraw.Draw(image)
    for row, line in enumerate(lines):
        draw.text((20, 30 + 120 * row), line, fill=(160, 0, 0), font=ImageFont.load_default(36))
    return np.asarray(image)


def test_turning_by_the_quarter_turns_makes_a_page_upright() -> None:
    upright = page(*["The supplier delivers within thirty days of the order"] * 9)
    assert [quarter_turns(np.rot90(upright, k)) for k in range(4)] == [0, 3, 2, 1]
