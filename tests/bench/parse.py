"""Figures of the parse layer on real files with ground truth, beside other tools: `python -m tests.bench.parse`.

`--sample` takes every third file and no peers; `--only PART` one of tables, text, scans, trust, speed, memory.
Peers that are not in this environment are looked for in the one whose Python `SLUICE_PEERS_PYTHON` names.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pipelines.adapters.rapidocr import RapidOcr
from pipelines.errors import Rejected
from pipelines.parse.dispatch import parse_file
from pipelines.parse.settings import ParseSettings
from schemas.document import Document
from tests.bench.parsing import made, truth
from tests.bench.parsing.measures import (
    Cells,
    cells_of,
    kendall,
    match,
    mean,
    numeric_intact,
    plain,
    relations,
    similarity,
    teds,
)
from tests.bench.parsing.peers import TOOLS

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("SLUICE_TEST_DATA", ROOT.parent / "shared" / "data")) / "pdf"
PACKAGES = {"camelot_hybrid": "camelot", "unstructured_fast": "unstructured"}


class Parsed(NamedTuple):
    """What a tool made of a file."""

    text: str
    tables: tuple[tuple[int, Cells], ...]
    """Page (0 where the tool does not say) and cells."""
    cpu: float
    pages: int = 0


@cache
def _ocr() -> RapidOcr:
    return RapidOcr()


@cache
def ours(path: Path) -> Parsed:
    started = time.process_time()
    try:
        document = parse_file(path, name=path.name, ocr=_ocr(), settings=ParseSettings())
    except Rejected:
        document = Document(title="", media_type="application/pdf")
    cpu = time.process_time() - started
    shown = [block for block in document.blocks if not block.hidden]
    tables = tuple((block.page or 0, cells_of(block.html)) for block in shown if block.html)
    text = "\n".join("".join(c.text for c in cells_of(b.html)) if b.html else b.text for b in shown)
    return Parsed(plain(text), tables, cpu, len(document.pages))


def tables(files: Sequence[truth.Tables], read: Any) -> dict[str, Any]:
    """Adjacency is summed over all relations, TEDS averaged over tables; a table that was not found counts 0."""
    scores: dict[str, list[float]] = {"all": [], "zh": []}
    hits: dict[str, Counter[str]] = {"all": Counter(), "zh": Counter()}
    per_file, intact, numeric, found_count, cpu = {}, 0, 0, 0, 0.0
    for file in files:
        parsed = read(file.path)
        cpu += parsed.cpu
        values = []
        for page in sorted({page for page, _ in file.tables}):
            wanted = [cells for number, cells in file.tables if number == page]
            there = [cells for number, cells in parsed.tables if number in (0, page)]
            for a, b in match(wanted, there):
                values.append(teds(a, b) if b else 0.0)
                left, right = relations(a), relations(b)
                kept, of = numeric_intact(a, b)
                intact, numeric, found_count = intact + kept, numeric + of, found_count + bool(b)
                for group in ("all", "zh") if file.chinese else ("all",):
                    scores[group].append(values[-1])
                    hits[group] += Counter(both=(left & right).total(), of=left.total() + right.total())
        per_file[file.path.stem] = round(min(values), 3)
    adjacency = {group: round(2 * one["both"] / one["of"], 4) if one["of"] else 0.0 for group, one in hits.items()}
    return {
        "teds": mean(scores["all"]),
        "adjacency_f1": adjacency["all"],
        "zh_teds": mean(scores["zh"]),
        "zh_adjacency_f1": adjacency["zh"],
        "numeric_intact": round(intact / numeric, 4) if numeric else None,
        "found": f"{found_count} of {len(scores['all'])}",
        "worst": dict(sorted(per_file.items(), key=lambda item: item[1])[:5]),
        "cpu_s": round(cpu, 1),
    }


def body(files: Sequence[truth.Body], read: Any) -> dict[str, Any]:
    """Order, similarity and what furniture is left; tables in images."""
    figures: dict[str, list[float]] = {key: [] for key in ("tau", "tau_columns", "nid", "zh_nid", "image_teds")}
    left = there = 0
    cpu, per_file = 0.0, {}
    for file in files:
        parsed = read(file.path)
        cpu += parsed.cpu
        tau = kendall(file.blocks, parsed.text)
        near = similarity("".join(file.blocks), parsed.text)
        for key, value in (("tau", tau), ("tau_columns", tau if file.columns else None), ("nid", near)):
            if value is not None:
                figures[key].append(value)
        if file.chinese:
            figures["zh_nid"].append(near)
        tables = [teds(a, b) if b else 0.0 for a, b in match(file.tables, [cells for _, cells in parsed.tables])]
        figures["image_teds"] += tables
        residue = [text for text in file.furniture if plain(text) and plain(text) in parsed.text]
        left, there = left + len(residue), there + len(file.furniture)
        per_file[file.path.stem] = [
            round(near, 3),
            tau if tau is None else round(tau, 3),
            [round(t, 2) for t in tables],
        ]
    means = {key: mean(values) for key, values in figures.items() if values}
    return {**means, "furniture_left": f"{left} of {there}", "cpu_s": round(cpu, 1), "files": per_file}


def page_tests(read: Any, step: int) -> dict[str, str]:
    """olmOCR-bench: strings present, absent or in order; cells with their neighbours are judged in `tables`."""
    passed: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for name, tests in list(truth.page_tests(DATA).items())[::step]:
        if not (DATA / name).is_file():
            continue
        text = read(DATA / name).text
        for test in tests:
            kind = test["type"]
            if kind == "order":
                good = kendall([test["before"], test["after"]], text) == 1
            elif kind in ("present", "absent"):
                good = (plain(test["text"]) in text) is (kind == "present")
            else:
                continue
            total[kind] += 1
            passed[kind] += good
    return {kind: f"{passed[kind]} of {count}" for kind, count in total.items()}


def trust(step: int) -> dict[str, Any]:
    """Pages whose text layer lies, real and made, and pages whose text is good."""
    with tempfile.TemporaryDirectory() as folder:
        bad = [
            *made.garbled(DATA, Path(folder)),
            *((DATA / name, None) for name in made.GARBLED if (DATA / name).is_file()),
        ]
        good = [(DATA / name, None) for name in made.GOOD if (DATA / name).is_file()]
        caught = {path.name: made.doubted(path) for path, _ in bad[::step]}
        alarms = {path.name: made.doubted(path) for path, _ in good[::step]}
    missed = [name for name, (doubted, _) in caught.items() if not doubted]
    return {
        "caught": f"{sum(d for d, _ in caught.values())} of {sum(n for _, n in caught.values())}",
        "missed": missed,
        "false_alarms": f"{sum(d for d, _ in alarms.values())} of {sum(n for _, n in alarms.values())}",
        "alarmed": [name for name, (doubted, _) in alarms.items() if doubted],
    }


def speed() -> dict[str, float]:
    """Pages per CPU second of one process, engines warm."""
    ours(DATA / "syn_twocol.pdf")
    ours(DATA / "odb_01.jpg")
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, path in made.speed_files(DATA, Path(folder)).items():
            parsed = ours(path)
            figures[name] = round(parsed.pages / parsed.cpu, 2)
    return figures


def memory(pages: int) -> dict[str, Any]:
    """Peak resident megabytes of a fresh process over that many pages."""
    with tempfile.TemporaryDirectory() as folder:
        path = made.long_report(Path(folder) / "long.pdf", pages)
        code = (
            "import re, sys, time; from pathlib import Path; from pipelines.parse.dispatch import parse_file;"
            "from pipelines.parse.settings import ParseSettings; p = Path(sys.argv[1]);"
            "d = parse_file(p, name=p.name, ocr=None, settings=ParseSettings());"
            # Not `ru_maxrss`, which a process takes over from the one that started it.
            "peak = re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1];"
            "print(len(d.pages), int(peak) // 1024, time.process_time())"
        )
        done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    read, peak, cpu = done.stdout.split()
    return {"pages": int(read), "peak_mb": int(peak), "cpu_s": round(float(cpu), 1)}


def peers(native: Sequence[truth.Tables], texts: Sequence[truth.Body]) -> dict[str, Any]:
    results: dict[str, Any] = {}
    paths = list(dict.fromkeys([file.path for file in native] + [file.path for file in texts]))
    for tool in TOOLS:
        python = _python_with(PACKAGES.get(tool, tool))
        if python is None:
            results[tool] = "not installed here"
            continue
        read = _peer(tool, python, paths)
        found = tables(native, read)
        text = body(texts, read) if tool != "camelot_hybrid" else {}
        results[tool] = {
            key: found[key] for key in ("teds", "adjacency_f1", "zh_adjacency_f1", "numeric_intact", "cpu_s")
        }
        results[tool] |= {key: text[key] for key in ("tau", "tau_columns", "furniture_left") if key in text}
    return results


def _python_with(package: str) -> str | None:
    if importlib.util.find_spec(package):
        return sys.executable
    other = os.environ.get("SLUICE_PEERS_PYTHON")
    if not other:
        return None
    return other if subprocess.run([other, "-c", f"import {package}"], capture_output=True).returncode == 0 else None


def _peer(tool: str, python: str, paths: Sequence[Path]) -> Any:
    script = Path(__file__).parent / "parsing" / "peers.py"
    done = subprocess.run([python, str(script), tool, *map(str, paths)], capture_output=True, text=True)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    made_of = {
        Path(row["file"]): Parsed(plain(row["text"]), tuple((0, cells_of(html)) for html in row["tables"]), row["cpu"])
        for row in rows
    }
    return lambda path: made_of.get(path, Parsed("", (), 0.0))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--only", default="")
    chosen = parser.parse_args()
    if not DATA.is_dir():
        print(json.dumps({"bench": "parse", "skipped": "no development data: set SLUICE_TEST_DATA"}))
        return
    step = 3 if chosen.sample else 1
    native = [file for file in truth.native_tables(DATA) if file.path.is_file()][::step]
    texts = [file for file in truth.synthetic(DATA) if file.path.is_file()][::step]
    parts = {
        "tables": lambda: tables(native, ours),
        "text": lambda: body(texts, ours) | page_tests(ours, step),
        "scans": lambda: body([file for file in truth.scans(DATA) if file.path.is_file()][::step], ours),
        "trust": lambda: trust(step),
        "speed": speed,
        "memory": lambda: memory(1000 if chosen.sample else 5000),
        "peers": lambda: "left out of the sample" if chosen.sample else peers(native, texts),
    }
    names = [chosen.only] if chosen.only else list(parts)
    print(json.dumps({"bench": "parse", "sample": chosen.sample, **{n: parts[n]() for n in names}}, ensure_ascii=False))


if __name__ == "__main__":
    main()
