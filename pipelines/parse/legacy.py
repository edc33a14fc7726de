"""Older Office formats (DOC, XLS, PPT, RTF, WPS, ODF) through LibreOffice, where it is installed."""

import contextlib
import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pipelines.errors import Code, Rejected
from pipelines.parse.settings import ParseSettings
from schemas.document import Document

KINDS = {
    "application/msword": "docx",
    "application/rtf": "docx",
    "application/vnd.ms-excel": "xlsx",
    "application/vnd.ms-powerpoint": "pptx",
    "application/vnd.oasis.opendocument.text": "docx",
    "application/vnd.oasis.opendocument.spreadsheet": "xlsx",
    "application/vnd.oasis.opendocument.presentation": "pptx",
}
"""Media type to what it becomes."""


def parse_legacy(path: Path, *, name: str, media_type: str, settings: ParseSettings) -> Document:
    """Raises Rejected(PARSE_LEGACY) without LibreOffice, else (PARSE_CORRUPT | PARSE_TIMEOUT) or that of the result."""
    from pipelines.parse.dispatch import parse_file

    with _converted(path, KINDS[media_type], settings) as current:
        document = parse_file(current, name=f"{Path(name).stem}{current.suffix}", ocr=None, settings=settings)
    return document.model_copy(update={"media_type": media_type})


@contextlib.contextmanager
def _converted(path: Path, kind: str, settings: ParseSettings) -> Iterator[Path]:
    office = shutil.which("soffice") or shutil.which("libreoffice")
    if office is None:
        raise Rejected(Code.PARSE_LEGACY, "an older Office format: install LibreOffice, or save it in a current format")
    with tempfile.TemporaryDirectory(prefix="sluice-office-") as folder:
        source = Path(folder) / "source"
        source.symlink_to(path.resolve())
        command = [
            office,
            f"-env:UserInstallation=file://{folder}/profile",
            "--headless",
            "--norestore",
            "--nolockcheck",
        ]
        _run([*command, "--convert-to", kind, "--outdir", f"{folder}/out", str(source)], settings.page_timeout * 0.9)
        made = Path(folder) / "out" / f"source.{kind}"
        if not made.is_file():
            raise Rejected(Code.PARSE_CORRUPT, "LibreOffice cannot read it: damaged, or it asks for a password")
        yield made


def _run(command: list[str], seconds: float) -> None:
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=_own_memory,
    )
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired as error:
        raise Rejected(Code.PARSE_TIMEOUT, f"LibreOffice took longer than {seconds:g} s") from error
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)  # soffice is a script: its child is what hangs
        process.wait()


def _own_memory() -> None:
    """The limit on the parser's address space is too small for LibreOffice, which maps far more than it uses."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
