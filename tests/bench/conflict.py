"""Conflict detection on labelled pairs of real versions, beside the rule that is commonly used: alike, and a number or
a name differs."""

import gzip
import json
import os
import random
import re
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipelines.conflict.apart import apart
from pipelines.conflict.compare import alike, compare
from tests.bench.contradiction import passages, rules

DATA = Path(os.environ.get("SLUICE_TEST_DATA", "../shared/data"))
NAIVE_SIMILAR = 0.85
_FACTS = re.compile(r"\d+(?:\.\d+)?%?|[A-Z][A-Za-z]+|[一二三四五六七八九十百千万]+[年月日元条款项个人]")


def naive(a: str, b: str) -> bool:
    """Similar texts whose numbers or names differ."""
    return alike(a, b) > NAIVE_SIMILAR and set(_FACTS.findall(a)) != set(_FACTS.findall(b))


def measured(rows: list[dict[str, Any]], rule: Callable[[str, str], bool]) -> dict[str, float]:
    """`precision_updates_apart`: an update that is called a conflict counts neither way."""
    found = [(row["label"], rule(row["a"], row["b"])) for row in rows]
    called = [label for label, yes in found if yes]
    hits = called.count("conflict")
    return {
        "precision": round(hits / max(1, len(called)), 3),
        "recall": round(hits / max(1, sum(label == "conflict" for label, _ in found)), 3),
        "precision_updates_apart": round(hits / max(1, sum(label != "update" for label in called)), 3),
    }


def made() -> dict[str, object]:
    """Over pairs that are made by rule from forms and real passages; and what of each kind is called a conflict."""
    chance = random.Random(41)
    pairs = [
        *rules.pairs(rules.ZH, chance),
        *rules.pairs(rules.EN, chance),
        *passages.pairs(DATA / "retrieval", chance),
    ]
    rows, shares = [], defaultdict(lambda: [0, 0])
    for one in pairs:
        found = compare(one.a, one.b)
        yes = found.outcome == "conflict" and not apart(found, (one.a, one.b), one.headings)
        rows.append({"a": one.a, "b": one.b, "label": one.label, "yes": yes})
        shares[f"{one.label}: {one.kind}"][0] += 1
        shares[f"{one.label}: {one.kind}"][1] += yes
    answers = {(row["a"], row["b"]): bool(row["yes"]) for row in rows}
    figures = measured(rows, lambda a, b: answers[a, b])
    return {
        "pairs": len(pairs),
        "ours": figures,
        "naive": measured(rows, naive),
        "called": dict(sorted(shares.items())),
    }


def main() -> None:
    """One JSON object: both rules on labelled and on made pairs; of known changes, how many are called a conflict."""
    with gzip.open(DATA / "conflict/pairs.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    start = time.process_time()
    ours = measured(rows, lambda a, b: compare(a, b).outcome == "conflict")
    seconds = time.process_time() - start
    figures: dict[str, object] = {"pairs": len(rows), "ours": ours, "naive": measured(rows, naive)}
    figures["made"] = made()
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
