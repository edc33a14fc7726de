"""OCR with PaddleOCR 3.7, which pins what Airflow does not take: in an environment and a process of its own.

Weights: PP-OCRv6 small as ONNX from the rapidocr wheel, or a folder of the site with `det` and `rec`, each with
`inference.yml` and its model (PaddleX's layout of an inference model).
"""

import contextlib
import json
import os
import subprocess
import tempfile
import threading
from functools import cached_property
from pathlib import Path
from typing import Any

from pipelines.errors import Code, Misconfigured, Transient
from schemas.index import OcrLine

WORKER = Path(__file__).with_name("paddle_worker.py")
DETECTION = {
    "Global": {"model_name": "PP-OCRv6_small_det"},
    "PreProcess": {
        "transform_ops": [
            {"DetResizeForTest": {"resize_long": 960}},
            {
                "NormalizeImage": {
                    "mean": [0.485, 0.456, 0.406],
                    "std": [0.229, 0.224, 0.225],
                    "scale": 1 / 255,
                    "order": "hwc",
                }
            },
            {"ToCHWImage": None},
        ]
    },
    "PostProcess": {
        "name": "DBPostProcess",
        "thresh": 0.3,
        "box_thresh": 0.6,
        "max_candidates": 1000,
        "unclip_ratio": 1.5,
    },
}
RECOGNITION = {
    "Global": {"model_name": "PP-OCRv6_small_rec"},
    "PreProcess": {"transform_ops": [{"RecResizeImg": {"image_shape": [3, 48, 320]}}]},
}


class PaddleOcr:
    """An `Ocr`. The process starts with the first page and ends with ours."""

    def __init__(self, python: str, cache: str, models: str = "", threads: int = 1) -> None:
        self._python, self._cache, self._models, self._threads = Path(python), Path(cache), models, threads
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return f"paddleocr {installed(self._python)} {Path(self._models).name or 'PP-OCRv6-small'}"

    @cached_property
    def _folders(self) -> tuple[Path, Path]:
        if not self._models:
            return bundled(self._cache)
        folders = Path(self._models) / "det", Path(self._models) / "rec"
        for folder in folders:
            if not (folder / "inference.yml").is_file():
                raise Misconfigured(Code.MISSING_MODEL, f"there is no {folder / 'inference.yml'}")
        return folders

    def read(self, image: Any) -> tuple[OcrLine, ...]:
        """`image`: numpy uint8, height x width x 3, RGB, upright. Raises Misconfigured(MISSING_MODEL), Transient."""
        import numpy as np

        with self._lock, tempfile.TemporaryDirectory(prefix="sluice-ocr-") as folder:
            path = Path(folder) / "page.npy"
            np.save(path, np.ascontiguousarray(image), allow_pickle=False)
            answer = self._ask({"image": str(path)})
        if "lines" not in answer:
            raise Transient(Code.MODEL_DOWN, f"PaddleOCR: {answer.get('error')}")
        return tuple(
            OcrLine(text=text, quad=tuple(quad), confidence=min(1.0, score))
            for text, quad, score in answer["lines"]
            if text.strip()
        )

    def _ask(self, request: dict[str, str]) -> dict[str, Any]:
        try:
            process = self._running()
            assert process.stdin is not None
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            return _answer(process)
        except (OSError, ValueError) as error:
            self.close()
            raise Transient(Code.MODEL_DOWN, "the PaddleOCR process ended") from error

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            if not self._python.is_file():
                raise Misconfigured(Code.MISSING_MODEL, f"there is no {self._python}: run `make paddle`")
            # -I: neither our modules nor our PYTHONPATH are seen there.
            command = [str(part) for part in (self._python, "-I", WORKER, *self._folders, self._threads)]
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
            hello = _answer(self._process)
            if "ready" not in hello:
                self.close()
                raise Misconfigured(Code.MISSING_MODEL, f"PaddleOCR does not start: {hello.get('error')}")
        return self._process

    def close(self) -> None:
        """End the process. It is started again when it is needed."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        process.wait()


def _answer(process: "subprocess.Popen[bytes]") -> dict[str, Any]:
    """Raises ValueError where the process ended instead."""
    assert process.stdout is not None
    answer = json.loads(process.stdout.readline())
    if not isinstance(answer, dict):
        raise ValueError("no JSON object")
    return answer


def installed(python: Path) -> str:
    """Version of paddleocr beside that interpreter; empty where there is none."""
    found = python.parent.parent.glob("lib/python3*/site-packages/paddleocr-*.dist-info")
    return next((folder.name.removeprefix("paddleocr-").removesuffix(".dist-info") for folder in found), "")


def bundled(cache: Path) -> tuple[Path, Path]:
    """Model folders as PaddleX reads them, over the weights of the rapidocr wheel; made once."""
    import onnxruntime
    import rapidocr

    models = Path(rapidocr.__file__).parent / "models"
    detection, recognition = models / "PP-OCRv6_det_small.onnx", models / "PP-OCRv6_rec_small.onnx"
    target = cache / "PP-OCRv6_small_rec"
    if (target / "inference.yml").is_file():
        return cache / "PP-OCRv6_small_det", target
    facts = onnxruntime.InferenceSession(str(recognition), providers=["CPUExecutionProvider"]).get_modelmeta()
    characters = facts.custom_metadata_map["character"].splitlines()
    decode = {"PostProcess": {"name": "CTCLabelDecode", "character_dict": characters}}
    first = _folder(cache / "PP-OCRv6_small_det", detection, DETECTION)
    return first, _folder(target, recognition, RECOGNITION | decode)


def _folder(target: Path, weights: Path, facts: dict[str, Any]) -> Path:
    """The description is written last, under another name first: a folder that has it is whole."""
    target.mkdir(parents=True, exist_ok=True)
    part = target / f"part.{os.getpid()}"
    part.symlink_to(weights)
    part.replace(target / "inference.onnx")
    part.write_text(json.dumps(facts, ensure_ascii=False), encoding="utf-8")  # JSON is YAML
    part.replace(target / "inference.yml")
    return target
