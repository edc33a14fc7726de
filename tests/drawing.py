"""Pages drawn for the tests of OCR."""

import numpy as np
from PIL import Image, ImageDraw, ImageFont


def page(*lines: str) -> np.ndarray:
    """RGB, one line of Latin text under another."""
    image = Image.new("RGB", (900, 120 * len(lines) + 60), "white")
    draw = ImageDraw.Draw(image)
    for row, line in enumerate(lines):
        draw.text((20, 30 + 120 * row), line, fill=(160, 0, 0), font=ImageFont.load_default(36))
    return np.asarray(image)
