"""Other tools on the same files: `python peers.py TOOL FILE…`, one JSON line for each file.

Runs in any environment that has the tool; imports nothing of ours.
"""

import json
import re
import sys
import time
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

Read = dict[str, Any]


def pymupdf4llm(path: str) -> Read:
    import pymupdf4llm as tool

    return _markdown(tool.to_markdown(path, header=False, footer=False, show_progress=False))


def markitdown(path: str) -> Read:
    from markitdown import MarkItDown

    return _markdown(MarkItDown().convert(path).text_content)


def unstructured_fast(path: str) -> Read:
    from unstructured.partition.pdf import partition_pdf

    return {"text": "\n".join(str(one) for one in partition_pdf(path, strategy="fast")), "tables": []}


def camelot_hybrid(path: str) -> Read:
    import camelot

    tables = camelot.read_pdf(path, pages="all", flavor="hybrid")
    return {"text": "", "tables": [_html(table.data) for table in tables]}


def pdfplumber_lines(path: str) -> Read:
    import pdfplumber

    texts, tables = [], []
    with pdfplumber.open(path) as pdf:
        for page in pdf.pages:
            texts.append(page.extract_text() or "")
            tables += [_html(table) for table in page.extract_tables()]
            page.close()
    return {"text": "\n".join(texts), "tables": tables}


TOOLS: dict[str, Callable[[str], Read]] = {
    "pymupdf4llm": pymupdf4llm,
    "markitdown": markitdown,
    "unstructured_fast": unstructured_fast,
    "camelot_hybrid": camelot_hybrid,
    "pdfplumber": pdfplumber_lines,
}


def _html(rows: Sequence[Sequence[str | None]]) -> str:
    cells = ("".join(f"<td>{escape((text or '').replace(chr(10), ' '))}</td>" for text in row) for row in rows)
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>"


def _markdown(text: str) -> Read:
    """Pipe tables as HTML; the text as it is."""
    tables, rows = [], []
    for line in [*text.splitlines(), ""]:
        if line.strip().startswith("|"):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
            if not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
                rows.append([re.sub(r"<br>|\*\*", " ", cell) for cell in cells])
        elif rows:
            tables.append(_html(rows))
            rows = []
    return {"text": re.sub(r"[|*#]|<br>|---", " ", text), "tables": tables}


def main() -> None:
    tool = TOOLS[sys.argv[1]]
    for path in sys.argv[2:]:
        started = time.process_time()
        try:
            read = tool(path)
        except Exception as error:  # a peer that fails on a file scores nothing there
            read = {"text": "", "tables": [], "error": f"{type(error).__name__}"}
        print(json.dumps({"file": path, "cpu": time.process_time() - started, **read}), flush=True)


if __name__ == "__main__":
    main()
