"""A long document of which one paragraph is edited: only what changed is embedded, replaced and reviewed."""

import random
from pathlib import Path

import pytest

from tests.flow.conftest import Kb

PAGES, CHAPTER = 300, 10
WHO = ("the warden", "each team", "the archive", "a visitor", "the night shift", "our supplier", "the council")
DOES = ("records", "returns", "inspects", "labels", "replaces", "orders", "describes", "measures")
WHAT = ("the copper valves", "old maps", "spare lamps", "wooden crates", "the river gauge", "field notes", "glass jars")
WHEN = ("before sunrise", "after every storm", "in the first week", "twice a season", "when asked", "at the weir")


def paragraphs(edited: int | None = None) -> list[str]:
    """Two to a page; the `edited` one says something new and is longer."""
    chance = random.Random(300)
    made = []
    for number in range(2 * PAGES):
        words = [
            f"In case {number * 7 + part} {chance.choice(WHO)} {chance.choice(DOES)} {chance.choice(WHAT)}"
            f" {chance.choice(WHEN)}."
            for part in range(4)
        ]
        if number == edited:
            words.insert(2, "From next spring on this is done by two people, who both sign the ledger.")
        made.append(" ".join(words))
    return made


def write(path: Path, texts: list[str]) -> None:
    import pymupdf

    with pymupdf.open() as document:
        for number in range(PAGES):
            page = document.new_page()
            if number % CHAPTER == 0:
                page.insert_text((72, 60), f"Chapter {number // CHAPTER + 1} Stores", fontsize=20)
            for place, text in enumerate(texts[2 * number : 2 * number + 2]):
                page.insert_textbox((72, 100 + 160 * place, 520, 240 + 160 * place), text, fontsize=11)
        document.save(path)


@pytest.mark.slow
def test_one_paragraph_edited_in_three_hundred_pages_embeds_at_most_three_chunks(kb: Kb) -> None:
    write(kb.docs / "handbook.pdf", paragraphs())
    kb.release()
    first = len(kb.embedder.embedded)
    assert first > 300
    kb.embedder.embedded.clear()
    write(kb.docs / "handbook.pdf", paragraphs(edited=301))
    report = kb.sync().as_json()
    print(f"{first} chunks at first; after the edit {report['chunks']}, embedded {report['calls']['embed']}")
    assert report["documents"]["changed"] == 1
    assert report["calls"]["embed"] == len(kb.embedder.embedded) <= 3
    chunks = report["chunks"]
    assert chunks["new"] + chunks["replaced"] <= 3 and chunks["retired"] <= 3
    assert any("both sign the ledger" in text for text in kb.embedder.embedded)
