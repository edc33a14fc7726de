"""Safe-drop precision and recall, drops of changed texts, and linking, on labelled pairs; then what linking costs from
100,000 chunks (`SLUICE_BENCH_CHUNKS`), beside datasketch, datatrove's defaults (simulated) and the classic SimHash."""

import json
import os
import time
from collections import defaultdict
from pathlib import Path

from pipelines.dedup import compare
from pipelines.dedup.settings import DedupSettings
from tests.bench.cleaning import scale

CHUNKS = int(os.environ.get("SLUICE_BENCH_CHUNKS", "100000"))
PEERS = min(CHUNKS, 10_000)
DATA = Path(os.environ.get("SLUICE_TEST_DATA", "../shared/data"))


def main() -> None:
    """One JSON object: per language, and per kind the shares linked and dropped."""
    rows = [json.loads(line) for line in (DATA / "dedup/pairs.jsonl").open(encoding="utf-8")]
    kinds: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    drops: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    groups: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    start = time.process_time()
    for row in rows:
        verdict = compare(row["a"], row["b"], DedupSettings())
        kinds[f"{row['label']}/{row['kind']}"].append((verdict.outcome != "distinct", verdict.drop))
        # A filling of the same form is linked, and is no member of the group.
        groups[row["lang"]].append((row["label"] != "distinct", verdict.outcome not in ("distinct", "template")))
        if row["label"] != "revision":
            drops[row["lang"]].append((row["label"] in ("dup_norm", "near"), verdict.drop))
    seconds = time.process_time() - start
    figures: dict[str, object] = {"pairs_per_cpu_second": round(len(rows) / seconds)}
    for language, pairs in drops.items():
        hits = sum(truth and drop for truth, drop in pairs)
        figures[language] = {
            "precision": round(hits / max(1, sum(drop for _, drop in pairs)), 4),
            "recall": round(hits / max(1, sum(truth for truth, _ in pairs)), 4),
            "group_f1": round(_f1(groups[language]), 4),
        }
    for kind, found in sorted(kinds.items()):
        figures[kind] = [len(found), sum(linked for linked, _ in found), sum(drop for _, drop in found)]
    figures["at_scale"] = {
        "sluice": scale.ours(CHUNKS, DedupSettings()),
        "datasketch": scale.peer(PEERS, scale.datasketch),
        "datatrove_like": scale.peer(PEERS, scale.datatrove_like),
        "simhash": scale.peer(min(PEERS, 2_000), scale.simhash),
    }
    print(json.dumps(figures, ensure_ascii=False))


def _f1(pairs: list[tuple[bool, bool]]) -> float:
    right = sum(truth and found for truth, found in pairs)
    return 2 * right / max(1, sum(truth for truth, _ in pairs) + sum(found for _, found in pairs))


if __name__ == "__main__":
    main()
