"""The layers between scan and review, in order. The runner walks this tuple and the DAG draws its tasks from it.

A layer reads the artifacts of one version and returns the key of its own. The key is the fingerprint of (input, code
version, settings read): same fingerprint, same output, no work.
"""

import hashlib
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection, delete, update

from pipelines import corpus
from pipelines.app import App
from pipelines.errors import Code, Rejected
from pipelines.parse.sink import taken_out
from schemas.base import Record
from schemas.chunk import Masked, Parsed
from schemas.document import Document
from schemas.facts import Extraction, QualityScore
from schemas.source import Source
from sql import tables

R = TypeVar("R", bound=Record)


@dataclass(frozen=True)
class Work:
    """One version on its way through the layers."""

    version: str
    document: str
    uri: str
    sha256: str
    source: Source
    artifacts: dict[str, str]


@dataclass(frozen=True)
class Outcome:
    """What a layer made: its artifact's key, and the rows to write with it in one transaction."""

    key: str
    write: Callable[[Connection], None] | None = None
    ocr_pages: int = 0
    llm_calls: int = 0
    parsed: int = 0


class Scores(Record):
    """Artifact of the score layer."""

    scores: tuple[QualityScore, ...]


class Extractions(Record):
    """Artifact of the extract layer."""

    extractions: tuple[Extraction, ...]


@dataclass(frozen=True)
class Layer:
    name: str
    version: str
    """Raised when the code changes what it makes."""
    run: Callable[[App, Work], Outcome]


def fingerprint(layer: str, version: str, *parts: object) -> str:
    """Hex over the layer's code version and everything that it reads."""
    text = json.dumps([layer, version, *[str(part) for part in parts]], ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _key(zone: str, print_: str) -> str:
    return f"{zone}/{print_[:2]}/{print_}.json"


def load(app: App, key: str, kind: type[R]) -> R:
    """Read an artifact back as its record."""
    return kind.model_validate_json(app.artifacts.get(key))


def _store(app: App, key: str, artifact: Record) -> None:
    app.artifacts.put(key, artifact.model_dump_json().encode("utf-8", "surrogatepass"))


# --- parse -------------------------------------------------------------------------------------------------------


def parse(app: App, work: Work) -> Outcome:
    """The file becomes a Document (shared by all uris of the same content), the document becomes chunks."""
    from pipelines.chunk import chunk_document

    suffix = Path(work.uri).suffix.lower()
    settings = app.settings
    document_print = fingerprint("document", app.parser_version, work.sha256, suffix, settings.parse.model_dump_json())
    document_key = _key("raw/document", document_print)
    key = _key("raw/parsed", fingerprint("parse", PARSE.version, document_key, work.document, settings.chunk, work.uri))
    parsed = 0
    if not app.artifacts.exists(document_key):
        _store(app, document_key, _parse_file(app, work))
        parsed = 1
    document = load(app, document_key, Document)
    if not app.artifacts.exists(key):
        document = _titled(document, work.uri)
        chunks = chunk_document(
            document,
            document_id=work.document,
            salt=app.key,
            settings=settings.chunk,
            count_tokens=lambda text: app.embedder().count_tokens(text),
        )
        if not chunks:
            raise Rejected(Code.PARSE_NO_TEXT, "the file has no text that a reader would see")
        _store(app, key, Parsed(document=document, chunks=chunks))
    return Outcome(key=key, parsed=parsed, ocr_pages=document.ocr_pages if parsed else 0)


def _parse_file(app: App, work: Work) -> Document:
    name = Path(work.uri).name
    with (
        app.artifacts.local(f"raw/file/{work.sha256}") as path,
        tempfile.TemporaryDirectory(prefix="sluice-") as folder,
    ):
        document = app.parse(path, name, Path(folder))
        for key, taken in taken_out(Path(folder)):
            app.artifacts.put_file(key, taken)
        return document


def _titled(document: Document, uri: str) -> Document:
    # The Document is shared by all files of this content, but a title that fell back to a file name is this file's own.
    if document.title.strip() and document.metadata.get("title_from") != "name":
        return document
    return document.model_copy(update={"title": Path(uri).stem})


# --- dedup -------------------------------------------------------------------------------------------------------


def dedup(app: App, work: Work) -> Outcome:
    """Note this version's signatures, then link its chunks with all that is known: in that order, so that of two
    batches that run side by side the later one always sees the earlier."""
    from pipelines.dedup.link import link

    parsed = load(app, work.artifacts["parse"], Parsed)
    key = _key("facts/dedup", fingerprint("dedup", DEDUP.version, work.artifacts["parse"], app.settings.dedup))
    corpus.remember(app, work.version, work.document, parsed.chunks)
    links = link(parsed.chunks, corpus.SqlCorpus(app, work.document), app.settings.dedup)

    def write(tx: Connection) -> None:
        table = tables.duplicate_link
        for chunk, partners in links.kept.items():
            tx.execute(delete(table).where(table.c.a == chunk, table.c.b.not_in(partners)))
            tx.execute(delete(table).where(table.c.b == chunk, table.c.a.not_in(partners)))
        rows = [
            {
                "a": min(one.a, one.b),
                "b": max(one.a, one.b),
                "outcome": one.outcome,
                "drop": one.drop,
                "evidence": one.evidence.model_dump(mode="json"),
            }
            for one in links.found
        ]
        if rows:
            tx.execute(tables.insert_ignore(tables.duplicate_link), rows)

    return Outcome(key=key, write=write)


# --- mask --------------------------------------------------------------------------------------------------------


def mask(app: App, work: Work) -> Outcome:
    """From here on there is no raw personal data."""
    from pipelines import vault
    from pipelines.mask import mask_with_vault

    settings = app.settings.mask
    policy = work.source.mask
    print_ = fingerprint("mask", MASK.version, work.artifacts["parse"], settings, sorted(policy.items()), work.uri)
    key = _key("facts/mask", print_)
    if not app.artifacts.exists(key):
        parsed = load(app, work.artifacts["parse"], Parsed)
        masked, sealed = mask_with_vault(
            title=parsed.document.title,
            uri=work.uri,
            metadata=parsed.document.metadata,
            language=parsed.document.language,
            chunks=parsed.chunks,
            policy=policy,
            settings=settings,
            key=app.key,
            vault_key=vault.vault_key(app),
        )
        vault.keep(app, work.version, sealed)  # first: killed in between, the next run masks again
        _store(app, key, masked)
    masked = load(app, key, Masked)

    def write(tx: Connection) -> None:
        rows = [{"version": work.version, **finding.model_dump()} for finding in masked.findings]
        tx.execute(delete(tables.pii_finding).where(tables.pii_finding.c.version == work.version))
        if rows:
            tx.execute(tables.insert_ignore(tables.pii_finding), rows)
        named = {"title": masked.title[:1024], "language": masked.language}
        tx.execute(update(tables.version).where(tables.version.c.id == work.version).values(**named))

    return Outcome(key=key, write=write)


# --- score -------------------------------------------------------------------------------------------------------


def score(app: App, work: Work) -> Outcome:
    """A version whose every chunk is noise is rejected; single bad chunks stay out and are shown in review."""
    from pipelines.conflict.subject import subject
    from pipelines.score.score import score_chunk

    settings = app.settings.score
    authority = work.source.authority
    key = _key("facts/score", fingerprint("score", SCORE.version, work.artifacts["mask"], settings, authority))
    masked = load(app, work.artifacts["mask"], Masked)
    if not app.artifacts.exists(key):
        scores = tuple(score_chunk(one, authority=authority, settings=settings) for one in masked.chunks)
        _store(app, key, Scores(scores=scores))
    scores = load(app, key, Scores).scores
    if all(one.band == "quarantine" for one in scores):
        worst = ", ".join(f"{signal.name} {signal.value:.2f}" for signal in scores[0].signals[:5])
        raise Rejected(Code.QUALITY_LOW, f"no part of it is worth indexing: {worst}")
    by_chunk = {one.chunk: one for one in scores}

    def write(tx: Connection) -> None:
        rows = [
            {
                "version": work.version,
                "chunk": one.id,
                "ordinal": one.ordinal,
                "content_hash": one.content_hash,
                "page_start": one.page_start,
                "page_end": one.page_end,
                "band": by_chunk[one.id].band,
                "quality": by_chunk[one.id].score,
                "subject": subject(masked.title, one.section),
            }
            for one in masked.chunks
        ]
        tx.execute(delete(tables.version_chunk).where(tables.version_chunk.c.version == work.version))
        tx.execute(tables.version_chunk.insert(), rows)

    return Outcome(key=key, write=write)


# --- extract -----------------------------------------------------------------------------------------------------


def extract(app: App, work: Work) -> Outcome:
    """Entities, relations and keywords of the masked text."""
    from pipelines.extract.extract import extract_chunk

    llm = app.llm()
    settings = app.settings.extract
    name = llm.name if llm else ""
    key = _key("facts/extract", fingerprint("extract", EXTRACT.version, work.artifacts["mask"], settings, name))
    calls = 0
    if not app.artifacts.exists(key):
        chunks = load(app, work.artifacts["mask"], Masked).chunks
        before = llm.calls if llm else 0
        made = tuple(extract_chunk(one, llm=llm, settings=settings) for one in chunks)
        calls = llm.calls - before if llm else 0
        _store(app, key, Extractions(extractions=made))
    made = load(app, key, Extractions).extractions

    def write(tx: Connection) -> None:
        for table in (tables.entity, tables.relation):
            tx.execute(delete(table).where(table.c.version == work.version))
        entities = [{"version": work.version, "chunk": x.chunk, **e.model_dump()} for x in made for e in x.entities]
        relations = [{"version": work.version, "chunk": x.chunk, **r.model_dump()} for x in made for r in x.relations]
        if entities:
            tx.execute(tables.entity.insert(), entities)
        if relations:
            tx.execute(tables.relation.insert(), relations)

    return Outcome(key=key, write=write, llm_calls=calls)


PARSE = Layer("parse", "2", parse)
DEDUP = Layer("dedup", "3", dedup)
MASK = Layer("mask", "1", mask)
SCORE = Layer("score", "1", score)
EXTRACT = Layer("extract", "1", extract)
LAYERS = (PARSE, DEDUP, MASK, SCORE, EXTRACT)
