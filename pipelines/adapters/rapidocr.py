"""OCR with RapidOCR (PP-OCRv6 small; its weights come inside the wheel)."""

import threading
from functools import cached_property
from importlib.metadata import version
from typing import Any

from schemas.index import OcrLine

DETECTION_SIDE = 1280
"""Pixels of the longer side for finding lines, half of what a page has: as many are found, for half the time. Lines
are read at full resolution."""


class RapidOcr:
    """An `Ocr`. One thread a process is cheapest: many threads cost up to half as much CPU again.

    The line classifier stays off, since pages arrive upright, and lines are recognised one
    by one, since a batch is padded to its longest line.
    """

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return f"rapidocr {version('rapidocr')} PP-OCRv6-small"

    @cached_property
    def _engine(self) -> Any:
        from rapidocr import RapidOCR

        return RapidOCR(
            params={
                "Global.use_cls": False,
                "Global.log_level": "critical",
                "Det.limit_type": "max",
                "Det.limit_side_len": DETECTION_SIDE,
                "Rec.rec_batch_num": 1,
                "EngineConfig.onnxruntime.intra_op_num_threads": self._threads,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            }
        )

    def read(self, image: Any) -> tuple[OcrLine, ...]:
        """`image`: numpy uint8, height x width x 3, RGB, upright. Lines in the engine's own order, quads in pixels."""
        import numpy as np

        blue_first = np.ascontiguousarray(image[:, :, ::-1])  # arrays are taken as BGR, OpenCV's order
        with self._lock:
            result = self._engine(blue_first)
        if getattr(result, "boxes", None) is None or getattr(result, "txts", None) is None:
            return ()
        lines = zip(result.boxes, result.txts, result.scores, strict=True)
        return tuple(
            OcrLine(text=text, quad=tuple(float(v) for corner in quad for v in corner), confidence=float(score))
            for quad, text, score in lines
            if text.strip()
        )
