"""`sluice try`: one layer on the user's own input; nothing is stored."""

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import typer

from pipelines.errors import SluiceError

app = typer.Typer(no_args_is_help=True, help="One layer on your own input; nothing is stored.")


@app.command("mask")
def try_mask() -> None:
    """JSON lines {id, text} in, {id, text, findings} out."""
    from pipelines.mask import try_mask as act

    for one in _lines():
        text, findings = act(one["text"])
        found = [{"type": f.type, "start": f.start, "end": f.end} for f in findings]
        _out({"id": one.get("id"), "text": text, "findings": found})


@app.command("dedup")
def try_dedup() -> None:
    """JSON lines {id, a, b} in, {id, outcome, drop, evidence} out."""
    from pipelines.dedup import compare

    settings = _settings().dedup
    for one in _lines():
        verdict = compare(one["a"], one["b"], settings)
        evidence = verdict.evidence.model_dump(mode="json")
        _out({"id": one.get("id"), "outcome": verdict.outcome, "drop": verdict.drop, "evidence": evidence})


@app.command("conflict")
def try_conflict() -> None:
    """JSON lines {id, a, b} in, {id, outcome, score, evidence} out."""
    from pipelines.conflict.compare import compare
    from pipelines.conflict.detect import evidence

    for one in _lines():
        found = compare(one["a"], one["b"])
        shown = evidence(one["a"], one["b"], found)
        _out({"id": one.get("id"), "outcome": found.outcome, "score": found.score, "evidence": shown})


@app.command("score")
def try_score() -> None:
    """JSON lines {id, text} in, {id, score, band, signals} out."""
    from pipelines.mask import try_chunk as masked
    from pipelines.score import score_chunk

    settings = _settings().score
    for one in _lines():
        made = score_chunk(masked(one["text"]), authority="L3", settings=settings)
        signals = {signal.name: signal.value for signal in made.signals}
        _out({"id": one.get("id"), "score": made.score, "band": made.band, "signals": signals})


@app.command("extract")
def try_extract() -> None:
    """JSON lines {id, text} in, {id, keywords, entities, relations} out."""
    from pipelines.extract import extract_chunk
    from pipelines.mask import try_chunk as masked

    settings = _settings().extract
    for one in _lines():
        made = extract_chunk(masked(one["text"]), llm=None, settings=settings)
        _out({"id": one.get("id"), **made.model_dump(mode="json", exclude={"chunk"})})


@app.command("decode")
def try_decode() -> None:
    """JSON lines {id, b64} in, {id, text, encoding} out."""
    import base64

    from pipelines.parse.decode import decode

    for one in _lines():
        made = decode(base64.b64decode(one["b64"]))
        _out({"id": one.get("id"), "text": made.text, "encoding": made.encoding})


@app.command("parse")
def try_parse(files: list[str]) -> None:
    """What the parser makes of each file."""
    for name in files:
        _out(_tried(name, _parsed_view))


@app.command("chunk")
def try_chunk(files: list[str]) -> None:
    """The chunks of each file."""
    for name in files:
        _out(_tried(name, _chunked_view))


def _settings() -> Any:
    from pipelines.settings import Settings

    return Settings()


def _tried(name: str, view: Callable[[Any, Any], dict[str, Any]]) -> dict[str, Any]:
    from pathlib import Path

    from pipelines.wiring import wire

    wired = wire()
    try:
        document = wired.parse(Path(name), Path(name).name, None)
        return {"file": name, "title": document.title, "rejection": None} | view(wired, document)
    except SluiceError as error:
        empty: dict[str, Any] = {"pages": [], "blocks": [], "chunks": []}
        return {"file": name, "title": None, "rejection": {"code": error.code.value, "reason": error.reason}} | empty


def _parsed_view(wired: Any, document: Any) -> dict[str, Any]:
    pages = [one.model_dump(include={"page", "route", "confidence", "warnings"}) for one in document.pages]
    keys = {"kind", "text", "html", "page", "level", "hidden"}
    return {"pages": pages, "blocks": [one.model_dump(include=keys) for one in document.blocks]}


def _chunked_view(wired: Any, document: Any) -> dict[str, Any]:
    from pipelines.chunk import chunk_document

    made = chunk_document(document, document_id="try", salt=b"try", settings=wired.settings.chunk)
    chunks = [{"text": c.text, "section": list(c.section), "page": c.page_start, "kind": c.kind} for c in made]
    return {"chunks": chunks}


def _lines() -> Iterator[dict[str, Any]]:
    for line in sys.stdin:
        if line.strip():
            yield json.loads(line)


def _out(result: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(result, ensure_ascii=False) + "\n")
