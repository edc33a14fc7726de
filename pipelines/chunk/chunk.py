"""Sections first, then paragraphs, then sentences; title and section path as context apart from the shown text."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from pipelines.chunk.pack import pack
from pipelines.chunk.settings import ChunkSettings
from pipelines.chunk.table import split_table
from pipelines.chunk.units import Cost, Limits, Unit, estimate_tokens, pair_questions, units_of
from pipelines.ids import chunk_ids
from schemas.chunk import Chunk, ChunkKind
from schemas.document import Block, Document

CHUNKS = TypeAdapter(tuple[Chunk, ...])
ALONE = frozenset(("table", "figure", "api"))
NOWHERE: dict[str, Any] = {}
SURE = 0.6
"""Of the token limit: an estimate below it is safe for any tokenizer, so only longer chunks are counted exactly."""


class Section(NamedTuple):
    path: tuple[str, ...]
    blocks: tuple[Block, ...]


class Piece(NamedTuple):
    """A chunk without its identity."""

    kind: ChunkKind
    text: str
    blocks: tuple[Block, ...]
    html: str | None = None
    caption: str = ""
    artifact: str | None = None


def chunk_document(
    document: Document,
    *,
    document_id: str,
    salt: bytes,
    settings: ChunkSettings,
    count_tokens: Callable[[str], int] | None = None,
) -> tuple[Chunk, ...]:
    """All visible text of the document in reading order. `count_tokens`: the embedder's own, else an estimate."""
    limits, ids_of = _limits(settings, estimate_tokens), chunk_ids(salt, document_id)
    equals: dict[tuple[str, ...], dict[str, int]] = {}
    rows: list[dict[str, Any]] = []
    for path, blocks in sections(document):
        context = context_of(document.title, path, "", settings.max_context)
        pieces = _pieces(blocks, limits)
        if count_tokens:
            pieces = [part for piece in pieces for part in _counted(piece, context, settings, count_tokens)]
        id_of, seen = ids_of(path), equals.setdefault(path, {})
        for piece, parent in zip(pieces, _parents(pieces, settings.max_parent), strict=True):
            text, caption = piece.text, piece.caption
            seen[text] = equal = seen.get(text, -1) + 1
            row = {
                "id": id_of(text, equal),
                "ordinal": len(rows),
                "kind": piece.kind,
                "text": text,
                "context": context_of(document.title, path, caption, settings.max_context) if caption else context,
                "section": path,
                "language": document.language,
                **_place(piece.blocks),
            }
            # What is None is left out: checking the rows is a good part of the work.
            if parent is not None:
                row["parent"] = parent
            if piece.html is not None:
                row["html"] = piece.html
            if piece.artifact is not None:
                row["artifact"] = piece.artifact
            rows.append(row)
    return CHUNKS.validate_python(rows)


def sections(document: Document) -> Iterator[Section]:
    """Runs of blocks under one heading path. A heading with nothing below it becomes its section's text."""
    levels: list[int] = []
    path: tuple[str, ...] = ()
    blocks: list[Block] = []
    bare: Block | None = None
    for block in document.blocks:
        if block.hidden or not (block.caption or block.text.strip()):
            continue
        if block.kind != "heading":
            blocks.append(block)
            bare = None
            continue
        level = block.level or 1
        if bare is not None and level <= (bare.level or 1) and path[-1] != document.title:
            blocks = [bare]
        if blocks:
            yield Section(path, tuple(blocks))
        while levels and levels[-1] >= level:
            levels.pop()
        levels.append(level)
        path = (*path[: len(levels) - 1], " ".join(block.text.split()))
        blocks, bare = [], block
    if bare is not None:
        blocks = [bare]
    if blocks:
        yield Section(path, tuple(blocks))


def context_of(title: str, path: tuple[str, ...], caption: str, limit: int) -> str:
    """`title > heading > heading: caption`, at most `limit` characters."""
    steps = dict.fromkeys((" ".join(title.split()), *path))
    text = " > ".join([step for step in steps if step]) + (f": {' '.join(caption.split())}" if caption else "")
    if len(text) <= limit:
        return text
    half = (limit - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def _limits(settings: ChunkSettings, cost: Cost) -> Limits:
    """What the longest context leaves, at one token a character."""
    tokens = max(settings.max_tokens - settings.max_context - 4, settings.max_tokens // 4)
    sparse = cost is estimate_tokens and tokens >= settings.max_characters
    return Limits(settings.max_characters, tokens, cost, sparse)


def _pieces(blocks: Iterable[Block], limits: Limits) -> list[Piece]:
    """Tables, figures and API operations on their own; what lies between them packed."""
    pieces: list[Piece] = []
    run: list[Block] = []
    for block in blocks:
        if block.kind not in ALONE:
            run.append(block)
            continue
        pieces += _packed(run, limits)
        run = []
        pieces += _table(block, limits) if block.kind == "table" else _alone(block, limits)
    return pieces + _packed(run, limits)


def _counted(piece: Piece, context: str, settings: ChunkSettings, count: Callable[[str], int]) -> list[Piece]:
    """The piece, or smaller ones where the embedder counts more tokens than it can read."""
    text = f"{context}\n{piece.text}"
    if estimate_tokens(text) <= SURE * settings.max_tokens or count(text) <= settings.max_tokens:
        return [piece]
    block = piece.blocks[0].model_copy(update={"text": piece.text, "html": piece.html})
    return [part._replace(blocks=piece.blocks) for part in _pieces((block,), _limits(settings, count))]


def _packed(run: list[Block], limits: Limits) -> list[Piece]:
    units = [unit for block in run for unit in units_of(block, limits)]
    if not units:
        return []
    return [_piece(group) for group in pack(pair_questions(units, limits), limits)]


def _piece(group: list[Unit]) -> Piece:
    """Its blocks, each once: the units of one block follow each other."""
    first = group[0]
    kind, texts, blocks = first.kind, [first.text], [first.block]
    for unit in group[1:]:
        texts += (unit.glue, unit.text)
        if unit.block is not blocks[-1]:
            blocks.append(unit.block)
        if unit.kind != kind:
            kind = "text"
    return Piece(kind, "".join(texts), tuple(blocks))


def _alone(block: Block, limits: Limits) -> list[Piece]:
    caption = block.caption or ""
    shown = block if block.text.strip() else block.model_copy(update={"text": caption})
    kind: ChunkKind = "figure" if block.kind == "figure" else "api"
    groups = pack(units_of(shown, limits), limits)
    return [Piece(kind, _piece(group).text, (block,), None, caption, block.artifact) for group in groups]


def _table(block: Block, limits: Limits) -> list[Piece]:
    caption = block.caption or ""
    pieces = []
    for text, html in split_table(block.text, block.html, limits):
        if limits.cost(text) <= limits.tokens and len(text) <= 1.5 * limits.characters:
            pieces.append(Piece("table", text, (block,), html, caption, block.artifact))
            continue
        as_text = block.model_copy(update={"kind": "text", "text": text})
        groups = pack(units_of(as_text, limits), limits)
        pieces += [Piece("table", _piece(group).text, (block,), None, caption) for group in groups]
    return pieces


def _place(blocks: tuple[Block, ...]) -> dict[str, Any]:
    """First page, last page, and the boxes, each once."""
    pages = [block.page for block in blocks if block.page is not None]
    if not pages:
        return NOWHERE
    pages += [part.page for block in blocks for part in block.parts]
    boxes = dict.fromkeys(place for block in blocks for place in block.places())
    return {"page_start": min(pages), "page_end": max(pages), "boxes": tuple(boxes)}


def _parents(pieces: list[Piece], limit: int) -> list[str | None]:
    """The section where it is short enough, else the neighbours; None where the chunk is the section."""
    if len(pieces) == 1 or not limit:
        return [None] * len(pieces)
    texts = [piece.text for piece in pieces]
    whole = "\n\n".join(texts)
    if len(whole) <= limit:
        return [whole] * len(pieces)
    around = ["\n\n".join(texts[max(0, number - 1) : number + 2]) for number in range(len(texts))]
    return [text if len(text) <= limit else None for text in around]
