"""Write the sample knowledge base: `python -m tests.sample.make_sample DIR`. The same bytes on every run."""

import csv
import io
import re
import shutil
import sys
import zipfile
from collections.abc import Callable
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from tests.sample import texts

WHEN = datetime(2024, 6, 30, 12)
FONT = "china-s"
"""Droid Sans Fallback, which PyMuPDF carries: it also draws Latin letters."""
QUESTIONS = Path(__file__).with_name("evaluation.jsonl")
"""What its readers ask; no release goes live that answers it worse."""


def travel_pdf(year: int) -> bytes:
    """Headings, paragraphs and a ruled table."""
    doc, page = _page()
    y = _write(page, 80, f"差旅报销制度（{year}年版）", 18)
    for heading, text in (("第一条 适用范围", texts.INTRO[year]), ("第二条 住宿标准", texts.LIMIT[year])):
        y = _write(page, _write(page, y + 10, heading, 13), text, 10.5)
    y = _ruled(page, y + 10, texts.TRAVEL[year])
    for heading, text in (("第三条 报销期限", texts.CLAIM), ("第四条 发票遗失", texts.LOST)):
        y = _write(page, _write(page, y + 14, heading, 13), text, 10.5)
    return _pdf(doc)


def scan_pdf() -> bytes:
    """One page that is only an image of text, at 200 dots per inch."""
    import pymupdf

    _, page = _page()
    y = 90.0
    for number, line in enumerate(texts.SCAN):
        y = _write(page, y + 6, line, 20 if number == 0 else 13)
    image = page.get_pixmap(dpi=200, colorspace=pymupdf.csGRAY).tobytes("png")
    doc = pymupdf.open()
    doc.new_page().insert_image(pymupdf.paper_rect("a4"), stream=image)
    return _pdf(doc)


def locked_pdf() -> bytes:
    """Asks for a password. The only file whose bytes differ from run to run: its key is random."""
    import pymupdf

    doc, page = _page()
    _write(page, 80, "合同归档说明", 18)
    out = io.BytesIO()
    doc.subset_fonts()
    doc.save(
        out,
        encryption=pymupdf.PDF_ENCRYPT_AES_256,
        user_pw="sample-user",
        owner_pw="sample-owner",
        garbage=4,
        deflate=True,
    )
    return out.getvalue()


def docx(parts: tuple[tuple[str, int], ...]) -> bytes:
    """Headings (level above 0) and paragraphs."""
    from docx import Document

    doc = Document()
    for text, level in parts:
        if level:
            doc.add_heading(text, level)
        else:
            doc.add_paragraph(text)
    return _office(doc.save)


def xlsx(rows: tuple[tuple[Any, ...], ...]) -> bytes:
    """One sheet, header first."""
    from openpyxl import Workbook

    book = Workbook()
    book.active.title = "价目表"
    for row in rows:
        book.active.append(row)
    return _office(book.save)


def pptx(slides: tuple[tuple[str, str], ...]) -> bytes:
    """Title and body."""
    from pptx import Presentation

    deck = Presentation()
    for title, body in slides:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = body
    return _office(deck.save)


def csv_gb18030(rows: tuple[tuple[str, ...], ...]) -> bytes:
    """As Excel on a Chinese Windows writes it."""
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode("gb18030")


def documents() -> dict[str, bytes]:
    """All files by `source/uri`."""
    travel = travel_pdf(2023)
    return {
        "policies/差旅报销制度-2023.pdf": travel,
        "policies/差旅报销制度-2024.pdf": travel_pdf(2024),
        "policies/采购审批流程.pdf": scan_pdf(),
        "policies/信息安全管理办法.md": texts.SECURITY.encode(),
        "policies/年休假制度.docx": docx(texts.LEAVE),
        "policies/data-retention.html": texts.RETENTION.encode(),
        "policies/合同归档.pdf": locked_pdf(),
        "policies/资产盘点.pdf": travel[: len(travel) // 10],
        "handbook/onboarding.md": texts.ONBOARDING.encode(),
        "handbook/新员工入职指南.docx": docx(texts.GUIDE),
        "handbook/员工通讯录.csv": csv_gb18030(texts.CONTACTS),
        "handbook/办公用品价目表.xlsx": xlsx(texts.PRICES),
        "handbook/产品介绍.pptx": pptx(texts.SLIDES),
        "handbook/incident-response.html": texts.INCIDENTS.encode(),
        "handbook/faq.md": texts.FAQ.encode(),
        "handbook/信息安全管理办法.md": texts.SECURITY.encode(),
        "wiki/deploy.md": texts.DEPLOY.encode(),
        "wiki/archive/deploy.md": texts.DEPLOY.encode(),
        "wiki/deploy-gateway.md": texts.DEPLOY_NEAR.encode(),
        "wiki/vpn.md": texts.VPN.encode(),
        "wiki/数据库备份.md": texts.BACKUP.encode(),
        "wiki/roadmap-draft.md": texts.DRAFT.encode(),
        "wiki/search-api.md": texts.API.encode(),
        "wiki/会议纪要.txt": texts.MINUTES.encode("gb18030"),
        "wiki/incident-2024-05.html": texts.POSTMORTEM.encode(),
        "wiki/empty.md": b"",
    }


def make(folder: Path) -> Path:
    """Write what is missing or differs (an unchanged file keeps its time) and return the path of sources.yaml."""
    for name, data in documents().items():
        path = folder / name
        keep = path.exists() and (path.name == "合同归档.pdf" or path.read_bytes() == data)
        if not keep:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    places = {name: str((folder / name).resolve()) for name in ("policies", "handbook", "wiki")}
    shutil.copyfile(QUESTIONS, folder / QUESTIONS.name)
    sources = folder / "sources.yaml"
    sources.write_text(texts.SOURCES.format(**places), encoding="utf-8")
    return sources


@cache
def _font() -> Any:
    import pymupdf

    return pymupdf.Font(FONT)


def _page() -> tuple[Any, Any]:
    import pymupdf

    doc = pymupdf.open()
    page = doc.new_page()
    page.insert_font(fontname="F0", fontbuffer=_font().buffer)
    return doc, page


def _write(page: Any, y: float, text: str, size: float, x: float = 60, width: float = 475) -> float:
    """Draw a paragraph below `y`, broken at `width` points; the new y."""
    font = _font()
    line = ""
    for character in [*text, "\n"]:
        if character == "\n" or font.text_length(line + character, size) > width:
            y += size * 1.5
            page.insert_text((x, y), line, fontname="F0", fontsize=size)
            line = ""
        line += character
    return y


def _ruled(page: Any, y: float, rows: tuple[tuple[str, ...], ...]) -> float:
    """A table with lines around every cell."""
    widths, height = (160, 160, 155), 24
    for row in rows:
        x = 60.0
        for text, width in zip(row, widths, strict=True):
            page.draw_rect((x, y, x + width, y + height), width=0.8)
            page.insert_text((x + 6, y + 16), text, fontname="F0", fontsize=10.5)
            x += width
        y += height
    return y


def _pdf(doc: Any) -> bytes:
    doc.subset_fonts()
    stamp = f"D:{WHEN:%Y%m%d%H%M%S}Z"
    doc.set_metadata({"creationDate": stamp, "modDate": stamp, "producer": "sample"})
    return bytes(doc.tobytes(garbage=4, deflate=True, no_new_id=True))


def _office(save: Callable[[io.BytesIO], Any]) -> bytes:
    """The file with its clock stopped: zip members and document properties carry one fixed time."""
    made, out = io.BytesIO(), io.BytesIO()
    save(made)
    with zipfile.ZipFile(made) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            data = source.read(name)
            if name == "docProps/core.xml":
                data = re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", f"{WHEN:%Y-%m-%dT%H:%M:%SZ}".encode(), data)
            target.writestr(zipfile.ZipInfo(name, WHEN.timetuple()[:6]), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def main() -> None:
    """Prints where sources.yaml and its three sources are."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.sample.make_sample DIR")
    folder = Path(sys.argv[1])
    sources = make(folder)
    print(f"sources   {sources}")
    for name in ("policies", "handbook", "wiki"):
        count = sum(path.is_file() for path in (folder / name).rglob("*"))
        print(f"{name:<9} {folder / name} ({count} files)")


if __name__ == "__main__":
    main()
