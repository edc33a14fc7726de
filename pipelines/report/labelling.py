"""What a person needs to label a question: how many wait, and whether the words that answer it are really shown."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlalchemy import Connection, func, select

from pipelines.errors import Code, Misconfigured
from sql import tables

if TYPE_CHECKING:
    from pipelines.report.scope import Scope


def tally(tx: Connection, kb: str) -> dict[str, int]:
    """Questions by state."""
    q = tables.question
    return dict(tx.execute(select(q.c.state, func.count()).where(q.c.kb == kb).group_by(q.c.state)).all())


def evidence_of(tx: Connection, scope: "Scope", release: int, spans: Sequence[str]) -> tuple[str, ...]:
    """Uris of the documents that hold these words at the release. Raises Misconfigured where no passage that this
    person may see holds them: such a label would fail every release."""
    if not spans:
        raise Misconfigured(Code.BAD_SETTING, "tick the sentences that answer it, or write their words")
    found: dict[str, None] = {}
    for span in spans:
        uri = _home(tx, scope, release, span)
        if uri is None:
            raise Misconfigured(Code.BAD_SETTING, f"no passage that readers see holds these words: {span[:80]}")
        found[uri] = None
    return tuple(found)


def _home(tx: Connection, scope: "Scope", release: int, span: str) -> str | None:
    c, d = tables.chunk, tables.document
    shown = (c.c.kb == scope.kb) & (c.c.born <= release) & (c.c.died > release)
    query = select(d.c.uri).join(c, c.c.document == d.c.id).where(shown, scope.covers(d))
    return tx.execute(query.where(c.c.text.contains(span, autoescape=True)).order_by(c.c.id).limit(1)).scalar()
