"""Timeout, crash, memory and error of a parser stay four outcomes, and no process is left behind."""

import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.errors import Code, Rejected
from pipelines.parse import isolate
from pipelines.parse.settings import OcrFactory, ParseSettings

BEHAVIOUR = """
import os, time
class Bad:
    name = "bad"
    def __init__(self, what): self.what = what
    def read(self, image):
        if self.what == "hang": time.sleep(60)
        if self.what == "die": os._exit(3)
        if self.what == "eat": return bytearray(8 * 2**30)
        raise RuntimeError("no luck")
"""


@pytest.fixture
def scan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page without text, and an OCR engine that misbehaves, importable in the child."""
    import pymupdf

    document = pymupdf.open()
    document.new_page().draw_rect((50, 50, 300, 300), fill=(0, 0, 0))
    document.save(tmp_path / "scan.pdf")
    (tmp_path / "bad_ocr.py").write_text(BEHAVIOUR)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    isolate.shut_down()
    yield tmp_path / "scan.pdf"
    isolate.shut_down()


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("hang", Code.PARSE_TIMEOUT),
        ("die", Code.PARSE_CRASHED),
        pytest.param("eat", Code.PARSE_MEMORY, marks=pytest.mark.slow),
        pytest.param("raise", Code.PARSE_NO_TEXT, marks=pytest.mark.slow),
    ],
)
def test_each_way_to_fail_has_its_code(scan: Path, what: str, code: Code) -> None:
    settings = ParseSettings(page_timeout=3 if what == "hang" else 60)
    ocr = OcrFactory(factory="bad_ocr:Bad", arguments={"what": what})
    with pytest.raises(Rejected) as caught:
        isolate.parse_isolated(scan, name="scan.pdf", settings=settings, ocr_settings=ocr)
    assert caught.value.code is code


def test_a_warm_worker_reads_many_files_and_ends_with_its_parent(tmp_path: Path) -> None:
    import pymupdf

    document = pymupdf.open()
    document.new_page().insert_text((72, 100), "Minutes of the meeting in March")
    document.save(tmp_path / "a.pdf")
    script = f"""
from pathlib import Path
from pipelines.parse import isolate
from pipelines.parse.settings import ParseSettings
for _ in range(2):
    read = isolate.parse_isolated(Path({str(tmp_path / "a.pdf")!r}), name="a.pdf", settings=ParseSettings())
    print(read.blocks[0].text, isolate._idle[0]._process.pid)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=240, check=True)
    first, second = done.stdout.splitlines()
    assert first == second and first.startswith("Minutes of the meeting in March")
    assert not Path(f"/proc/{first.split()[-1]}").exists()
