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
    return {
        "auc": round(_auc(good, bad), 4),
        "good_kept": round(sum(s >= settings.index_from for s in good) / len(good), 4),
        "bad_dropped": round(sum(s < settings.index_from for s in bad) / len(bad), 4),
        "chunks_per_cpu_second": round(len(rows) / max(1e-9, seconds)),
        "kept": {name: f"{sum(found)}/{len(found)}" for name, found in sorted(kept.items())},
    }


def classic(text: str) -> float:
    """The classic recipe: at least 50 characters, of whose words more than 30 % are nouns, verbs or adjectives."""
    import rjieba

    words = rjieba.tag(text)
    content = sum(tag[:1] in ("n", "v", "a") for _, tag in words) / max(1, len(words))
    return content if len(text) >= 50 and content > 0.3 else 0.0


def measure_classic(rows: list[dict[str, str]]) -> dict[str, float]:
    """A text that it drops scores 0."""
    good = [classic(row["text"]) for row in rows if row["label"]]
    bad = [classic(row["text"]) for row in rows if not row["label"]]
    return {
        "auc": round(_auc(good, bad), 4),
        "good_kept": round(sum(s > 0 for s in good) / len(good), 4),
        "bad_dropped": round(sum(s == 0 for s in bad) / len(bad), 4),
    }


def _auc(good: list[float], bad: list[float]) -> float:
    return sum((g > b) + 0.5 * (g == b) for g in good for b in bad) / len(good) / len(bad)


def main() -> None:
    """One JSON object: with the parser's kinds, with every chunk taken for text, and the classic recipe."""
    rows = [json.loads(line) for line in (DATA / "quality/chunks.jsonl").open(encoding="utf-8")]
    ours = {"with_kinds": measure(rows, KINDS), "as_text": measure(rows, {})}
    print(json.dumps({**ours, "classic": measure_classic(rows)}))


if __name__ == "__main__":
    main()
