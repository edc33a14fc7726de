"""The truth that comes with the development data, in one shape."""

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tests.bench.parsing.measures import Cell, Cells, cells_of, plain


class Tables(NamedTuple):
    """Tables of one file."""

    path: Path
    tables: tuple[tuple[int, Cells], ...]
    """Page and cells."""
    chinese: bool


class Body(NamedTuple):
    """What a page or file says, in order, and what must not be in it."""

    path: Path
    blocks: tuple[str, ...]
    furniture: tuple[str, ...]
    chinese: bool
    columns: bool
    tables: tuple[Cells, ...] = ()


def native_tables(data: Path) -> Iterator[Tables]:
    for path in sorted((data / "gt").glob("icdar_*.xml")):
        yield Tables(data / f"{path.stem}.pdf", tuple(_icdar(path)), False)
    for name, tables in json.loads((data / "gt" / "zh_tables.json").read_text("utf-8")).items():
        yield Tables(data / f"{name}.pdf", tuple((table["page"], _given(table)) for table in tables), True)
    for name, page in _synthetic(data).items():
        if page["tables"]:
            yield Tables(data / f"{name}.pdf", tuple((page["tpage"], _given(t)) for t in page["tables"]), True)


def synthetic(data: Path) -> Iterator[Body]:
    for name, page in _synthetic(data).items():
        yield Body(data / f"{name}.pdf", tuple(page["blocks"]), tuple(page["hf"]), True, "twocol" in name)


def scans(data: Path) -> Iterator[Body]:
    for page in json.loads((data / "gt" / "omnidocbench_demo.json").read_text("utf-8")):
        parts = page["layout_dets"]
        ordered = sorted((part for part in parts if part.get("order") is not None), key=lambda part: part["order"])
        tables = tuple(cells_of(_typeset(part["html"])) for part in parts if part["category_type"] == "table")
        kind = page["page_info"]["page_attribute"]
        yield Body(
            path=data / page["file"],
            blocks=tuple(text for part in ordered if (text := _words(part))),
            furniture=tuple(p["text"] for p in parts if p["category_type"] in ("header", "footer", "page_number")),
            chinese="chinese" in kind["language"],
            columns=kind["layout"] != "single_column",
            tables=tables,
        )


def _typeset(html: str) -> str:
    """Signs that the truth writes in LaTeX, as they look on the page."""
    signs = {"pm": "\u00b1", "times": "\u00d7", "sim": "~", "leq": "\u2264", "geq": "\u2265"}
    return re.sub(r"\$\s*\\(\w+)\s*\$", lambda found: signs.get(found[1], found[0]), html)


def page_tests(data: Path) -> dict[str, list[dict[str, Any]]]:
    """olmOCR-bench unit tests by file name."""
    tests: dict[str, list[dict[str, Any]]] = {}
    for line in (data / "gt" / "olmocr_dataset.jsonl").read_text("utf-8").splitlines():
        test = json.loads(line)
        tests.setdefault(f"olm_{test['pdf']}", []).append(test)
    return tests


@cache
def _synthetic(data: Path) -> dict[str, Any]:
    return dict(json.loads((data / "gt" / "synth.json").read_text("utf-8")))


def _words(part: dict[str, Any]) -> str:
    if part["category_type"] == "table":
        return "".join(cell.text for cell in cells_of(part["html"]))
    return str(part.get("text") or part.get("latex") or "")


def _given(table: dict[str, Any]) -> Cells:
    return tuple(Cell(cell["r"], cell["c"], cell["rs"], cell["cs"], plain(cell["t"])) for cell in table["cells"])


def _icdar(path: Path) -> Iterator[tuple[int, Cells]]:
    for table in ElementTree.parse(path).getroot().findall("table"):
        for region in table.findall("region"):
            cells = [_icdar_cell(cell) for cell in region.findall("cell")]
            top, left = min(cell.row for cell in cells), min(cell.column for cell in cells)  # some count from 1
            moved = (cell._replace(row=cell.row - top, column=cell.column - left) for cell in cells)
            yield int(region.get("page", "1")), tuple(moved)


def _icdar_cell(cell: ElementTree.Element) -> Cell:
    row, column = int(cell.get("start-row", "0")), int(cell.get("start-col", "0"))
    rows = int(cell.get("end-row") or row) - row + 1
    columns = int(cell.get("end-col") or column) - column + 1
    return Cell(row, column, rows, columns, plain(cell.findtext("content") or ""))
