"""What was asked: masked, with what was shown. It feeds impact, and the queue of questions worth a label."""

import hashlib
import secrets
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal

from sqlalchemy import Connection, select, update

from pipelines import lifecycle
from pipelines.app import App
from pipelines.errors import Code, Conflict, Misconfigured
from pipelines.library import Reader
from schemas.evaluation import EvaluationQuestion
from schemas.search import Answer, Hit, SearchTrace
from sql import tables

Reason = Literal["no_hit", "low_score", "thumbs_down", "generated"]


def log(
    app: App,
    who: Reader,
    text: str,
    release: int,
    hits: Sequence[Hit],
    trace: SearchTrace | None,
    answer: Answer | None = None,
) -> str:
    """Returns the id of the entry. The question is masked first, for it may name a person; of the steps only counts,
    scores and times are kept: texts stay where erasure finds them."""
    from pipelines.mask import mask_query

    masked = mask_query(text, app.settings.mask, app.key)
    cited = {one.passage.chunk for one in answer.citations} if answer else set[str]()
    found = answer.found if answer else bool(hits)
    row = {"id": secrets.token_hex(16), "kb": app.kb, "at": app.clock(), "user": who.user or "anonymous"}
    row |= {"query": masked, "release": release, "found": found, "kind": "ask" if answer else "search"}
    row |= {"evidence": answer.evidence if answer else None, "steps": _steps(trace, answer)}
    with app.database.write() as tx:
        tx.execute(tables.query_log.insert(), row)
        if rows := _hits(str(row["id"]), hits, cited):
            tx.execute(tables.query_hit.insert(), rows)
        if not found:
            _queue(tx, app, masked, "no_hit", str(row["id"]))
        elif answer and answer.evidence < app.retrieve.low_evidence:
            _queue(tx, app, masked, "low_score", str(row["id"]))
    return str(row["id"])


def _hits(query: str, hits: Sequence[Hit], cited: Collection[str]) -> list[dict[str, Any]]:
    return [
        {
            "query": query,
            "rank": rank,
            "chunk": one.passage.chunk,
            "document": one.passage.document,
            "cited": one.passage.chunk in cited,
        }
        for rank, one in enumerate(hits)
    ]


def _steps(trace: SearchTrace | None, answer: Answer | None) -> dict[str, Any]:
    if trace is None:
        return {}
    return {
        "wordings": [one.origin for one in trace.queries],
        "routes": [
            {
                "route": one.route,
                "found": len(one.candidates),
                "best": max((s for _, s in one.candidates), default=None),
            }
            for one in trace.routes
        ],
        "reranked": len(trace.reranked),
        "cached": trace.cached,
        "failed": list(trace.failed),
        "seconds": trace.seconds,
        "tokens": answer.tokens if answer else 0,
    }


def feedback(app: App, query: str, verdict: Literal["up", "down"], user: str, comment: str = "") -> dict[str, Any]:
    """What a reader says about an answer. Thumbs down puts the question into the queue.

    Raises Conflict(UNKNOWN_SUBJECT) when nothing of that id was asked, Misconfigured on another verdict.
    """
    from pipelines.mask import mask_query

    if verdict not in ("up", "down"):
        raise Misconfigured(Code.BAD_SETTING, f"feedback is up or down, not {verdict!r}")
    said = mask_query(comment, app.settings.mask, app.key) if comment else ""
    table = tables.query_log
    with app.database.write() as tx:
        asked = tx.execute(select(table.c.query).where(table.c.kb == app.kb, table.c.id == query)).scalar()
        if asked is None:
            raise Conflict(Code.UNKNOWN_SUBJECT, f"no question of id {query} was asked")
        row = {"kb": app.kb, "query": query, "verdict": verdict, "comment": said, "user": user, "at": app.clock()}
        tx.execute(tables.feedback.insert(), row)
        if verdict == "down" and asked:
            _queue(tx, app, asked, "thumbs_down", query)
    return {"schema": "sluice.feedback/1", "query": query, "verdict": verdict}


def _queue(
    tx: Connection, app: App, question: str, reason: Reason, query: str, label: dict[str, Any] | None = None
) -> None:
    """One row for each wording; asked again, it counts up. What was decided about it stays decided."""
    table = tables.question
    id_ = hashlib.blake2b(f"{app.kb}\0{question.strip().casefold()}".encode(), key=app.key[:64], digest_size=16)
    where = table.c.id == id_.hexdigest()
    again = update(table).where(where).values(times=table.c.times + 1, query=query, at=app.clock())
    if not tx.execute(again).rowcount:
        row = {"id": id_.hexdigest(), "kb": app.kb, "question": question, "reason": reason, "query": query}
        tx.execute(table.insert().values(**row, label=label, at=app.clock()))


def queue(tx: Connection, kb: str, state: str = "open", limit: int = 200) -> list[dict[str, Any]]:
    """Questions that wait for a label (or were labelled, dismissed), those asked most often first."""
    table = tables.question
    query = select(table).where(table.c.kb == kb, table.c.state == state)
    rows = tx.execute(query.order_by(table.c.times.desc(), table.c.at.desc(), table.c.id).limit(limit)).mappings()
    return [dict(row) for row in rows]


def label(app: App, id_: str, **labels: Any) -> EvaluationQuestion:
    """Give a queued question its label: any of `documents`, `sections`, `spans`, `answer`, `unanswerable`, `pinned`,
    `tags`, `as`, `groups`, `question`. Raises Misconfigured on a wrong one, Conflict(UNKNOWN_SUBJECT)."""
    from pydantic import ValidationError

    table = tables.question
    with app.database.write() as tx:
        row = _row(tx, app.kb, id_)
        tags = [*labels.pop("tags", ()), *(["generated"] if row.reason == "generated" else [])]
        try:
            made = EvaluationQuestion.model_validate({"question": row.question, **labels, "tags": tuple(tags)})
        except ValidationError as error:
            first = error.errors()[0]
            raise Misconfigured(
                Code.BAD_SETTING, f"label {'.'.join(map(str, first['loc']))}: {first['msg']}"
            ) from error
        if not (made.spans or made.documents or made.sections or made.unanswerable):
            raise Misconfigured(Code.BAD_SETTING, "a label names spans, documents or sections, or says unanswerable")
        values = {"state": "labelled", "label": made.model_dump(mode="json", by_alias=True), "actor": app.actor}
        tx.execute(update(table).where(table.c.id == row.id).values(**values))
        _noted(tx, app, "question.labelled", row.id, "nothing should answer it" if made.unanswerable else "a label")
    return made


def dismiss(app: App, id_: str) -> None:
    """Not worth a label."""
    with app.database.write() as tx:
        row = _row(tx, app.kb, id_)
        where = tables.question.c.id == row.id
        tx.execute(update(tables.question).where(where).values(state="dismissed", actor=app.actor))
        _noted(tx, app, "question.dismissed", row.id, "not worth a label")


def _noted(tx: Connection, app: App, action: str, id_: str, reason: str) -> None:
    lifecycle.record(tx, app.kb, app.actor, action, "question", id_, reason)


def queued(tx: Connection, kb: str, id_: str) -> dict[str, Any] | None:
    """One of the queue, whatever its state."""
    table = tables.question
    found = tx.execute(select(table).where(table.c.kb == kb, table.c.id == id_)).mappings().first()
    return dict(found) if found else None


def _row(tx: Connection, kb: str, id_: str) -> Any:
    found = tx.execute(select(tables.question).where(tables.question.c.kb == kb, tables.question.c.id == id_)).first()
    if found is None:
        raise Conflict(Code.UNKNOWN_SUBJECT, f"there is no question {id_} in the queue")
    return found


def labelled(tx: Connection, kb: str) -> tuple[EvaluationQuestion, ...]:
    """The labelled questions as an evaluation set, in a fixed order."""
    table = tables.question
    query = select(table.c.label).where(table.c.kb == kb, table.c.state == "labelled").order_by(table.c.id)
    return tuple(EvaluationQuestion.model_validate(one) for one in tx.execute(query).scalars())


def as_lines(questions: Iterable[EvaluationQuestion]) -> str:
    """JSON lines, as evaluation sets are stored."""
    return "".join(one.model_dump_json(by_alias=True, exclude_defaults=True) + "\n" for one in questions)


def suggest(app: App, question: str, span: str, document: str) -> None:
    """Queue a generated question with the label that it came from; a person confirms it."""
    with app.database.write() as tx:
        _queue(tx, app, question, "generated", "", {"spans": [span], "documents": [document]})
