"""The layers between scan and review, in order. The runner walks this tuple and the DAG draws its tasks from it.

A layer reads the artifacts of one version and returns the key of its own. The key is the fingerprint of (input, code
version, settings read): same fingerprint, same output, no work.
"""

import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, select, update

from pipelines import corpus, lifecycle
from pipelines.app import App
from pipelines.children import note_children
from pipelines.errors import Code, Rejected
from pipelines.names import Names
from pipelines.parse.sink import taken_out
from pipelines.vision import asked, model_for, seen
from pipelines.work import Outcome, Work, fingerprint, key_of, store
from pipelines.work import load as load
from schemas.base import Record
from schemas.chunk import Masked, Parsed
from schemas.document import Document
from schemas.facts import Extraction, QualityScore
from sql import tables


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
    inputs: Callable[[App, Work], tuple[object, ...]]
    """All that it reads, as values or as keys of artifacts."""
    run: Callable[[App, Work, str], Outcome]
    """Makes the artifact of this key where it is not there yet. Raises Rejected."""
    zone: str = ""
    """Where its artifacts lie; empty: `facts/NAME`."""

    def key(self, app: App, work: Work) -> str:
        """The key of the artifact that it makes, or keeps."""
        names = [one.name for one in LAYERS]
        if names.index(self.name) < names.index(work.first) and self.name in work.artifacts:
            return work.artifacts[self.name]
        salt = (work.token,) if work.token else ()
        print_ = fingerprint(self.name, self.version, *self.inputs(app, work), *salt)
        return key_of(self.zone or f"facts/{self.name}", print_)


def planned(app: App, work: Work) -> dict[str, str]:
    """The keys that all layers will make for a version: known before any of them has worked."""
    keys = dict(work.artifacts)
    for layer in LAYERS:
        keys[layer.name] = layer.key(app, replace(work, artifacts=keys))
    return keys


def state_of(keys: Mapping[str, str]) -> str:
    """One fingerprint of a version over those of its layers."""
    return fingerprint("version", "1", *sorted(keys.items()))


def tried(app: App, work: Work, last: str) -> str:
    """One fingerprint of the layers up to `last`: another one means that they might pass the version now."""
    keys = planned(app, replace(work, token=""))
    names = [one.name for one in LAYERS]
    return state_of({name: keys[name] for name in names[: names.index(last) + 1]}) if last in names else ""


# --- parse -------------------------------------------------------------------------------------------------------


def _parse_inputs(app: App, work: Work) -> tuple[object, ...]:
    sight = asked(model_for(app, work.source))
    return _document_key(app, work), work.document, app.settings.chunk, work.uri, *sight


def _document_key(app: App, work: Work) -> str:
    """A parsed file is shared by all documents of the same content and the same kind of name."""
    suffix = Path(work.uri).suffix.lower()
    settings = app.settings.parse.model_dump_json()
    salt = (work.token,) if work.token else ()
    return key_of("raw/document", fingerprint("document", app.parser_version, work.sha256, suffix, settings, *salt))


def parse(app: App, work: Work, key: str) -> Outcome:
    """The file becomes a Document, the document becomes chunks."""
    from pipelines.chunk import chunk_document

    parsed = ocr_pages = looks = 0
    if not app.artifacts.exists(key):
        document_key = _document_key(app, work)
        if not app.artifacts.exists(document_key):
            store(app, document_key, _parse_file(app, work))
            parsed = 1
        document = _titled(load(app, document_key, Document), work.uri)
        ocr_pages = document.ocr_pages if parsed else 0
        if model := model_for(app, work.source):
            before = model.calls
            document = seen(document, model, app.artifacts.get)
            looks = model.calls - before
        for taken in {*(one.artifact for one in document.blocks), *(one.key for one in document.attachments)} - {None}:
            app.artifacts.exists(str(taken))  # documents of one content share its figures: each notes them as its own
        chunks = chunk_document(
            document,
            document_id=work.document,
            salt=app.key,
            settings=app.settings.chunk,
            count_tokens=lambda text: app.embedder().count_tokens(text),
        )
        if not chunks:
            raise Rejected(Code.PARSE_NO_TEXT, "the file has no text that a reader would see")
        _check_erased(app, work, {one.id for one in chunks})
        store(app, key, Parsed(document=document, chunks=chunks))
    made = load(app, key, Parsed)
    noted = {"dated": made.document.dated, "facts": facts_of(made.document)}

    def write(tx: Connection) -> None:
        tx.execute(update(tables.version).where(tables.version.c.id == work.version).values(**noted))
        _note_pages(tx, app, work, made.document)
        run = tx.execute(select(tables.version.c.run).where(tables.version.c.id == work.version)).scalar_one()
        note_children(tx, app, work, made.document.attachments, run)

    return Outcome(write=write, parsed=parsed, ocr_pages=ocr_pages, llm_calls=looks)


def _note_pages(tx: Connection, app: App, work: Work, document: Document) -> None:
    """Each page that no route could read is a rejection of its own, which does not stop the others (not `standing`)."""
    x = tables.rejection
    tx.execute(delete(x).where(x.c.subject == work.version, x.c.code == Code.PARSE_PAGE_FAILED.value))
    common: dict[str, Any] = {
        "kb": app.kb,
        "subject": work.version,
        "document": work.document,
        "source": work.source.name,
    }
    common |= {"uri": Names(app, work.source).shown(work.uri)[:2048], "layer": "parse", "at": app.clock()}
    rows = [
        {**common, "code": page.code, "reason": f"page {page.page}: {page.reason}", "standing": False}
        for page in document.pages
        if page.code
    ]
    if rows:
        tx.execute(x.insert(), rows)


def _parse_file(app: App, work: Work) -> Document:
    name = Path(work.uri).name
    try:
        with (
            app.artifacts.local(f"raw/file/{work.sha256}") as path,
            tempfile.TemporaryDirectory(prefix="sluice-") as folder,
        ):
            document = app.parse(path, name, Path(folder))
            for key, taken in taken_out(Path(folder)):
                app.artifacts.put_file(key, taken)
            return document
    except KeyError as error:
        raise Rejected(Code.FORGOTTEN, "its raw file was erased") from error


def _check_erased(app: App, work: Work, chunks: set[str]) -> None:
    """A file that brings an erased passage back is refused, and no copy of it is kept."""
    with app.database.read() as tx:
        erased = lifecycle.tombstones(tx, app.kb, "chunk")
    if erased & chunks:
        from pipelines.publish.forget_chunk import erase_raw

        erase_raw(app, [work.version])
        raise Rejected(Code.FORGOTTEN, "it holds a passage that was erased on request; take it out at the source")


def _titled(document: Document, uri: str) -> Document:
    # The Document is shared by all files of this content, but a title that fell back to a file name is this file's own.
    if document.title.strip() and document.metadata.get("title_from") != "name":
        return document
    return document.model_copy(update={"title": Path(uri).stem})


def facts_of(document: Document) -> dict[str, Any]:
    """What a reviewer should know about how a file was read: counts and codes, never its words."""
    hidden = Counter(block.hidden for block in document.blocks if block.hidden)
    injection = hidden.pop(Code.INJECTION.value, 0)
    warnings = Counter(warning for page in document.pages for warning in page.warnings)
    failed = sum(page.route == "failed" for page in document.pages)
    told = warnings.pop(Code.VISION_DESCRIBED.value, 0)
    injection += warnings.pop(Code.INJECTION.value, 0)
    facts: dict[str, Any] = {"pages": len(document.pages), "ocr_pages": document.ocr_pages}
    named = {"hidden_text": dict(hidden), "parse_warning": dict(warnings), "injection": injection, "described": told}
    if failed:
        named |= {"failed_pages": failed, "parse_warning": {**warnings, Code.PARSE_PAGE_FAILED.value: failed}}
    return facts | {name: value for name, value in named.items() if value}


# --- dedup -------------------------------------------------------------------------------------------------------


def _dedup_inputs(app: App, work: Work) -> tuple[object, ...]:
    return work.artifacts["parse"], app.settings.dedup


def dedup(app: App, work: Work, key: str) -> Outcome:
    """Note this version's signatures, then link its chunks with all that is known: in that order, so that of two
    batches that run side by side the later one always sees the earlier."""
    from pipelines.dedup.link import link

    parsed = load(app, work.artifacts["parse"], Parsed)
    corpus.remember(app, work.version, work.document, parsed.chunks)
    links = link(parsed.chunks, corpus.SqlCorpus(app, work.document), app.settings.dedup)
    return Outcome(write=lambda tx: corpus.link(tx, links))


# --- mask --------------------------------------------------------------------------------------------------------


def _mask_inputs(app: App, work: Work) -> tuple[object, ...]:
    edits = [(one.chunk, one.text, one.at) for one in work.overlays if one.kind == "edit"]
    return work.artifacts["parse"], app.settings.mask, sorted(work.source.mask.items()), work.uri, *edits


def mask(app: App, work: Work, key: str) -> Outcome:
    """From here on there is no raw personal data. Edits of reviewers take the place of what they edited."""
    from pipelines import vault
    from pipelines.mask import edited, mask_with_vault

    if not app.artifacts.exists(key):
        parsed = load(app, work.artifacts["parse"], Parsed)
        made, sealed = mask_with_vault(
            title=parsed.document.title,
            uri=work.uri,
            metadata=parsed.document.metadata,
            language=parsed.document.language,
            chunks=parsed.chunks,
            policy=work.source.mask,
            settings=app.settings.mask,
            key=app.key,
            vault_key=vault.vault_key(app),
        )
        vault.keep(app, work.version, sealed)  # first: killed in between, the next run masks again
        store(app, key, edited(made, {one.chunk: one.text or "" for one in work.overlays if one.kind == "edit"}))
    masked = load(app, key, Masked)

    def write(tx: Connection) -> None:
        rows = [{"version": work.version, **finding.model_dump()} for finding in masked.findings]
        tx.execute(delete(tables.pii_finding).where(tables.pii_finding.c.version == work.version))
        if rows:
            tx.execute(tables.insert_ignore(tables.pii_finding), rows)
        shown = masked.uri[:2048]
        named = {"title": masked.title[:1024], "language": masked.language, "uri": shown}
        tx.execute(update(tables.version).where(tables.version.c.id == work.version).values(**named))
        tx.execute(update(tables.document).where(tables.document.c.id == work.document).values(uri=shown))

    return Outcome(write=write)


# --- score -------------------------------------------------------------------------------------------------------


def _score_inputs(app: App, work: Work) -> tuple[object, ...]:
    held = [one.chunk for one in work.overlays if one.kind == "hold"]
    return work.artifacts["mask"], app.settings.score, work.source.authority, *held


def score(app: App, work: Work, key: str) -> Outcome:
    """A version whose every chunk is noise is rejected; single bad chunks stay out and are shown in review, as do
    those that a reviewer holds."""
    from pipelines.conflict.subject import subject
    from pipelines.score import page_signals, score_chunk

    masked = load(app, work.artifacts["mask"], Masked)
    if not app.artifacts.exists(key):
        settings, authority = app.settings.score, work.source.authority
        page = page_signals(masked.title, masked.uri, [one.text for one in masked.chunks])
        made = (score_chunk(one, authority=authority, settings=settings, page=page) for one in masked.chunks)
        store(app, key, Scores(scores=tuple(made)))
    scores = load(app, key, Scores).scores
    if all(one.band == "quarantine" for one in scores):
        worst = ", ".join(f"{signal.name} {signal.value:.2f}" for signal in scores[0].signals[:5])
        raise Rejected(Code.QUALITY_LOW, f"no part of it is worth indexing: {worst}")
    by_chunk = {one.chunk: one for one in scores}
    held = {one.chunk for one in work.overlays if one.kind == "hold"}

    def write(tx: Connection) -> None:
        rows = [
            {
                "version": work.version,
                "chunk": one.id,
                "ordinal": one.ordinal,
                "content_hash": one.content_hash,
                "page_start": one.page_start,
                "page_end": one.page_end,
                "band": "held" if one.id in held else by_chunk[one.id].band,
                "quality": by_chunk[one.id].score,
                "subject": subject(masked.title, one.section),
            }
            for one in masked.chunks
        ]
        tx.execute(delete(tables.version_chunk).where(tables.version_chunk.c.version == work.version))
        tx.execute(tables.version_chunk.insert(), rows)
        _note(tx, work.version, speaks=sum(_speaks(one) for one in scores))

    return Outcome(write=write)


def _speaks(score: QualityScore) -> bool:
    """Whether the chunk's text speaks to a language model, for all its readers to see."""
    return any(one.name == "injection" and one.value > 0 for one in score.signals)


def _note(tx: Connection, version: str, **facts: int) -> None:
    """Add to the facts of a version; what is nothing is left out."""
    v = tables.version
    known = tx.execute(select(v.c.facts).where(v.c.id == version)).scalar() or {}
    noted = {name: value for name, value in known.items() if name not in facts}
    noted |= {name: value for name, value in facts.items() if value}
    tx.execute(update(v).where(v.c.id == version).values(facts=noted))


# --- extract -----------------------------------------------------------------------------------------------------


def _extract_inputs(app: App, work: Work) -> tuple[object, ...]:
    llm = app.llm()
    return work.artifacts["mask"], app.extract, llm.name if llm else ""


def extract(app: App, work: Work, key: str) -> Outcome:
    """Entities, relations and keywords of the masked text."""
    from pipelines.extract.extract import extract_chunk

    calls = 0
    if not app.artifacts.exists(key):
        llm = app.llm()
        chunks = load(app, work.artifacts["mask"], Masked).chunks
        before = llm.calls if llm else 0
        settings = app.extract
        made = tuple(extract_chunk(one, llm=llm, settings=settings) for one in chunks)
        calls = llm.calls - before if llm else 0
        store(app, key, Extractions(extractions=made))
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

    return Outcome(write=write, llm_calls=calls)


PARSE = Layer("parse", "2", _parse_inputs, parse, zone="raw/parsed")
DEDUP = Layer("dedup", "6", _dedup_inputs, dedup)
MASK = Layer("mask", "3", _mask_inputs, mask)
SCORE = Layer("score", "2", _score_inputs, score)
EXTRACT = Layer("extract", "4", _extract_inputs, extract)
LAYERS = (PARSE, DEDUP, MASK, SCORE, EXTRACT)
