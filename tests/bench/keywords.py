"""Precision, recall and F1 of five keywords against authors' own, beside jieba's TF-IDF and TextRank."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

from pipelines.extract.keywords import keywords

DATA = Path(os.environ.get("SLUICE_TEST_DATA", "../shared/data"))
COUNT = 5


def ours(text: str) -> list[str]:
    """Noun phrases."""
    return [keyword.text for keyword in keywords(text, COUNT, 10)]


def tf_idf(text: str) -> list[str]:
    """The peer: jieba.analyse (MIT)."""
    import jieba.analyse

    return list(jieba.analyse.extract_tags(text, topK=COUNT))


def text_rank(text: str) -> list[str]:
    """jieba's other method."""
    import jieba.analyse

    return list(jieba.analyse.textrank(text, topK=COUNT))


def measure(rows: list[tuple[str, set[str]]], method: Callable[[str], list[str]]) -> dict[str, float]:
    """Exact match, macro averages; documents per CPU second."""
    method(rows[0][0])
    start = time.process_time()
    found = [method(text) for text, _ in rows]
    seconds = time.process_time() - start
    hits = [len(gold & set(words)) for words, (_, gold) in zip(found, rows, strict=True)]
    precision = sum(hits) / COUNT / len(rows)
    recall = sum(hit / len(gold) for hit, (_, gold) in zip(hits, rows, strict=True)) / len(rows)
    return {
        "precision": round(precision, 4),
        "recall": round(recall, 4),
        "f1": round(2 * precision * recall / max(1e-9, precision + recall), 4),
        "documents_per_cpu_second": round(len(rows) / max(1e-9, seconds)),
    }


def main() -> None:
    """One JSON object of figures."""
    lines = (line.split("\t") for line in (DATA / "keywords.tsv").read_text("utf-8").splitlines())
    rows = [(text, set(gold.split("_"))) for _, text, gold in lines]
    peers = {"jieba_tf_idf": measure(rows, tf_idf), "jieba_text_rank": measure(rows, text_rank)}
    print(json.dumps({"noun_phrases": measure(rows, ours), **peers}))


if __name__ == "__main__":
    main()
