"""Conflict detection on labelled pairs of real versions, beside the rule that is commonly used: alike, and a number or
a name differs."""

import gzip
import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from pipelines.conflict.compare import alike, compare

DATA = Path(os.environ.get("SLUICE_TEST_DATA", "../shared/data"))
NAIVE_SIMILAR = 0.85
_FACTS = re.compile(r"\d+(?:\.\d+)?%?|[A-Z][A-Za-z]+|[一二三四五六七八九十百千万]+[年月日元条款项个人]")


def naive(a: str, b: str) -> bool:
    """Similar texts whose numbers or names differ."""
    return alike(a, b) > NAIVE_SIMILAR and set(_FACTS.findall(a)) != set(_FACTS.findall(b))


def measured(rows: list[dict[str, str]], rule: Callable[[str, str], bool]) -> dict[str, float]:
    """`precision_updates_apart`: an update that is called a conflict counts neither way."""
    found = [(row["label"], rule(row["a"], row["b"])) for row in rows]
    called = [label for label, yes in found if yes]
    hits = called.count("conflict")
    return {
        "precision": round(hits / max(1, len(called)), 3),
        "recall": round(hits / max(1, sum(label == "conflict" for label, _ in found)), 3),
        "precision_updates_apart": round(hits / max(1, sum(label != "update" for label in called)), 3),
    }


def main() -> None:
    """One JSON object: both rules on the labelled pairs; on made changes, the share called a conflict by kind."""
    with gzip.open(DATA / "conflict/pairs.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    start = time.process_time()
    ours = measured(rows, lambda a, b: compare(a, b).outcome == "conflict")
    seconds = time.process_time() - start
    figures: dict[str, object] = {"pairs": len(rows), "ours": ours, "naive": measured(rows, naive)}
    figures["pairs_per_cpu_second"] = round(len(rows) / seconds)
    shares: dict[str, list[int]] = {}
    for line in (DATA / "dedup/pairs.jsonl").open(encoding="utf-8"):
        row = json.loads(line)
        count = shares.setdefault(f"{row['lang']}/{row['label']}/{row['kind']}", [0, 0])
        count[0] += 1
        count[1] += compare(row["a"], row["b"]).outcome == "conflict"
    figures["called_a_conflict"] = dict(sorted(shares.items()))
    print(json.dumps(figures, ensure_ascii=False))


if __name__ == "__main__":
    main()
