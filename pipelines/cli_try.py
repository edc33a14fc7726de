"""`sluice try`: one layer on the user's own input; nothing is stored.

What a layer rejects has its answer too. A line or a file that cannot be read gives one with code and reason in its
place; the others go on, and the exit status is 1.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import typer

from pipelines.errors import Code, Rejected, SluiceError

Answer = dict[str, Any]
SURROGATE = re.compile("[\ud800-\udfff]")
UNREAD = frozenset((Code.INPUT_BAD_LINE.value, Code.SCAN_UNREADABLE.value))
app = typer.Typer(no_args_is_help=True, help="One layer on your own input; nothing is stored.")


@app.command("mask")
def try_mask() -> None:
    """JSON lines {id, text} in, {id, text, findings} out."""
    from pipelines.mask import try_mask as act

    def answer(one: Answer) -> Answer:
        text, findings = act(one["text"])
        return {"text": text, "findings": [{"type": f.type, "start": f.start, "end": f.end} for f in findings]}

    _each(answer, "text")


@app.command("dedup")
def try_dedup() -> None:
    """JSON lines {id, a, b} in, {id, outcome, drop, evidence} out."""
    from pipelines.dedup import compare

    settings = _settings().dedup

    def answer(one: Answer) -> Answer:
        verdict = compare(one["a"], one["b"], settings)
        evidence = verdict.evidence.model_dump(mode="json")
        return {"outcome": verdict.outcome, "drop": verdict.drop, "evidence": evidence}

    _each(answer, "a", "b")


@app.command("conflict")
def try_conflict() -> None:
    """JSON lines {id, a, b} in, {id, outcome, score, evidence} out."""
    from pipelines.conflict.compare import compare
    from pipelines.conflict.detect import evidence

    def answer(one: Answer) -> Answer:
        found = compare(one["a"], one["b"])
        return {"outcome": found.outcome, "score": found.score, "evidence": evidence(one["a"], one["b"], found)}

    _each(answer, "a", "b")


@app.command("score")
def try_score() -> None:
    """JSON lines {id, text} in, {id, score, band, signals} out."""
    from pipelines.mask import try_chunk as masked
    from pipelines.score import score_chunk

    settings = _settings().score

    def answer(one: Answer) -> Answer:
        made = score_chunk(masked(one["text"]), authority="L3", settings=settings)
        return {"score": made.score, "band": made.band, "signals": {s.name: s.value for s in made.signals}}

    _each(answer, "text")


@app.command("extract")
def try_extract() -> None:
    """JSON lines {id, text} in, {id, keywords, entities, relations} out."""
    from pipelines.extract import extract_chunk
    from pipelines.mask import try_chunk as masked

    settings = _settings().extract

    def answer(one: Answer) -> Answer:
        made = extract_chunk(masked(one["text"]), llm=None, settings=settings)
        return made.model_dump(mode="json", exclude={"chunk"})

    _each(answer, "text")


@app.command("decode")
def try_decode() -> None:
    """JSON lines {id, b64} in, {id, text, encoding} out."""
    import base64
    import binascii

    from pipelines.parse.decode import decode

    def answer(one: Answer) -> Answer:
        try:
            data = base64.b64decode(one["b64"], validate=True)
        except (binascii.Error, ValueError) as error:
            raise Rejected(Code.INPUT_BAD_LINE, f"b64 is not Base64: {error}") from error
        made = decode(data)
        return {"text": made.text, "encoding": made.encoding}

    _each(answer, "b64")


@app.command("parse")
def try_parse(files: list[str]) -> None:
    """What the parser makes of each file."""
    _leave(_tried(name, _parsed_view) for name in files)


@app.command("chunk")
def try_chunk(files: list[str]) -> None:
    """The chunks of each file."""
    _leave(_tried(name, _chunked_view) for name in files)


def _settings() -> Any:
    from pipelines.settings import Settings

    return Settings()


def _tried(name: str, view: Callable[[Any, Any], Answer]) -> Answer:
    from pathlib import Path

    from pipelines.wiring import wire

    wired = wire()
    try:
        document = _parsed(wired, _readable(Path(name)))
        return {"file": name, "title": document.title, "rejection": None} | view(wired, document)
    except SluiceError as error:
        empty: Answer = {"pages": [], "blocks": [], "chunks": []}
        return {"file": name, "title": None, "rejection": {"code": error.code.value, "reason": error.reason}} | empty


def _parsed(wired: Any, path: Any) -> Any:
    """The document, with what the vision model says where one is configured."""
    import tempfile
    from pathlib import Path

    from pipelines.vision import seen

    model = wired.vision()
    if model is None:
        return wired.parse(path, path.name, None)
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        document = wired.parse(path, path.name, Path(folder))
        return seen(document, model, lambda key: (Path(folder) / key.rpartition("/")[2]).read_bytes())


def _readable(path: Any) -> Any:
    try:
        with path.open("rb") as file:
            file.read(1)
    except OSError as error:
        raise Rejected(Code.SCAN_UNREADABLE, f"{path}: {error.strerror}") from error
    return path


def _parsed_view(wired: Any, document: Any) -> Answer:
    pages = [one.model_dump(include={"page", "route", "confidence", "warnings"}) for one in document.pages]
    keys = {"kind", "text", "html", "page", "level", "hidden"}
    return {"pages": pages, "blocks": [one.model_dump(include=keys) for one in document.blocks]}


def _chunked_view(wired: Any, document: Any) -> Answer:
    from pipelines.chunk import chunk_document

    made = chunk_document(
        document,
        document_id="try",
        salt=b"try",
        settings=wired.settings.chunk,
        count_tokens=lambda text: wired.embedder().count_tokens(text),
    )
    chunks = [{"text": c.text, "section": list(c.section), "page": c.page_start, "kind": c.kind} for c in made]
    return {"chunks": chunks}


def _each(answer: Callable[[Answer], Answer], *keys: str) -> None:
    """One answer for each line of standard input, in order; `keys` must be there and hold text."""

    def answers() -> Iterator[Answer]:
        for number, line in enumerate(sys.stdin.buffer, start=1):
            if not line.strip():
                continue
            one: Answer = {}
            try:
                one = _record(line, keys)
                yield {"id": one.get("id")} | answer(one)
            except SluiceError as error:
                said = {"code": error.code.value, "reason": error.reason}
                yield {"id": one.get("id"), "line": number, "rejection": said}

    _leave(answers())


def _record(line: bytes, keys: tuple[str, ...]) -> Answer:
    try:
        one = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Rejected(Code.INPUT_BAD_LINE, f"not JSON: {error}"[:200]) from error
    if not isinstance(one, dict):
        raise Rejected(Code.INPUT_BAD_LINE, f"a JSON object is asked for, not {type(one).__name__}")
    if wrong := [key for key in keys if not isinstance(one.get(key), str)]:
        raise Rejected(Code.INPUT_BAD_LINE, f"text is asked for under {' and '.join(wrong)}")
    if any(SURROGATE.search(one[key]) for key in keys):
        raise Rejected(Code.INPUT_BAD_LINE, "a lone surrogate is no character")
    return one


def _leave(answers: Iterable[Answer]) -> None:
    """Print each answer; exit 1 where some input could not be read."""
    failed = False
    for one in answers:
        failed = failed or (one.get("rejection") or {}).get("code") in UNREAD
        sys.stdout.write(json.dumps(one, ensure_ascii=False) + "\n")
    if failed:
        raise typer.Exit(1)
