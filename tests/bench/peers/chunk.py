"""The same texts through other chunkers: `PEERS_PYTHON tests/bench/peers/chunk.py < texts.json > chunks.json`.

Runs in an environment of its own with langchain-text-splitters and docling-core[chunking]; what is missing is left out.
"""

import json
import sys
import time
from collections.abc import Callable

SIZE = 512
HEADERS = [("#" * depth, str(depth)) for depth in range(1, 5)]


def recursive() -> Callable[[str], list[str]]:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    return RecursiveCharacterTextSplitter(chunk_size=SIZE, chunk_overlap=0).split_text


def markdown() -> Callable[[str], list[str]]:
    from langchain_text_splitters import MarkdownHeaderTextSplitter, RecursiveCharacterTextSplitter

    by_header = MarkdownHeaderTextSplitter(HEADERS, strip_headers=False)
    by_size = RecursiveCharacterTextSplitter(chunk_size=SIZE, chunk_overlap=0)
    return lambda text: [part.page_content for part in by_size.split_documents(by_header.split_text(text))]


def hybrid() -> Callable[[str], list[str]]:
    """docling's HybridChunker over paragraphs and headings, counting characters, since no tokenizer can be fetched."""
    from docling_core.transforms.chunker.hybrid_chunker import HybridChunker
    from docling_core.transforms.chunker.tokenizer.base import BaseTokenizer
    from docling_core.types.doc.document import DoclingDocument
    from docling_core.types.doc.labels import DocItemLabel

    class Characters(BaseTokenizer):
        def count_tokens(self, text: str) -> int:
            return len(text)

        def get_max_tokens(self) -> int:
            return SIZE

        def get_tokenizer(self) -> Callable[[str], int]:
            return len

    chunker = HybridChunker(tokenizer=Characters())

    def split(text: str) -> list[str]:
        document = DoclingDocument(name="page")
        for part in filter(str.strip, text.split("\n\n")):
            if part.startswith("#"):
                document.add_heading(part.lstrip("# "), level=max(1, len(part) - len(part.lstrip("#"))))
            else:
                document.add_text(DocItemLabel.TEXT, part)
        return [chunker.contextualize(chunk) for chunk in chunker.chunk(document)]

    return split


def main() -> None:
    texts: list[str] = json.load(sys.stdin)
    found: dict[str, dict[str, object]] = {}
    for make, share in ((recursive, 1), (markdown, 1), (hybrid, 8)):
        try:
            split = make()
        except ImportError:
            continue
        some = texts[::share]  # docling is so slow that a part must do
        start = time.process_time()
        chunks = [split(text) for text in some]
        seconds = time.process_time() - start
        size = sum(len(text.encode()) for text in some) / 1e6
        found[make.__name__] = {"chunks": chunks if share == 1 else None, "mb_per_cpu_second": round(size / seconds, 2)}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
