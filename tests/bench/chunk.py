"""Chunks: speed, recall within a budget of characters, locality of edits: `python -m tests.bench.chunk`.

Beside LangChain and docling where `SLUICE_PEERS` names an interpreter that has them.
"""

import gzip
import json
import os
import random
import re
import subprocess
import time
from pathlib import Path
from typing import Any

from pipelines.chunk import ChunkSettings, chunk_document
from pipelines.parse.markdown import document_of
from pipelines.retrieve.tokens import lexical_tokens
from schemas.chunk import Chunk
from schemas.document import Block, Document

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("SLUICE_TEST_DATA", ROOT.parent / "shared" / "data")) / "retrieval"
BUDGET = 2000
SHINGLE = 12
MARKUP = re.compile(r"\]\([^)\n]*\)?|```\w*|\{\{<.*?>\}\}|</?\w+[^>\n]*>")
SETTINGS = ChunkSettings()
CANDIDATES = {
    "256 characters": ChunkSettings(max_characters=256),
    "384 characters (default)": SETTINGS,
    "512 characters": ChunkSettings(max_characters=512),
    "768 characters": ChunkSettings(max_characters=768),
    "20 characters of context": ChunkSettings(max_context=20),
}


def _rows(name: str) -> list[dict[str, Any]]:
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _bare(text: str) -> str:
    """Letters and digits only, without what Markdown does not show: link targets, fences, shortcodes."""
    text = MARKUP.sub("", text)
    return "".join(character for character in text.casefold() if character.isalnum())


def recall(searched: list[str], shown: list[str], questions: list[dict[str, Any]]) -> float:
    """Share of the evidence's shingles in the first BUDGET characters of what BM25 finds."""
    import bm25s

    ranker = bm25s.BM25()
    ranker.index([lexical_tokens(text).split() for text in searched], show_progress=False)
    asked = [lexical_tokens(one["text"]).split() for one in questions]
    found, _ = ranker.retrieve(asked, k=min(60, len(searched)), show_progress=False)
    shares = []
    for question, row in zip(questions, found, strict=True):
        text = _bare("\n".join(shown[at] for at in row)[:BUDGET])
        for evidence in map(_bare, question["evidence"]):
            shingles = [evidence[at : at + SHINGLE] for at in range(max(1, len(evidence) - SHINGLE + 1))]
            shares.append(sum(one in text for one in shingles) / len(shingles))
    return round(sum(shares) / len(shares), 3)


def _paragraph(chance: random.Random) -> Block:
    words = "".join(chr(chance.randrange(0x4E00, 0x9FA5)) for _ in range(chance.randint(20, 150)))
    return Block(kind="text", text=f"{words}。")


def locality(trials: int) -> dict[str, float]:
    """New chunks after one of 3,000 paragraphs was replaced."""
    changed = []
    for seed in range(trials):
        chance = random.Random(seed)
        before = [_paragraph(chance) for _ in range(3000)]
        place = chance.randrange(3000)
        after = [*before[:place], _paragraph(chance), *before[place + 1 :]]
        old, new = ({chunk.id for chunk in _chunks("d", blocks)} for blocks in (before, after))
        changed.append(len(new - old))
    return {"mean": sum(changed) / trials, "max": max(changed)}


def _chunks(name: str, blocks: list[Block]) -> Any:
    document = Document(title=name, media_type="text/plain", blocks=tuple(blocks))
    return chunk_document(document, document_id=name, salt=b"bench", settings=SETTINGS)


def ours(rows: list[dict[str, Any]], questions: list[dict[str, Any]]) -> dict[str, float]:
    documents = [document_of(row["text"], name=row["id"]) for row in rows]
    size = sum(len(row["text"].encode()) for row in rows) / 1e6
    seconds = []
    for _ in range(3):
        start = time.process_time()
        flat = _cut(rows, documents, SETTINGS)
        seconds.append(time.process_time() - start)
    return {
        "mb_per_cpu_second": round(size / min(seconds), 2),
        "recall_in_2000_characters": _found(flat, questions),
        "mean_characters": round(sum(len(chunk.text) for chunk in flat) / len(flat)),
    }


def settings(rows: list[dict[str, Any]], questions: list[dict[str, Any]]) -> dict[str, float]:
    """Recall in the same budget by settings: what the defaults were chosen on."""
    documents = [document_of(row["text"], name=row["id"]) for row in rows]
    return {name: _found(_cut(rows, documents, one), questions) for name, one in CANDIDATES.items()}


def _cut(rows: list[dict[str, Any]], documents: list[Document], settings: ChunkSettings) -> list[Chunk]:
    return [
        chunk
        for row, document in zip(rows, documents, strict=True)
        for chunk in chunk_document(document, document_id=row["id"], salt=b"bench", settings=settings)
    ]


def _found(chunks: list[Chunk], questions: list[dict[str, Any]]) -> float:
    return recall([f"{one.context}\n{one.text}" for one in chunks], [one.text for one in chunks], questions)


def peers(rows: list[dict[str, Any]], questions: list[dict[str, Any]]) -> dict[str, Any]:
    python = os.environ.get("SLUICE_PEERS", "")
    if not Path(python).is_file():
        return {"skipped": "SLUICE_PEERS names no interpreter with langchain-text-splitters and docling-core"}
    script = ROOT / "tests" / "bench" / "peers" / "chunk.py"
    texts = json.dumps([row["text"] for row in rows])
    made = subprocess.run([python, str(script)], input=texts, capture_output=True, text=True, check=True)
    figures = json.loads(made.stdout)
    for one in figures.values():
        if chunks := one.pop("chunks"):
            flat = [chunk for parts in chunks for chunk in parts]
            one["recall_in_2000_characters"] = recall(flat, flat, questions)
    return dict(figures)


def main() -> None:
    """Prints one JSON object."""
    rows, questions = _rows("tidb_zh.docs"), _rows("tidb_zh.queries")
    figures = {
        "ours": ours(rows, questions),
        "recall_by_settings": settings(rows, questions),
        "changed_by_an_edit": locality(8),
        "peers": peers(rows, questions),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
