"""A release in a few lines of Markdown: the question that Airflow asks about it.

Whoever may look at the run reads it, whatever they may read of the knowledge base: what is not open to everyone is told
by its id, and the linked page, which knows the reader, names it.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from sqlalchemy import Connection, select

from pipelines.report.queue import Entry, Name, Queue, entries, names, queue
from pipelines.report.scope import Person, Scope, scope_of
from sql import tables

ROWS = 30
TITLE = 80
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>&~$:@/])")


def summary(tx: Connection, kb: str, number: int) -> str:
    """What waits, the heaviest risk first, and where to decide."""
    anyone = scope_of(tx, kb, Person(""))
    whole = _whole(tx, anyone)
    found = queue(tx, whole, number)
    shown = entries(tx, whole, found, limit=ROWS)
    known = names(tx, [one.document for one in shown if anyone.sees(tx, one.document)])
    page = f"/plugin/knowledge-base/knowledge-base/releases/{number}/review"
    lines = [f"{_counts(found)}. [Review them beside what readers see now]({page})", ""]
    lines += ["| risk | document | source | change | decision |", "|---|---|---|---|---|"]
    lines += [_row(one, known, page) for one in shown]
    if found.size > len(shown):
        lines.append(f"\n… and [{found.size - len(shown)} more, of less risk, in the queue]({page})")
    return "\n".join(lines)


def _whole(tx: Connection, scope: Scope) -> Scope:
    """The same reader, but every source counts."""
    s = tables.source
    return replace(scope, sources=tuple(tx.execute(select(s.c.name).where(s.c.kb == scope.kb)).scalars()))


def _counts(found: Queue) -> str:
    changes: Counter[str] = Counter()
    for one in found.kinds:
        changes[one.change] += one.count
    told = ", ".join(f"{count} {change}" for change, count in sorted(changes.items()))
    return f"{found.size} documents: {told}; {found.of('look').size} need a look"


def _row(one: Entry, known: Mapping[str, Name], page: str) -> str:
    named = known.get(one.document)
    label = _plain(named.title) if named else f"`{one.document[:8]}` (restricted)"
    kind = one.kind
    risk = ", ".join(kind.risks) or "none"
    return f"| {risk} | [{label}]({page}/{one.document}) | {_plain(kind.source)} | {kind.change} | {kind.decision} |"


def _plain(text: str) -> str:
    """No mark of Markdown or HTML in a title is one: each special character is escaped (CommonMark 0.31, 2.4)."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split())[:TITLE])
