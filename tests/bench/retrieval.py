"""The real search and the real answer on question sets with known passages: `python -m tests.bench.retrieval`.

Beside dense alone, BM25 alone and reciprocal ranks over the same candidates, in one run. Vectors are kept under
SLUICE_HOME: the first run embeds for some minutes, the next ones do not.
"""

import gzip
import json
import os
import random
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pipelines.retrieve.answer import answer
from pipelines.retrieve.search import search
from pipelines.retrieve.settings import RetrieveSettings
from pipelines.retrieve.similarity import similarity
from pipelines.retrieve.tokens import lexical_tokens
from schemas.search import Hit
from tests.bench.corpus_index import CachedEmbedder, Corpus

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("SLUICE_TEST_DATA", ROOT.parent / "shared" / "data")) / "retrieval"
SETS = ("cmrc_zh", "xquad_zh", "nq_en")
OUTSIDE = {"cmrc_zh": "xquad_zh", "xquad_zh": "cmrc_zh", "nq_en": "nq_en"}
"""A corpus, and the set whose questions it cannot answer; of the same set, those whose passages were left out. The last
is the hardest: its passages were retrieved for other questions of the kind."""
QUESTIONS, PASSAGES, SEED = 300, 1104, 7
PLAIN = RetrieveSettings()


def rows(name: str) -> list[dict[str, Any]]:
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def asked(name: str, count: int = QUESTIONS) -> list[dict[str, Any]]:
    size = 400 if name == "nq_en" else 600
    return random.Random(SEED).sample(rows(f"{name}.queries"), size)[:count]


def corpus_of(name: str) -> list[dict[str, Any]]:
    """All passages, or of a long set those that are asked for and a fixed choice of the rest."""
    found = rows(f"{name}.corpus")
    if len(found) <= PASSAGES:
        return found
    need = {str(one) for question in asked(name, 400) for one in question["rel"]}
    rest = [row for row in found if str(row["id"]) not in need]
    kept = [row for row in found if str(row["id"]) in need]
    return kept + random.Random(SEED).sample(rest, 1000 - len(kept))


def ndcg(questions: Sequence[dict[str, Any]], found: Sequence[Sequence[str]]) -> float:
    """NDCG@10, by ir-measures."""
    import ir_measures

    qrels = {q["id"]: {str(one): 1 for one in q["rel"]} for q in questions}
    run = {
        q["id"]: {id_: 1.0 / (at + 1) for at, id_ in enumerate(ids)} for q, ids in zip(questions, found, strict=True)
    }
    measure: Any = ir_measures.parse_measure("nDCG@10")
    return round(float(ir_measures.calc_aggregate([measure], qrels, run)[measure]), 4)


def finder(corpus: Any, embedder: Any, settings: RetrieveSettings) -> Callable[[str], Any]:
    return lambda text: search(text, library=corpus, index=corpus, embedder=embedder, settings=settings)


def ways(corpus: Any, embedder: Any, questions: Sequence[dict[str, Any]]) -> dict[str, float]:
    """NDCG@10 of the product as it comes, and of its parts."""
    hybrid = [finder(corpus, embedder, PLAIN)(one["text"]) for one in questions]
    rrf = finder(corpus, embedder, RetrieveSettings(fusion="rrf"))
    found = {"hybrid": [[hit.passage.id for hit in one.hits] for one in hybrid]}
    found["rrf"] = [[hit.passage.id for hit in rrf(one["text"]).hits] for one in questions]
    for route, name in (("dense", "dense_alone"), ("lexical", "bm25_alone")):
        found[name] = [_route(one.trace.routes, route) for one in hybrid]
    return {name: ndcg(questions, ids) for name, ids in found.items()}


def _route(routes: Any, name: str) -> list[str]:
    return next(([id_ for id_, _ in one.candidates[:10]] for one in routes if one.route == name), [])


def refusals(corpus: Any, embedder: Any, own: Sequence[str], foreign: Sequence[str]) -> dict[str, float]:
    """Shares of answerable questions that are refused, and of questions from elsewhere that are answered."""
    find, alike = finder(corpus, embedder, PLAIN), partial(similarity, embedder)

    def answered(text: str) -> bool:
        hits: Sequence[Hit] = find(text).hits
        return answer(text, hits, None, PLAIN, alike).found

    refused = sum(not answered(text) for text in own) / len(own)
    answers = sum(map(answered, foreign)) / len(foreign)
    return {"false_refusals": round(refused, 3), "false_answers": round(answers, 3)}


def outside(name: str, corpus: Corpus) -> list[str]:
    """100 questions that the corpus cannot answer."""
    if OUTSIDE[name] != name:
        return [one["text"] for one in asked(OUTSIDE[name], 100)]
    left = [one for one in rows(f"{name}.queries") if not corpus.passages.keys() & {str(id_) for id_ in one["rel"]}]
    return [one["text"] for one in random.Random(3).sample(left, 100)]


def traditional(embedder: Any) -> dict[str, float]:
    """Questions in simplified script on passages in traditional script."""
    from opencc import OpenCC

    convert = OpenCC("s2t").convert
    turned = [{**row, "text": convert(row["text"]), "title": convert(row["title"])} for row in rows("xquad_zh.corpus")]
    return ways(Corpus(turned), embedder, asked("xquad_zh"))


def speed() -> float:
    """Lexical tokens, MB per CPU second."""
    texts = [row["text"] for row in rows("cmrc_zh.corpus")]
    start = time.process_time()
    for text in texts:
        lexical_tokens(text)
    return round(sum(len(text.encode()) for text in texts) / 1e6 / (time.process_time() - start), 2)


def main() -> None:
    if not DATA.is_dir():
        print(json.dumps({"bench": "retrieval", "skipped": "no development data: set SLUICE_TEST_DATA"}))
        return
    embedder, figures = CachedEmbedder(), dict[str, Any]()
    for name in SETS:
        corpus, questions = Corpus(corpus_of(name)), asked(name)
        foreign = outside(name, corpus)
        own = [one["text"] for one in questions[:100]]
        figures[name] = ways(corpus, embedder, questions) | refusals(corpus, embedder, own, foreign)
    figures["mean_ndcg"] = {
        way: round(sum(figures[name][way] for name in SETS) / len(SETS), 4)
        for way in ("hybrid", "rrf", "dense_alone", "bm25_alone")
    }
    figures["simplified_on_traditional"] = traditional(embedder)
    figures["tokens_mb_per_cpu_second"] = speed()
    print(json.dumps({"bench": "retrieval", **figures}))


if __name__ == "__main__":
    main()
