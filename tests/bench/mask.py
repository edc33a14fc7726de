"""Figures of the mask layer on labelled texts, beside Presidio's own recognizers: `python -m tests.bench.mask`."""

import json
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pipelines.mask.analyzer import NAME_TYPES, analyze, analyze_all
from pipelines.mask.rules import Finding, find
from pipelines.mask.settings import MaskSettings

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("SLUICE_TEST_DATA", ROOT.parent / "shared" / "data"))
Find = Callable[[str], Iterable[Finding]]


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def _default(text: str) -> tuple[Finding, ...]:
    return analyze(text, MaskSettings())


def _leak_free(rows: list[dict[str, Any]], finder: Find) -> dict[str, float]:
    """Recall: every letter and digit of the value is covered. Traps: texts without personal data with any finding."""
    hidden = values = flagged = traps = 0
    for row in rows:
        text = row["text"]
        found = [one for one in finder(text) if one.type not in ("ORGANIZATION", "LOCATION", "DATE_TIME", "NRP", "URL")]
        covered = {index for one in found for index in range(one.start, one.end)}
        for start, end, kind in row["spans"]:
            if kind not in ("PERSON", "ORG"):
                values += 1
                hidden += all(i in covered or not text[i].isalnum() for i in range(start, end))
        if row["form"].startswith("NEG"):
            traps += 1
            flagged += bool(found)
    return {"leak_free_recall": round(hidden / values, 4), "traps_flagged": round(flagged / traps, 4)}


def _f1(rows: list[dict[str, Any]], gold_type: str, kind: str, finder: Find) -> float:
    right = found = gold = 0
    for row in rows:
        truth = {(start, end) for start, end, label in row["spans"] if label == gold_type}
        mine = {(one.start, one.end) for one in finder(row["text"]) if one.type == kind}
        right, found, gold = right + len(truth & mine), found + len(mine), gold + len(truth)
    return round(2 * right / (found + gold), 4) if found + gold else 0.0


def _public_texts() -> list[str]:
    sources = ("law", "wiki", "en", "doocs")
    texts = [row[side] for row in _rows("dedup/pairs.jsonl") if row["src"] in sources for side in ("a", "b")]
    return list(dict.fromkeys([*texts, *(row["text"] for row in _rows("quality/chunks.jsonl"))]))


def _false_spans(texts: list[str]) -> dict[str, float]:
    started = time.process_time()
    spans = sum(len(find(text)) for text in texts)
    seconds = time.process_time() - started
    size = sum(map(len, texts))
    return {"rule_spans_per_million": round(spans * 1e6 / size, 1), "rules_chars_per_cpu_s": round(size / seconds)}


def _speed(texts: list[str]) -> dict[str, float]:
    """Rules and names on Chinese text that no cache has seen."""
    chinese = [text for text in texts if sum("\u4e00" <= c <= "\u9fff" for c in text) > len(text) / 2][:800]
    _default("预热：王小明在北京。")
    started = time.process_time()
    people = sum(one.type == "PERSON" for found in analyze_all(chinese, MaskSettings()) for one in found)
    seconds = time.process_time() - started
    size = sum(map(len, chinese))
    return {"chars_per_cpu_s": round(size / seconds), "persons_per_100k_public_chars": round(people * 1e5 / size, 1)}


def _presidio() -> Find:
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry

    from pipelines.adapters.lac import LacNlpEngine

    registry = RecognizerRegistry(supported_languages=["en"])
    registry.load_predefined_recognizers(languages=["en"])
    engine = LacNlpEngine(enabled=False)
    engine.load()
    engine.get_supported_languages = lambda: ["en"]  # type: ignore[method-assign]
    analyzer = AnalyzerEngine(registry=registry, nlp_engine=engine, supported_languages=["en"])
    return lambda text: [Finding(r.start, r.end, r.entity_type) for r in analyzer.analyze(text, language="en")]


def main() -> None:
    _default("预热")
    pii, forms, public = _rows("pii/pii_zh.jsonl"), _rows("pii/form_names.jsonl"), _public_texts()
    figures: dict[str, Any] = {"pii_zh": _leak_free(pii, _default), "public": _false_spans(public) | _speed(public)}
    figures["forms"] = {
        "PER": _f1(forms, "PER", "PERSON", _default),
        "ORG": _f1(forms, "ORG", "ORGANIZATION", _default),
    }
    for name in ("msra_test", "cluener_dev"):
        rows = _rows(f"ner/{name}.jsonl")
        figures[name] = {
            gold: _f1(rows, gold, kind, _default) for gold, kind in zip(("PER", "ORG", "LOC"), NAME_TYPES, strict=True)
        }
    figures["pii_zh_names"] = _f1(pii, "PERSON", "PERSON", _default)
    figures["presidio_predefined"] = _leak_free(pii, _presidio())
    print(json.dumps(figures, ensure_ascii=False))


if __name__ == "__main__":
    main()
