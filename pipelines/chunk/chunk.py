"""Sections first, then paragraphs, then sentences; title and section path as context apart from the shown text."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast

from pipelines.chunk.pack import pack
from pipelines.chunk.settings import ChunkSettings
from pipelines.chunk.table import split_table
from pipelines.chunk.units import Cost, Limits, Unit, estimate_tokens, join, pair_questions, units_of
from pipelines.ids import chunk_id
from schemas.chunk import Chunk, ChunkKind
from schemas.document import Block, Document, PageBox


@dataclass(frozen=True)
class Section:
    path: tuple[str, ...]
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Piece:
    """A chunk without its identity."""

    kind: str
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
    cost: Cost = count_tokens or estimate_tokens
    equals: Counter[tuple[tuple[str, ...], str]] = Counter()
    chunks: list[Chunk] = []
    for section in sections(document):
        context = context_of(document.title, section.path, "", settings.max_context)
        limits = _limits(context, settings, cost)
        pieces = list(_pieces(section, limits))
        whole = "\n\n".join(piece.text for piece in pieces)
        for number, piece in enumerate(pieces):
            equal = equals[(section.path, piece.text)]
            equals[(section.path, piece.text)] += 1
            pages = [block.page for block in piece.blocks if block.page is not None]
            chunks.append(
                Chunk(
                    id=chunk_id(salt, document_id, section.path, piece.text, equal),
                    ordinal=len(chunks),
                    kind=cast(ChunkKind, piece.kind),
                    text=piece.text,
                    context=_with_caption(document.title, section.path, piece, context, settings),
                    section=section.path,
                    page_start=min(pages, default=None),
                    page_end=max(pages, default=None),
                    boxes=_boxes(piece.blocks),
                    html=piece.html,
                    parent=_parent(pieces, number, whole, settings.max_parent),
                    language=document.language,
                    artifact=piece.artifact,
                )
            )
    return tuple(chunks)


def sections(document: Document) -> Iterator[Section]:
    """Runs of blocks under one heading path. A heading with nothing below it becomes its section's text."""
    path: list[tuple[int, str]] = []
    blocks: list[Block] = []
    bare: Block | None = None
    for block in document.blocks:
        if block.hidden or not (block.text.strip() or block.caption):
            continue
        if block.kind != "heading":
            blocks.append(block)
            bare = None
            continue
        level = block.level or 1
        if bare is not None and level <= (bare.level or 1):
            blocks = [bare]
        if blocks:
            yield Section(tuple(text for _, text in path), tuple(blocks))
        path = [*((depth, text) for depth, text in path if depth < level), (level, " ".join(block.text.split()))]
        blocks, bare = [], block
    if bare is not None:
        blocks = [bare]
    if blocks:
        yield Section(tuple(text for _, text in path), tuple(blocks))


def context_of(title: str, path: tuple[str, ...], caption: str, limit: int) -> str:
    """`title > heading > heading: caption`, at most `limit` characters."""
    steps = [" ".join(title.split()), *path]
    steps = [step for number, step in enumerate(steps) if step and step not in steps[:number]]
    text = " > ".join(steps) + (f": {' '.join(caption.split())}" if caption else "")
    if len(text) <= limit:
        return text
    half = (limit - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def _with_caption(title: str, path: tuple[str, ...], piece: Piece, context: str, settings: ChunkSettings) -> str:
    return context_of(title, path, piece.caption, settings.max_context) if piece.caption else context


def _limits(context: str, settings: ChunkSettings, cost: Cost) -> Limits:
    """What the context leaves; a caption may still fill it up to its cap, at one token a character."""
    reserve = max(cost(context), 0.0) + max(settings.max_context - len(context), 0) * 0.9 + 4
    return Limits(settings.max_characters, max(settings.max_tokens - reserve, settings.max_tokens // 4), cost)


def _pieces(section: Section, limits: Limits) -> Iterator[Piece]:
    """Tables, figures and API operations on their own; what lies between them packed."""
    run: list[Unit] = []
    for block in section.blocks:
        if block.kind not in ("table", "figure", "api"):
            run += units_of(block, limits)
            continue
        yield from _packed(run, limits)
        run = []
        yield from _table(block, limits) if block.kind == "table" else _alone(block, limits)
    yield from _packed(run, limits)


def _packed(run: list[Unit], limits: Limits) -> Iterator[Piece]:
    if not run:
        return
    for group in pack(pair_questions(run, limits), limits):
        kinds = {unit.kind for unit in group}
        blocks = tuple({id(unit.block): unit.block for unit in group}.values())
        text = join(group)
        yield Piece(kinds.pop() if len(kinds) == 1 else "text", text, blocks)


def _alone(block: Block, limits: Limits) -> Iterator[Piece]:
    text = block.text.strip() or (block.caption or "")
    for group in pack(list(units_of(block.model_copy(update={"text": text}), limits)), limits):
        yield Piece(block.kind, join(group), (block,), caption=block.caption or "", artifact=block.artifact)


def _table(block: Block, limits: Limits) -> Iterator[Piece]:
    for text, html in split_table(block.text, block.html, limits):
        if limits.cost(text) <= limits.tokens and len(text) <= 1.5 * limits.characters:
            yield Piece("table", text, (block,), html, block.caption or "", block.artifact)
            continue
        as_text = block.model_copy(update={"kind": "text", "text": text})
        for group in pack(list(units_of(as_text, limits)), limits):
            yield Piece("table", join(group), (block,), None, block.caption or "")


def _boxes(blocks: tuple[Block, ...]) -> tuple[PageBox, ...]:
    if not any(block.box for block in blocks):
        return ()
    boxes = (PageBox(page=block.page, box=block.box) for block in blocks if block.page and block.box)
    return tuple(dict.fromkeys(boxes))


def _parent(pieces: list[Piece], number: int, whole: str, limit: int) -> str | None:
    """The section where it is short enough, else the neighbours; None where the chunk is the section."""
    if len(pieces) == 1 or not limit:
        return None
    if len(whole) <= limit:
        return whole
    around = "\n\n".join(piece.text for piece in pieces[max(0, number - 1) : number + 2])
    return around if len(around) <= limit else None
