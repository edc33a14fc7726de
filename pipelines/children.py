"""Files inside a file (attachments of a PDF or a message, members of an archive) as documents of their own.

A child stands beside its parent in the same source, under the parent's name and its own, with the parent's rights; it
comes and goes with the parent's content. It holds no place in the listing of its source, so a scan never misses it.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, select, update

from pipelines import ids, lifecycle
from pipelines.app import App
from pipelines.editions import discover, leave
from pipelines.names import Names, placeholder
from pipelines.work import Work
from schemas.document import Attachment
from sql import tables

INSIDE = "!/"
"""Between the name of a file and that of a file in it, as in Java's jar: URLs."""
MAX_DEPTH = 2


def note_children(tx: Connection, app: App, work: Work, attachments: Sequence[Attachment], run: str) -> None:
    """Registers what the parsed version holds; what it holds no longer is gone. Idempotent."""
    d = tables.document
    parent = tx.execute(select(d).where(d.c.id == work.document)).mappings().one()
    wanted: dict[str, Attachment] = {}
    erased = lifecycle.tombstones(tx, app.kb, "content")
    for one in attachments if depth(work.uri) < MAX_DEPTH and parent["present"] else ():
        if one.key and _sha256(one) not in erased:
            wanted.setdefault(f"{work.uri}{INSIDE}{one.name}", one)
    held = tx.execute(select(d.c.id).where(d.c.parent == work.document, d.c.present.is_(True))).scalars()
    gone = set(held)
    for uri, one in wanted.items():
        child = ids.document_id(app.key, app.kb, work.source.name, uri)
        gone.discard(child)
        _note(tx, app, work, child, uri, one, int(parent["acl"]))
        discover(tx, app, child, _sha256(one), placeholder(child, uri), run, f"a file of {one.size} bytes in another")
    leave(tx, app, sorted(gone), "no longer inside its file")


def waiting(tx: Connection, kb: str) -> list[str]:
    """Versions of children that no layer has taken yet."""
    d, v = tables.document, tables.version
    query = select(v.c.id).join(d, d.c.id == v.c.document).where(v.c.kb == kb, v.c.state == "discovered")
    return list(tx.execute(query.where(d.c.parent.is_not(None)).order_by(v.c.id)).scalars())


def depth(uri: str) -> int:
    return uri.count(INSIDE)


def _sha256(one: Attachment) -> str:
    return one.key.rpartition("/")[2]


def _note(tx: Connection, app: App, work: Work, child: str, uri: str, one: Attachment, acl: int) -> None:
    d, names = tables.document, Names(app, work.source)
    sha = _sha256(one)
    values = {"token": sha, "sha256": sha, "size": one.size, "acl": acl, "present": True, "seen": app.clock()}
    if tx.execute(select(d.c.id).where(d.c.id == child)).first():
        tx.execute(update(d).where(d.c.id == child).values(**values))
        return
    row = {"id": child, "kb": app.kb, "source": work.source.name, "parent": work.document}
    named = {"uri": placeholder(child, uri), "name_key": names.key(uri), "name_sealed": names.sealed(uri)}
    tx.execute(d.insert().values(**row, **named, **values))
