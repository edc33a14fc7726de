"""Area under the curve, good chunks kept and bad ones held back, on labelled chunks."""

import json
import os
import time
from collections import defaultdict
from pathlib import Path

from pipelines.score import score_chunk
from pipelines.score.settings import ScoreSettings
from schemas.chunk import ChunkKind, MaskedChunk

DATA = Path(os.environ.get("SLUICE_TEST_DATA", "../shared/data"))
KINDS: dict[str, ChunkKind] = {"good_table": "table", "good_code": "code", "good_faq": "faq"}


def measure(rows: list[dict[str, str]], kinds: dict[str, ChunkKind]) -> dict[str, object]:
    """Figures at the bar of the index; `kinds`: what the parser would have said of a type of chunk."""
    settings = ScoreSettings()
    good, bad = list[float](), list[float]()
    kept: dict[str, list[bool]] = defaultdict(list)
    start = time.process_time()
    for row in rows:
        kind = kinds.get(row["type"], "text")
        chunk = MaskedChunk(id="0" * 32, ordinal=0, kind=kind, text=row["text"], content_hash="")
        score = score_chunk(chunk, authority="L4", settings=settings).score
        (good if row["label"] else bad).append(score)
        kept[row["type"]].append(score >= settings.index_from)
    seconds = time.process_time() - start
    wins = sum((g > b) + 0.5 * (g == b) for g in good for b in bad)
    return {
        "auc": round(wins / len(good) / len(bad), 4),
        "good_kept": round(sum(s >= settings.index_from for s in good) / len(good), 4),
        "bad_dropped": round(sum(s < settings.index_from for s in bad) / len(bad), 4),
        "chunks_per_cpu_second": round(len(rows) / max(1e-9, seconds)),
        "kept": {name: f"{sum(found)}/{len(found)}" for name, found in sorted(kept.items())},
    }


def main() -> None:
    """One JSON object: with the parser's kinds, and with every chunk taken for text."""
    rows = [json.loads(line) for line in (DATA / "quality/chunks.jsonl").open(encoding="utf-8")]
    print(json.dumps({"with_kinds": measure(rows, KINDS), "as_text": measure(rows, {})}))


if __name__ == "__main__":
    main()
