"""From a question and its hits to measures, through ir-measures (trec_eval's definitions)."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pipelines.errors import Code, Misconfigured
from pipelines.retrieve.tokens import fold
from schemas.evaluation import EvaluationQuestion, QuestionScore
from schemas.search import Hit, Passage

MEASURES = ("Success@1", "Success@5", "Success@10", "R@5", "R@10", "RR@10", "nDCG@10")
"""Success is hit@k, RR is the reciprocal rank behind MRR."""


def read_set(path: Path) -> tuple[EvaluationQuestion, ...]:
    """One JSON object a line. Raises Misconfigured(BAD_SETTING) with the number of the first wrong line."""
    questions: list[EvaluationQuestion] = []
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(Code.BAD_SETTING, f"the evaluation set {path} cannot be read: {error}") from error
    for number, line in enumerate(lines, 1):
        try:
            questions += [EvaluationQuestion.model_validate_json(line)] if line.strip() else []
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "line"
            raise Misconfigured(Code.BAD_SETTING, f"{path}, line {number}: {place}: {first['msg']}") from error
    return tuple(questions)


def labels(question: EvaluationQuestion, passage: Passage) -> set[str]:
    """Which labels of the question the passage meets. Spans bind before sections, sections before documents."""
    if question.spans:
        text = _squeezed(passage.text)
        return {span for span in question.spans if _squeezed(span) in text}
    if question.sections:
        names = {" > ".join(passage.section), *passage.section[-1:]}
        in_document = not question.documents or bool(_named(question, passage))
        return {one for one in question.sections if one in names} if in_document else set()
    return _named(question, passage)


def _named(question: EvaluationQuestion, passage: Passage) -> set[str]:
    return {one for one in question.documents if one in (passage.uri, passage.title)}


def _squeezed(text: str) -> str:
    """Letters and digits only, folded: what Markdown, a line end or full width add to a text is not evidence."""
    return re.sub(r"[\W_]+", "", fold(text))


def score(
    question: EvaluationQuestion, hits: Sequence[Hit], answered: bool = False, seconds: float = 0.0
) -> QuestionScore:
    """A label counts once, at the first hit that meets it: repeats of the same evidence earn nothing."""
    open_labels = set(question.spans or question.sections or question.documents)
    labelled = bool(open_labels) and not question.unanswerable
    relevant: list[bool] = []
    for hit in hits:
        met = labels(question, hit.passage) & open_labels
        open_labels -= met
        relevant.append(bool(met))
    return QuestionScore(
        question=question.question,
        tags=question.tags,
        pinned=question.pinned,
        unanswerable=question.unanswerable,
        measures=_measured(relevant, len(open_labels)) if labelled else {},
        rank=relevant.index(True) + 1 if labelled and True in relevant else None,
        chunks=tuple(hit.passage.chunk for hit in hits),
        answered=answered,
        seconds=seconds,
    )


def _measured(relevant: Sequence[bool], missing: int) -> dict[str, float]:
    import ir_measures

    wanted: list[Any] = [ir_measures.parse_measure(name) for name in MEASURES]
    qrels = {f"hit{at}": 1 for at, yes in enumerate(relevant) if yes} | {f"missing{n}": 1 for n in range(missing)}
    if not relevant or not any(relevant):
        return dict.fromkeys(MEASURES, 0.0)
    run = {f"hit{at}": float(len(relevant) - at) for at in range(len(relevant))}
    found = ir_measures.calc_aggregate(wanted, {"q": qrels}, {"q": run})
    return {str(measure): float(value) for measure, value in found.items()}


def means(scores: Sequence[QuestionScore]) -> dict[str, float]:
    """Mean of each measure over the labelled questions; shares of wrong answers and wrong refusals; p50 of seconds."""
    rows = [one.measures for one in scores if one.measures]
    found = {name: sum(row[name] for row in rows) / len(rows) for name in MEASURES} if rows else {}
    strangers = [one.answered for one in scores if one.unanswerable]
    known = [not one.answered for one in scores if not one.unanswerable]
    if strangers:
        found["false_answers"] = sum(strangers) / len(strangers)
    if known:
        found["false_refusals"] = sum(known) / len(known)
    for name in sorted({name for one in scores for name in one.judged}):
        values = [one.judged[name] for one in scores if name in one.judged]
        found[name] = sum(values) / len(values)
    found["questions"] = float(len(scores))
    return found


def tables_by_tag(scores: Sequence[QuestionScore]) -> dict[str, dict[str, float]]:
    """`means` of the questions of each tag, tags in order."""
    tags = sorted({tag for one in scores for tag in one.tags})
    return {tag: means([one for one in scores if tag in one.tags]) for tag in tags}
