"""A small knowledge base over real SQLite, real files and all real layers; only models and index are fakes."""

import copy
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from pipelines.app import App
from pipelines.ask import reader, search
from pipelines.flow import SyncReport, sync
from pipelines.migrate import migrate
from pipelines.parse.dispatch import parse_file
from pipelines.publish.publish import Published, publish
from pipelines.review.decide import approve
from pipelines.settings import Settings
from pipelines.wiring import wire
from tests.fakes import FakeEmbedder
from tests.fakes_index import FakeIndex

TOPICS = {
    "travel": ("Travel expenses are paid within thirty days.", "Trains are preferred to flights on short routes."),
    "leave": ("Annual leave is twenty five days for everybody.", "Unused holidays expire at the end of March."),
    "laptop": ("Laptops are replaced every four years by the desk.", "Broken screens must be reported to the desk."),
    "office": ("The office opens at seven in the morning.", "Visitors sign the book at the reception counter."),
    "canteen": ("Lunch is served between noon and two o'clock.", "Vegetarian dishes are offered on every weekday."),
}
SOURCES = """
knowledge_base: main
sources:
  - name: notes
    location: docs
    breaker: {share: 0.5, documents: 50}
"""


def page(topic: str, *paragraphs: str) -> str:
    """A Markdown document with one section for each paragraph."""
    parts = [f"## Part {number} of {topic}\n\n{text}\n" for number, text in enumerate(paragraphs, 1)]
    return f"# About the {topic}\n\n" + "\n".join(parts)


@dataclass
class Kb:
    """The knowledge base under test."""

    home: Path
    docs: Path
    index: FakeIndex
    embedder: FakeEmbedder
    app: App

    def write(self, topic: str, *paragraphs: str) -> None:
        (self.docs / f"{topic}.md").write_text(page(topic, *paragraphs), encoding="utf-8")

    def sync(self, **options: Any) -> SyncReport:
        return sync(self.app, **options)

    def release(self) -> Published | None:
        """Sync, approve and publish; None when there is nothing to publish."""
        number = self.sync().built.number
        if number is None:
            return None
        approve(self.app, number, "looks right")
        return publish(self.app, number)

    def hits(self, text: str, as_of: int | None = None) -> list[dict[str, Any]]:
        hits: list[dict[str, Any]] = search(self.app, text, reader(None, ""), as_of, 50, False)["hits"]
        return hits

    def texts(self, as_of: int | None = None) -> set[str]:
        """All text that a reader can find."""
        return {one["text"] for one in self.hits("the office travel leave laptop canteen part", as_of)}

    def shows(self, words: str, as_of: int | None = None) -> bool:
        return any(words in one["text"] for one in self.hits(words, as_of))

    def document(self, words: str) -> str:
        return next(str(one["document"]) for one in self.hits(words) if words in one["text"])

    def copied(self, home: Path, checkpoint: Callable[[str], None] | None = None) -> "Kb":
        """The same state in another home, to be crashed at will; the documents are shared."""
        shutil.copytree(self.home, home)
        return open_kb(home, self.docs, copy.deepcopy(self.index), FakeEmbedder(), checkpoint)


def open_kb(
    home: Path,
    docs: Path,
    index: FakeIndex,
    embedder: FakeEmbedder,
    checkpoint: Callable[[str], None] | None = None,
    database_url: str = "",
) -> Kb:
    sources = docs.parent / "sources.yaml"
    settings = Settings(home=home, sources=sources, secret_key=SecretStr("test"), database_url=database_url)
    app = replace(
        wire(settings, actor="tester", checkpoint=checkpoint),
        embedder=lambda: embedder,
        index=lambda: index,
        llm=lambda: None,
        parse=lambda path, name, folder: parse_file(path, name=name, ocr=None, settings=settings.parse),
        page_image=lambda path, name, page, boxes: b"",
    )
    return Kb(home, docs, index, embedder, app)


@contextmanager
def five_documents(folder: Path) -> Iterator[Kb]:
    """Five documents, nothing synced yet."""
    docs = folder / "docs"
    docs.mkdir()
    (folder / "sources.yaml").write_text(SOURCES, encoding="utf-8")
    made = open_kb(folder / "home", docs, FakeIndex(), FakeEmbedder())
    for topic, paragraphs in TOPICS.items():
        made.write(topic, *paragraphs)
    migrate(made.app)
    yield made
    made.app.database.engine.dispose()


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[Kb]:
    """A knowledge base of its own for each test."""
    with five_documents(tmp_path) as made:
        yield made
