"""A folder of what goes wrong: each file ends with its own code, all else is staged, and memory stays bounded."""

import os
import random
import zipfile
from pathlib import Path

import pytest

from tests.flow.command import command
from tests.flow.conftest import TOPICS, page

SOURCES = "sources:\n  - {name: mixed, location: docs}\n"
LIMIT = 2 << 30
WORDS = "The register of rooms is kept by the house office and is read out once a year."
NOUNS = ("table", "lamp", "chair", "window", "door", "carpet", "shelf", "mirror", "plant", "clock", "heater")
LOGIN = "<!DOCTYPE html><html><body>Please sign in to read this report.</body></html>"


def pdf(path: Path, pages: int, **options: object) -> Path:
    import pymupdf

    with pymupdf.open() as document:
        chance = random.Random(pages)
        for number in range(pages):
            text = f"Room {number + 1} has a {chance.choice(NOUNS)}."
            document.new_page().insert_text((72, 200 + number % 300), text)
        document.save(path, **options)
    return path


def archive(path: Path, *members: tuple[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in members:
            made.writestr(name, data)


def poison(docs: Path) -> dict[str, str]:
    """Writes the folder; the code that each name is to end with, by a part of the name."""
    import pymupdf

    (docs / "empty.md").touch()
    whole = pdf(docs / "register.pdf", 2000).read_bytes()
    (docs / "half.pdf").write_bytes(whole[: len(whole) // 3])
    archive(docs / "cut.docx", ("word/document.xml", os.urandom(40_000)))
    (docs / "cut.docx").write_bytes((docs / "cut.docx").read_bytes()[:20_000])
    pdf(docs / "locked.pdf", 1, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="x", owner_pw="y")
    (docs / "report.pdf").write_text(LOGIN, encoding="utf-8")
    archive(docs / "bomb.docx", ("word/document.xml", b"<x/>"), ("word/media/a.bin", b"\0" * (300 << 20)))
    archive(docs / "outside.docx", ("word/document.xml", b"<x/>"), ("../../../etc/cron.d/x", b"* * * * *"))
    (docs / "line.txt").write_bytes(b"all in one line " * (50 << 16))
    (docs / "loop").mkdir()
    (docs / "loop" / "again").symlink_to("../loop")
    (docs / "self.md").symlink_to("self.md")
    os.mkfifo(docs / "pipe.md")
    (docs / "secret.md").write_text("# Secret\n\nNobody may read this.\n", encoding="utf-8")
    (docs / "secret.md").chmod(0)
    Path(os.fsdecode(os.fsencode(docs / "x")[:-1] + "费用".encode("gbk") + b".txt")).write_text(WORDS)
    codes = {
        "empty.md": "parse.empty", "half.pdf": "parse.truncated", "cut.docx": "parse.corrupt",
        "locked.pdf": "parse.encrypted", "report.pdf": "parse.mismatch", "bomb.docx": "parse.bomb",
        "outside.docx": "parse.traversal", "line.txt": "parse.long_line", "loop/again": "scan.loop",
        "self.md": "scan.loop", "pipe.md": "scan.unreadable", ".txt": "scan.bad_name",
    }  # fmt: skip
    return codes if os.geteuid() == 0 else {**codes, "secret.md": "scan.unreadable"}


@pytest.mark.slow
def test_each_poisoned_file_ends_with_its_own_code_and_all_else_is_staged(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (tmp_path / "sources.yaml").write_text(SOURCES, encoding="utf-8")
    for topic, paragraphs in TOPICS.items():
        (docs / f"{topic}.md").write_text(page(topic, *paragraphs), encoding="utf-8")
    expected = poison(docs)
    with command(tmp_path / "home", tmp_path / "sources.yaml") as sluice:
        ran = sluice.run("sync")
        report = ran.json()
        found = {one["document"]: one["code"] for one in report["rejections"]}
        said = {part: {code for name, code in found.items() if name.endswith(part)} for part in expected}
        assert {part: code in said[part] for part, code in expected.items()} == dict.fromkeys(expected, True), found
        assert [name for name in found if not name.endswith(tuple(expected))] == []
        staged = sluice("status")["documents"]
        others = len(TOPICS) + 2 + (os.geteuid() == 0)  # the register of 2,000 pages, the odd name, what root may read
        assert staged["staged"] == others, staged
        assert ran.peak < LIMIT
        print(f"peak {ran.peak / 2**20:.0f} MB of the whole process tree, {report['seconds']} s")
        again = sluice("sync")
        assert again["files"]["opened"] == again["files"]["parsed"] == 0
        assert {one["code"].partition(".")[0] for one in again["rejections"]} == {"scan"}
