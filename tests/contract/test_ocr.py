"""What every `Ocr` promises, on drawn pages. PaddleOCR where `make paddle` has built its environment."""

import os
from pathlib import Path

import numpy as np
import pytest

from pipelines.adapters.paddle import PaddleOcr
from pipelines.adapters.rapidocr import RapidOcr
from pipelines.errors import Code, Misconfigured, Transient
from tests.conftest import ROOT
from tests.drawing import page

PADDLE = Path(os.environ.get("SLUICE_TEST_PADDLE_PYTHON", ROOT / ".venv-paddle" / "bin" / "python"))
pytestmark = pytest.mark.ocr


@pytest.fixture(scope="module", params=["rapidocr", "paddle"])
def ocr(request, tmp_path_factory):
    if request.param == "rapidocr":
        yield RapidOcr()
        return
    if not PADDLE.is_file():
        pytest.skip("no PaddleOCR: run `make paddle`")
    engine = PaddleOcr(str(PADDLE), str(tmp_path_factory.mktemp("paddle")))
    yield engine
    engine.close()


def test_reads_lines_with_their_places(ocr):
    lines = sorted(ocr.read(page("Quarterly report 2026", "Total amount 1,234.56")), key=lambda line: line.quad[1])
    assert [line.text for line in lines] == ["Quarterly report 2026", "Total amount 1,234.56"]
    for line, top in zip(lines, (30, 150), strict=True):
        assert 0.9 < line.confidence <= 1
        xs, ys = line.quad[0::2], line.quad[1::2]
        assert abs(min(xs) - 20) < 15 and top - 15 < min(ys) and max(ys) < top + 60


def test_an_empty_page_has_no_lines(ocr):
    assert ocr.read(np.full((300, 300, 3), 255, np.uint8)) == ()


def test_the_same_page_reads_the_same_twice(ocr):
    image = page("The supplier delivers within thirty days")
    assert ocr.read(image) == ocr.read(image)


def test_the_name_tells_engine_version_and_weights(ocr):
    engine, version, *weights = ocr.name.split()
    assert engine in ("rapidocr", "paddleocr") and version[0].isdigit() and weights


def test_paddle_starts_again_after_its_process_died(ocr):
    if not isinstance(ocr, PaddleOcr):
        pytest.skip("RapidOCR has no process of its own")
    ocr.read(page("one"))
    ocr._process.kill()
    ocr._process.wait()
    assert [line.text for line in ocr.read(page("Second page"))] == ["Second page"]


def test_paddle_names_what_is_missing(tmp_path):
    with pytest.raises(Misconfigured) as error:
        PaddleOcr(str(tmp_path / "python"), str(tmp_path)).read(page("x"))
    assert error.value.code is Code.MISSING_MODEL and "make paddle" in error.value.reason
    with pytest.raises(Misconfigured):
        PaddleOcr("/bin/sh", str(tmp_path), models=str(tmp_path / "none")).read(page("x"))


def test_a_process_that_is_no_paddle_is_told(tmp_path):
    with pytest.raises(Transient):
        PaddleOcr("/bin/true", str(tmp_path)).read(page("x"))
