"""Refusals and lexical ranking on question sets with known passages: `python -m tests.bench.retrieval`."""

import gzip
import json
import os
import random
import time
from pathlib import Path
from typing import Any

from pipelines.retrieve.answer import answer
from pipelines.retrieve.settings import RetrieveSettings
from pipelines.retrieve.tokens import lexical_tokens
from schemas.search import Hit, Passage

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("SLUICE_TEST_DATA", ROOT.parent / "shared" / "data")) / "retrieval"
SETS = {"cmrc_zh": "xquad_zh", "xquad_zh": "cmrc_zh"}
"""A corpus, and the set whose questions it cannot answer."""
QUESTIONS = 100


def _rows(name: str) -> list[dict[str, Any]]:
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _hit(row: dict[str, Any], score: float) -> Hit:
    id_, title = str(row["id"]), row.get("title") or ""
    passage = Passage(
        id=id_, chunk=id_, document=id_, version="", release=1, source="", title=title, uri=id_, text=row["text"]
    )
    return Hit(passage=passage, score=score, lexical=score)


def _bm25(corpus: list[dict[str, Any]], questions: list[dict[str, Any]]) -> list[list[Hit]]:
    import bm25s

    ranker = bm25s.BM25()
    texts = [lexical_tokens(f"{row.get('title') or ''} {row['text']}").split() for row in corpus]
    ranker.index(texts, show_progress=False)
    asked = [lexical_tokens(one["text"]).split() for one in questions]
    ids, scores = ranker.retrieve(asked, k=10, show_progress=False)
    return [
        [_hit(corpus[at], float(score)) for at, score in zip(*row, strict=True)]
        for row in zip(ids, scores, strict=True)
    ]


def main() -> None:
    """Prints one JSON object of shares (0..1) by set, and the tokenizer's MB per CPU second."""
    chance, settings, figures = random.Random(7), RetrieveSettings(), dict[str, Any]()
    for name, other in SETS.items():
        corpus = _rows(f"{name}.corpus")
        own = chance.sample(_rows(f"{name}.queries"), QUESTIONS)
        foreign = chance.sample(_rows(f"{other}.queries"), QUESTIONS)
        hits = _bm25(corpus, own)
        first = [{str(one) for one in q["rel"]} & {h[0].passage.id} for q, h in zip(own, hits, strict=True)]
        refused = [not answer(q["text"], h, None, settings).found for q, h in zip(own, hits, strict=True)]
        strangers = zip(foreign, _bm25(corpus, foreign), strict=True)
        answered = [answer(q["text"], h, None, settings).found for q, h in strangers]
        figures[name] = {
            "bm25_hit@1": sum(map(bool, first)) / QUESTIONS,
            "false_refusals": sum(refused) / QUESTIONS,
            "false_answers": sum(answered) / QUESTIONS,
        }
    texts = [row["text"] for row in _rows("cmrc_zh.corpus")]
    start = time.process_time()
    for text in texts:
        lexical_tokens(text)
    size = sum(len(text.encode()) for text in texts) / 1e6
    figures["tokens_mb_per_cpu_second"] = round(size / (time.process_time() - start), 2)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
