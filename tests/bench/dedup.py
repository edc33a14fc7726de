"""Safe-drop precision and recall, drops of changed texts, and linking, on labelled pairs."""

import json
import os
import time
from collections import defaultdict
from pathlib import Path

from pipelines.dedup import compare
from pipelines.dedup.settings import DedupSettings

DATA = Path(os.environ.get("SLUICE_TEST_DATA", "../shared/data"))


def main() -> None:
    """One JSON object: per language, and per kind the shares linked and dropped."""
    rows = [json.loads(line) for line in (DATA / "dedup/pairs.jsonl").open(encoding="utf-8")]
    kinds: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    drops: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    start = time.process_time()
    for row in rows:
        verdict = compare(row["a"], row["b"], DedupSettings())
        kinds[f"{row['label']}/{row['kind']}"].append((verdict.outcome != "distinct", verdict.drop))
        if row["label"] != "revision":
            drops[row["lang"]].append((row["label"] in ("dup_norm", "near"), verdict.drop))
    seconds = time.process_time() - start
    figures: dict[str, object] = {"pairs_per_cpu_second": round(len(rows) / seconds)}
    for language, pairs in drops.items():
        hits = sum(truth and drop for truth, drop in pairs)
        figures[language] = {
            "precision": round(hits / max(1, sum(drop for _, drop in pairs)), 4),
            "recall": round(hits / max(1, sum(truth for truth, _ in pairs)), 4),
        }
    for kind, found in sorted(kinds.items()):
        figures[kind] = [len(found), sum(linked for linked, _ in found), sum(drop for _, drop in found)]
    print(json.dumps(figures, ensure_ascii=False))


if __name__ == "__main__":
    main()
