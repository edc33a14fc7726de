"""Files made for the bench: text layers that lie, long and mixed reports."""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

GARBLED = (
    "ocrmy_truetype_font_nomapping.pdf",
    "p4l_FFFD.pdf",
    "pdfminer_791_non-unicode-cmap.pdf",
    "mupdf_has-bad-fonts.pdf",
)
"""Real files whose text layer is not what the page shows."""
GOOD = (
    "syn_twocol.pdf",
    "syn_single_three.pdf",
    "syn_watermark.pdf",
    "syn_twocol_long.pdf",
    "mupdf_chinese-tables.pdf",
    "mupdf_4546.pdf",
    "plumber_issue-336-example.pdf",
    "plumber_issue-461-example.pdf",
    "plumber_issue-67-example.pdf",
    "p2d_table-empty-cell.pdf",
    "docling_multi_page.pdf",
    "docling_redp5110_sampled.pdf",
    "docling_code_and_formula.pdf",
    "docling_normal_4pages.pdf",
    "icdar_eu-003.pdf",
    "icdar_us-018.pdf",
    "icdar_us-030.pdf",
    "tabula_schools.pdf",
    "olm_earnings.pdf",
    "olm_math_2503_04086.pdf",
    "unst_reliance.pdf",
    "pdfminer_kampo.pdf",
    "pdfjs_issue19360.pdf",
    "pdfjs_prefilled_f1040.pdf",
    "unst_multi-column-2p.pdf",
)
SOURCES = (
    "syn_twocol.pdf",
    "mupdf_chinese-tables.pdf",
    "plumber_issue-336-example.pdf",
    "docling_multi_page.pdf",
    "olm_earnings.pdf",
)
HEX = re.compile(rb"<([0-9A-Fa-f]{4,})>(?=\s*(?:\n|$|\]))")


def garbled(data: Path, folder: Path) -> Iterator[tuple[Path, None]]:
    """Good files with their ToUnicode maps taken out, shuffled, shifted or sent to the private use area."""
    import pikepdf

    for name in SOURCES:
        for kind in ("none", "shuffled", "shifted", "private"):
            with pikepdf.open(data / name) as pdf:
                if not sum(_spoil(font, kind) for font in _fonts(pdf)):
                    continue
                path = folder / f"{kind}_{name}"
                pdf.save(path)
            yield path, None


def _fonts(pdf: Any) -> Iterator[Any]:
    import pikepdf

    for item in pdf.objects:
        if isinstance(item, pikepdf.Dictionary) and item.get("/Type") == "/Font" and "/ToUnicode" in item:
            yield item


def _spoil(font: Any, kind: str) -> bool:
    """Only fonts whose codes mean nothing without the map can be spoilt."""
    if font.get("/Subtype") != "/Type0":
        return False
    if kind == "none":
        del font["/ToUnicode"]
        return True
    stream = font.ToUnicode
    data = bytes(stream.read_bytes())
    targets = sorted(set(re.findall(rb"<[0-9A-Fa-f]+>\s+<([0-9A-Fa-f]{4})>", data)))
    if kind == "shuffled":
        mixed = targets[:]
        random.Random(7).shuffle(mixed)
        new = dict(zip(targets, mixed, strict=True))
    elif kind == "shifted":
        new = {code: b"%04X" % min(int(code, 16) + 3, 0xFFFD) for code in targets}
    else:
        new = {code: b"%04X" % (0xE000 + number % 0x18FF) for number, code in enumerate(targets)}
    stream.write(re.sub(rb"(<[0-9A-Fa-f]+>\s+)<([0-9A-Fa-f]{4})>", lambda m: m[1] + b"<" + new[m[2]] + b">", data))
    return True


def doubted(path: Path) -> tuple[int, int]:
    """Pages whose text layer is not believed, and pages with text."""
    import pymupdf

    from pipelines.parse.drawn import drawn_on
    from pipelines.parse.lines import page_lines
    from pipelines.parse.trust import doubt

    doubts = pages = 0
    with pymupdf.open(path) as pdf:
        for page in pdf:
            lines = [line for line in page_lines(page, drawn_on(page)) if not line.hidden]
            if lines:
                pages += 1
                doubts += bool(doubt(lines))
    return doubts, pages


def speed_files(data: Path, folder: Path) -> dict[str, Path]:
    """Plain pages, pages with tables, scans, and a report of fourteen plain pages and six with tables."""
    import pymupdf

    long = data / "unst_DA-619p.pdf"
    report = data / "plumber_issue-67-example.pdf"
    plain = long_report(folder / "fast.pdf", 400)
    rich, mixed, scans = pymupdf.open(), pymupdf.open(), pymupdf.open()
    with pymupdf.open(report) as source, pymupdf.open(plain) as other:
        rich.insert_pdf(source, from_page=4, to_page=13)
        mixed.insert_pdf(other, from_page=0, to_page=13)
        mixed.insert_pdf(source, from_page=4, to_page=9)
    for name in ("odb_05.jpg", "odb_16.jpg"):
        page = scans.new_page(width=595, height=842)
        page.insert_image(page.rect, filename=data / name)
    files = {"fast_made": plain}
    if long.is_file():
        with pymupdf.open(long) as source:
            some = pymupdf.open()
            some.insert_pdf(source, from_page=100, to_page=199)
            some.save(folder / "long.pdf")
        files["real_text_100"] = folder / "long.pdf"
    for name, pdf in (("rich", rich), ("mixed", mixed), ("ocr", scans)):
        pdf.save(folder / f"{name}.pdf")
        files[name] = folder / f"{name}.pdf"
    return files


def long_report(path: Path, pages: int) -> Path:
    """Numbered paragraphs with running header and page number."""
    import pymupdf

    pdf = pymupdf.open()
    line = "The committee took note of item {} and asked the office to report on it in its next meeting."
    for number in range(1, pages + 1):
        page = pdf.new_page()
        page.insert_text((72, 40), "ACME annual report", fontsize=8)
        page.insert_text((290, 820), str(number), fontsize=8)
        page.insert_text((72, 90), [line.format(number * 40 + row) for row in range(40)], fontsize=10, lineheight=1.7)
    pdf.save(path, deflate=True)
    return path
