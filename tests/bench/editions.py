"""What a new edition of a manual leaves in place: the share of chunks of the old one that stay as they are, letter by
letter, in files that changed. `SLUICE_BENCH_EDITIONS=old:new` names two folders of the same manual.

Beside chunks of a fixed size and sentences packed up to that size, over the same text.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pipelines.chunk import ChunkSettings, chunk_document
from pipelines.parse.dispatch import parse_file
from pipelines.parse.settings import ParseSettings
from schemas.document import Document

KINDS = (".md", ".txt", ".rst", ".html")
SIZE = 384
SENTENCE = re.compile(r".+?(?:[.!?](?=\s)|[。！？]|\n|$)\s*", re.S)

Splitter = Callable[[Document], Iterable[str]]


def ours(document: Document) -> Iterable[str]:
    """What is embedded: context and text."""
    chunks = chunk_document(document, document_id="d", salt=b"bench", settings=ChunkSettings())
    return [f"{chunk.context}\n{chunk.text}" for chunk in chunks]


def text_of(document: Document) -> str:
    return "\n\n".join(block.text for block in document.blocks)


def fixed(document: Document) -> Iterable[str]:
    text = text_of(document)
    return [text[at : at + SIZE] for at in range(0, len(text), SIZE)]


def packed(document: Document) -> Iterable[str]:
    parts = [""]
    for sentence in SENTENCE.findall(text_of(document)):
        if len(parts[-1]) + len(sentence) > SIZE and parts[-1]:
            parts.append("")
        parts[-1] += sentence
    return parts


SPLITTERS: dict[str, Splitter] = {"ours": ours, "fixed": fixed, "sentences": packed}


def parsed(path: Path) -> Document:
    return parse_file(path, name=path.name, ocr=None, settings=ParseSettings())


def main() -> None:
    """Prints one JSON object."""
    old, _, new = os.environ.get("SLUICE_BENCH_EDITIONS", "").partition(":")
    if not (old and new):
        print(json.dumps({"skipped": "SLUICE_BENCH_EDITIONS names no two editions of a manual, as old:new"}))
        return
    names = sorted(one.relative_to(old) for one in Path(old).rglob("*") if one.suffix in KINDS)
    both = [(Path(old) / one, Path(new) / one) for one in names if (Path(new) / one).is_file()]
    changed = [(a, b) for a, b in both if a.read_bytes() != b.read_bytes()]
    had, kept, size, stayed = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for a, b in changed:
        before, after = parsed(a), parsed(b)
        for name, split in SPLITTERS.items():
            first, second = Counter(split(before)), Counter(split(after))
            had[name] += first.total()
            kept[name] += (first & second).total()
            size[name] += _characters(first)
            stayed[name] += _characters(first & second)
    found: dict[str, Any] = {
        name: {
            "chunks": had[name],
            "mean_characters": round(size[name] / had[name]),
            "kept": round(kept[name] / had[name], 3),
            "kept_characters": round(stayed[name] / size[name], 3),
        }
        for name in had
    }
    print(json.dumps({"files": len(both), "changed": len(changed), **found}))


def _characters(chunks: Counter[str]) -> int:
    return sum(len(text) * times for text, times in chunks.items())


if __name__ == "__main__":
    main()
