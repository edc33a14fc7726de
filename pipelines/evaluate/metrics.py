"""From a question and its hits to measures, through ir-measures (trec_eval's definitions)."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from schemas.evaluation import EvaluationQuestion, QuestionScore
from schemas.search import Hit, Passage

MEASURES = ("Success@1", "Success@5", "Success@10", "R@5", "R@10", "RR@10", "nDCG@10")
"""Success is hit@k, RR is the reciprocal rank behind MRR."""


def read_set(path: Path) -> tuple[EvaluationQuestion, ...]:
    """One JSON object a line. Raises pydantic.ValidationError on the first wrong one."""
    lines = path.read_text("utf-8").splitlines()
    return tuple(EvaluationQuestion.model_validate_json(line) for line in lines if line.strip())


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
    return re.sub(r"\s+", "", text)


def score(question: EvaluationQuestion, hits: Sequence[Hit]) -> QuestionScore:
    """A label counts once, at the first hit that meets it: repeats of the same evidence earn nothing."""
    open_labels = set(question.spans or question.sections or question.documents)
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
        measures={} if question.unanswerable else _measured(relevant, len(open_labels)),
        rank=relevant.index(True) + 1 if True in relevant else None,
        first_chunk=hits[0].passage.chunk if hits else "",
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


def means(scores: Iterable[QuestionScore]) -> dict[str, float]:
    """Mean of each measure over the answerable questions."""
    rows = [one.measures for one in scores if one.measures]
    return {name: sum(row[name] for row in rows) / len(rows) for name in MEASURES} if rows else {}
