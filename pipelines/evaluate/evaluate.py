"""Evaluate a release, alone or against another, and keep the report."""

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from pipelines.errors import Code, Conflict, Misconfigured
from pipelines.evaluate.gate import evidence, gate
from pipelines.evaluate.library import EvaluationLibrary, PreviewLibrary
from pipelines.evaluate.metrics import means, tables_by_tag
from pipelines.evaluate.run import questions_of, run
from pipelines.library import Reader
from pipelines.ports import LanguageModel
from pipelines.retrieve.settings import RetrieveSettings
from schemas.evaluation import GatePolicy, GateVerdict, QuestionScore
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App


def evaluate(
    app: "App",
    sets: Sequence[str],
    at: int | None = None,
    against: int | None = None,
    changes: Sequence[str] = (),
    judged: bool = False,
    written: bool = False,
) -> dict[str, Any]:
    """The public object of `sluice eval`.

    `at` None: the live release. With `against`, or with `changes` to the settings (`fusion=rrf`; the baseline is then
    the same release under the settings as they are), the two are compared. `judged` wants the gate's verdict: without
    another baseline it is against the release that this one replaced. `written`: the language model answers the
    questions and judges the answers; `judged` then counts those that it did judge.
    """
    questions = questions_of(app, sets)
    if not questions:
        raise Misconfigured(Code.BAD_SETTING, "the evaluation sets hold no question")
    library = EvaluationLibrary(app, None, at)
    if not library.release:
        raise Conflict(Code.RELEASE_UNKNOWN, "nothing is published yet, so there is nothing to evaluate")
    number, model = library.release, _judge(app) if written else None
    candidate = run(app, questions, _published(app, number), changed(app.retrieve, changes), _time(app, number), model)
    baseline: list[QuestionScore] = []
    if against is not None or changes:
        against = number if against is None else against
        baseline = run(app, questions, _published(app, against), app.retrieve, _time(app, number))
    policy = policy_of(app)
    verdict = (
        _verdict(baseline, candidate, policy, EvaluationLibrary(app, None, number)) if baseline or judged else None
    )
    report = report_of(", ".join(sets), number, against, baseline, candidate, verdict, policy)
    if written:
        report["judged"] = sum(bool(one.judged) for one in candidate)
    keep(app, report)
    return report


def evaluate_preview(app: "App", number: int, live: int) -> dict[str, Any] | None:
    """Release `number`, staged but not live, against the live one, on the sets of sources.yaml; None without sets."""
    sets = app.sources().evaluation.sets if app.settings.sources.exists() else ()
    questions = questions_of(app, sets)
    if not questions:
        return None
    at, policy = _time(app, number), policy_of(app)

    def preview(reader: Reader | None) -> EvaluationLibrary:
        return PreviewLibrary(app, reader, number)

    candidate = run(app, questions, preview, app.retrieve, at)
    baseline = run(app, questions, _published(app, live), app.retrieve, at) if live else []
    verdict = _verdict(baseline, candidate, policy, preview(None))
    report = report_of(", ".join(sets), number, live, baseline, candidate, verdict, policy)
    keep(app, report)
    return report


def evaluate_collection(app: "App", collection: str, embedder: str) -> dict[str, Any] | None:
    """The live release as another collection with another embedder answers it, against the live collection, on the sets
    of sources.yaml; None without sets or before the first release."""
    sets = app.sources().evaluation.sets if app.settings.sources.exists() else ()
    questions = questions_of(app, sets)
    live = EvaluationLibrary(app, None)
    if not questions or not live.release:
        return None
    number, policy, settings = live.release, policy_of(app), app.settings.retrieve

    def other(reader: Reader | None) -> EvaluationLibrary:
        library = EvaluationLibrary(app, reader, number)
        library.collection, library.embedder = collection, embedder
        return library

    candidate = run(app, questions, other, settings, _time(app, number))
    baseline: list[QuestionScore] = []
    with suppress(Misconfigured):  # the old embedder may be wired nowhere any more
        baseline = run(app, questions, _published(app, number), settings, _time(app, number))
    report = report_of(
        ", ".join(sets), number, number, baseline, candidate, _verdict(baseline, candidate, policy, live), policy
    )
    keep(app, report)
    return report


def _judge(app: "App") -> LanguageModel:
    llm = app.llm()
    if llm is None:
        raise Misconfigured(Code.BAD_SETTING, "answers are judged by a language model: set SLUICE_LLM__BASE_URL")
    return llm


def policy_of(app: "App") -> GatePolicy:
    return app.sources().evaluation.gate if app.settings.sources.exists() else GatePolicy()


def changed(settings: RetrieveSettings, changes: Sequence[str]) -> RetrieveSettings:
    """The settings with `name=value` pairs put over them. Raises Misconfigured(BAD_SETTING)."""
    import yaml
    from pydantic import ValidationError

    values = dict[str, Any]()
    for one in changes:
        name, equals, value = one.partition("=")
        if not equals or name not in RetrieveSettings.model_fields:
            raise Misconfigured(Code.BAD_SETTING, f"{one!r} is not name=value with a name of the retrieve settings")
        values[name] = yaml.safe_load(value)
    try:
        return RetrieveSettings.model_validate({**settings.model_dump(), **values})
    except ValidationError as error:
        raise Misconfigured(Code.BAD_SETTING, f"retrieve settings: {error.errors()[0]['msg']}") from error


def _published(app: "App", number: int) -> Any:
    return lambda reader: EvaluationLibrary(app, reader, number)


def _time(app: "App", number: int) -> float:
    """`last month` in a question means the month before the release was built, whenever it is asked."""
    table = tables.release
    with app.database.read() as tx:
        where = (table.c.kb == app.kb) & (table.c.number == number)
        return float(tx.execute(select(table.c.created).where(where)).scalar_one())


def _base(app: "App", number: int) -> int:
    table = tables.release
    with app.database.read() as tx:
        where = (table.c.kb == app.kb) & (table.c.number == number)
        return int(tx.execute(select(table.c.base).where(where)).scalar_one())


def _verdict(
    baseline: Sequence[QuestionScore],
    candidate: Sequence[QuestionScore],
    policy: GatePolicy,
    library: EvaluationLibrary,
) -> GateVerdict:
    held = sorted({evidence(one) for one in baseline} - {""})
    return gate(baseline, candidate, policy, set(held) - library.shown(held))


def report_of(
    name: str,
    number: int,
    against: int | None,
    baseline: Sequence[QuestionScore],
    candidate: Sequence[QuestionScore],
    verdict: GateVerdict | None,
    policy: GatePolicy,
) -> dict[str, Any]:
    difference = verdict.difference.model_dump() if verdict and baseline else None
    return {
        "schema": "sluice.eval/1",
        "set": name,
        "release": number,
        "against": against,
        "metrics": means(candidate),
        "baseline": means(baseline) if baseline else None,
        "tags": tables_by_tag(candidate),
        "interval": difference and {"measure": policy.measure, "confidence": policy.confidence, **difference},
        "gate": verdict.model_dump(mode="json", exclude={"difference"}) if verdict else None,
        "seconds": latency(candidate),
    }


def latency(scores: Sequence[QuestionScore]) -> dict[str, float]:
    """Median and 95th percentile of one search, wall time."""
    times = sorted(one.seconds for one in scores)
    return {"p50": times[len(times) // 2], "p95": times[min(len(times) - 1, len(times) * 95 // 100)]}


def keep(app: "App", report: dict[str, Any]) -> None:
    """Store the report, questions that got worse included; the pages and the release show it."""
    row = {"kb": app.kb, "release": report["release"], "at": app.clock(), "report": report}
    with app.database.write() as tx:
        tx.execute(tables.eval_run.insert().values(**row))


def runs(tx: Connection, kb: str, limit: int = 50) -> list[dict[str, Any]]:
    """Stored reports, newest first."""
    table = tables.eval_run
    query = select(table).where(table.c.kb == kb).order_by(table.c.id.desc()).limit(limit)
    return [{"id": row.id, "at": row.at, **row.report} for row in tx.execute(query)]
