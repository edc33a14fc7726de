"""One version on its way through the layers: what a layer is given, what it hands back, where artifacts lie."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection, select

from pipelines.app import App
from pipelines.names import opened
from schemas.base import Record
from schemas.source import Source
from sql import tables

R = TypeVar("R", bound=Record)


@dataclass(frozen=True)
class Overlay:
    """What a reviewer did to a chunk: `hold` it back, or `edit` its text (masked)."""

    chunk: str
    kind: str
    text: str | None
    at: float


@dataclass(frozen=True)
class Work:
    """One version on its way through the layers."""

    version: str
    document: str
    uri: str
    """As the source names it: it may hold personal data and goes no further than the raw zone and the mask layer."""
    sha256: str
    source: Source
    artifacts: dict[str, str]
    overlays: tuple[Overlay, ...] = ()
    first: str = "parse"
    """Layers before this one keep the artifacts that the version came with."""
    token: str = ""
    """Of a forced run: the layers from `first` on work again although their fingerprints are known."""


@dataclass(frozen=True)
class Outcome:
    """What a layer made: the rows to write with its artifact's key in one transaction."""

    write: Callable[[Connection], None] | None = None
    ocr_pages: int = 0
    llm_calls: int = 0
    parsed: int = 0


def fingerprint(layer: str, version: str, *parts: object) -> str:
    """Hex over the layer's code version and everything that it reads."""
    text = json.dumps([layer, version, *[str(part) for part in parts]], ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def key_of(zone: str, print_: str) -> str:
    return f"{zone}/{print_[:2]}/{print_}.json"


def load(app: App, key: str, kind: type[R]) -> R:
    """Read an artifact back as its record."""
    return kind.model_validate_json(app.artifacts.get(key))


def store(app: App, key: str, artifact: Record) -> None:
    app.artifacts.put(key, artifact.model_dump_json().encode("utf-8", "surrogatepass"))


def works(app: App, versions: Sequence[str]) -> list[Work]:
    """What the layers need to know of these versions, in the same order."""
    v, d, s = tables.version, tables.document, tables.source
    query = (
        select(v.c.id, v.c.document, d.c.name_sealed, v.c.sha256, v.c.artifacts, v.c.rerun, s.c.config)
        .join(d, d.c.id == v.c.document)
        .join(s, (s.c.kb == d.c.kb) & (s.c.name == d.c.source))
    )
    with app.database.read() as tx:
        rows = {row.id: row for row in tx.execute(query.where(v.c.id.in_(list(versions))))}
        overlays = _overlays(tx, sorted({row.document for row in rows.values()}))
    return [_work(app, rows[one], tuple(overlays[rows[one].document])) for one in versions if one in rows]


def _work(app: App, row: Any, overlays: tuple[Overlay, ...]) -> Work:
    rerun = row.rerun or {}
    return Work(
        version=row.id,
        document=row.document,
        uri=opened(app, row.name_sealed),
        sha256=row.sha256,
        source=Source.model_validate(row.config),
        artifacts=dict(row.artifacts),
        overlays=overlays,
        first=rerun.get("layer", "parse"),
        token=rerun.get("token", ""),
    )


def _overlays(tx: Connection, documents: Sequence[str]) -> dict[str, list[Overlay]]:
    table = tables.overlay
    query = select(table.c.document, table.c.chunk, table.c.kind, table.c.text, table.c.at)
    found: dict[str, list[Overlay]] = defaultdict(list)
    for row in tx.execute(query.where(table.c.document.in_(documents)).order_by(table.c.chunk, table.c.kind)):
        found[row.document].append(Overlay(row.chunk, row.kind, row.text, row.at))
    return found
