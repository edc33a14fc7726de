"""What a use case works with: the ports, wired, and a few facts about this installation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from pipelines.errors import Code, Misconfigured
from pipelines.extract.settings import ExtractSettings
from pipelines.ports import (
    ArtifactStore,
    Clock,
    Embedder,
    LanguageModel,
    Reranker,
    SourceReader,
    VectorIndex,
    VisionModel,
)
from pipelines.retrieve.settings import RetrieveSettings
from pipelines.settings import Settings
from schemas.document import Box, Document
from schemas.source import Source, SourcesFile

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.adapters.database import Database


def _nothing(_step: str) -> None:
    """The default checkpoint."""


def _no_model() -> None:
    """The default of what is off."""


@dataclass(frozen=True, eq=False)
class App:
    """Heavy parts are functions, called when first needed: a scan of unchanged files loads no model."""

    settings: Settings
    kb: str
    actor: str
    key: bytes
    """Salts ids and pseudonyms of this knowledge base."""
    database: "Database"
    artifacts: ArtifactStore
    reader: Callable[[Source], SourceReader]
    sources: Callable[[], SourcesFile]
    parse: Callable[["Path", str, "Path | None"], Document]
    """(local file, name, folder for what is taken out of it) to Document, isolated. Raises Rejected."""
    page_image: Callable[["Path", str, int, Sequence[Box]], bytes]
    """(local file, name, page, places to mark) to PNG, isolated. Raises Rejected."""
    parser_version: str
    embedder: Callable[[], Embedder]
    """The one that the settings name first; `embedder_for` (publish/collections) finds the one an index needs."""
    index: Callable[[], VectorIndex]
    llm: Callable[[], LanguageModel | None]
    reranker: Callable[[], Reranker | None]
    clock: Clock
    embedders: Mapping[str, Callable[[], Embedder]] = field(default_factory=dict)
    """More that the settings name: of the live index before a change of model, or of the one to come."""
    bundled: Mapping[str, Callable[[], Embedder]] = field(default_factory=dict)
    """Those that need no settings: a re-embedding may name them."""
    vision: Callable[[], VisionModel | None] = _no_model
    """Sees parts of pages before they are masked, where the settings name one."""
    checkpoint: Callable[[str], None] = _nothing
    """Called between any two writes with the name of the place; tests kill the process there."""

    @property
    def retrieve(self) -> RetrieveSettings:
        """How this knowledge base is searched: what its sources.yaml says stands over the installation's settings."""
        file = self._file
        synonyms = {**self.settings.retrieve.synonyms, **{one.name: one.synonyms for one in file.terms if one.synonyms}}
        own: dict[str, Any] = ({"synonyms": synonyms} if file.terms else {}) | file.retrieve
        if not own:
            return self.settings.retrieve
        try:
            return RetrieveSettings.model_validate({**self.settings.retrieve.model_dump(), **own})
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise Misconfigured(Code.BAD_SOURCES, f"sources.yaml: retrieve.{place}: {first['msg']}") from error

    @property
    def extract(self) -> ExtractSettings:
        """What extraction looks for: to the installation's dictionary comes that of this knowledge base."""
        return self.settings.extract.with_terms(self._file.terms)

    @property
    def _file(self) -> SourcesFile:
        return self.sources() if self.settings.sources.exists() else SourcesFile()
