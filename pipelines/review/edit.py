"""What a reviewer does to one chunk: edit its text, or hold it back. It survives every later sync, until the chunk
itself changes at its source, and it goes through review like any other change."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import Connection, delete, select

from pipelines import lifecycle
from pipelines.editions import Rerun, renew
from pipelines.errors import Code, Conflict, Rejected
from pipelines.work import load
from schemas.chunk import Masked, MaskedChunk
from schemas.source import Source
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App

Kind = Literal["edit", "hold"]


def edit(app: "App", chunk: str, text: str, reason: str) -> str:
    """Put `text`, masked, in the place of the chunk's. Returns the version that the next sync works on.

    Raises Conflict(UNKNOWN_SUBJECT), Rejected(PII_UNMASKABLE | CHUNK_TOO_LONG | PARSE_NO_TEXT).
    """
    from pipelines.mask import mask_edit

    row, source, held = _home(app, chunk)
    if not text.strip():
        raise Rejected(Code.PARSE_NO_TEXT, "an empty text: hold the chunk to keep it back")
    masked = mask_edit(text, source.mask, app.settings.mask, app.key)
    words = f"{held.context}\n{masked}" if held.context else masked
    embedder = app.embedder()
    if (tokens := embedder.count_tokens(words)) > (most := embedder.description.max_tokens):
        raise Rejected(Code.CHUNK_TOO_LONG, f"{tokens} tokens with its context, of at most {most}")
    return _lay(app, row, chunk, "edit", masked, reason)


def hold_chunk(app: "App", chunk: str, reason: str) -> str:
    """Keep one chunk out of what readers see. Returns the version that the next sync works on."""
    row, _, _ = _home(app, chunk)
    return _lay(app, row, chunk, "hold", None, reason)


def undo(app: "App", chunk: str, kind: Kind, reason: str) -> str:
    """The chunk is again as its source has it. Raises Conflict(UNKNOWN_SUBJECT) where there is nothing to take back."""
    row, _, _ = _home(app, chunk)
    table = tables.overlay
    with app.database.write() as tx:
        where = (table.c.kb == app.kb) & (table.c.chunk == chunk) & (table.c.kind == kind)
        if not tx.execute(delete(table).where(where)).rowcount:
            raise Conflict(Code.UNKNOWN_SUBJECT, f"chunk {chunk} has no {kind}")
        return _again(tx, app, row, kind, chunk, f"chunk.{kind}_undone", reason)


def overlays(tx: Connection, kb: str, document: str) -> list[dict[str, Any]]:
    """What people did to chunks of a document: chunk, kind, text (masked), actor, reason, at."""
    table = tables.overlay
    query = select(table).where(table.c.kb == kb, table.c.document == document).order_by(table.c.chunk, table.c.kind)
    return [dict(row) for row in tx.execute(query).mappings()]


def editors(tx: Connection, kb: str, documents: Sequence[str]) -> set[str]:
    """Who edited or held back chunks of these documents."""
    table = tables.overlay
    found: set[str] = set()
    for start in range(0, len(documents), 500):
        mine = (table.c.kb == kb) & table.c.document.in_(documents[start : start + 500])
        found.update(tx.execute(select(table.c.actor).where(mine)).scalars())
    return found


def _home(app: "App", chunk: str) -> tuple[Any, Source, MaskedChunk]:
    """The newest staged or published version that has the chunk, its source, and the chunk as it is."""
    v, vc, d, s = tables.version, tables.version_chunk, tables.document, tables.source
    with app.database.read() as tx:
        mine = (v.c.kb == app.kb) & (vc.c.chunk == chunk) & v.c.state.in_(("staged", "published"))
        query = select(v).join(vc, vc.c.version == v.c.id).where(mine).order_by(v.c.number.desc()).limit(1)
        row = tx.execute(query).first()
        if row is None:
            raise Conflict(Code.UNKNOWN_SUBJECT, f"no staged or published version has a chunk {chunk}")
        home = select(s.c.config).join(d, (d.c.kb == s.c.kb) & (d.c.source == s.c.name))
        config = tx.execute(home.where(d.c.id == row.document)).scalar_one()
    chunks = load(app, row.artifacts["mask"], Masked).chunks
    return row, Source.model_validate(config), next(one for one in chunks if one.id == chunk)


def _lay(app: "App", row: Any, chunk: str, kind: Kind, text: str | None, reason: str) -> str:
    table = tables.overlay
    values = {"chunk": chunk, "kind": kind, "kb": app.kb, "document": row.document, "text": text}
    with app.database.write() as tx:
        tx.execute(delete(table).where(table.c.chunk == chunk, table.c.kind == kind))
        tx.execute(table.insert().values(**values, actor=app.actor, reason=reason, at=app.clock()))
        return _again(tx, app, row, kind, chunk, f"chunk.{kind}", reason)


def _again(tx: Connection, app: "App", row: Any, kind: Kind, chunk: str, action: str, reason: str) -> str:
    lifecycle.record(tx, app.kb, app.actor, action, "chunk", chunk, reason, version=row.id)
    v = tables.version
    same = (v.c.document == row.document) & (v.c.sha256 == row.sha256)
    waiting = tx.execute(select(v.c.id).where(same, v.c.state == "discovered").limit(1)).scalar()
    if waiting is not None:
        return str(waiting)  # it will read the overlay on its way
    kept = {name: key for name, key in row.artifacts.items() if name in ("parse", "dedup")}
    return renew(tx, app, row, row.run, f"{kind} of a chunk", artifacts=kept, rerun=Rerun(layer="mask"))
