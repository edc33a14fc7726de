"""Measures and the gate."""

from pipelines.evaluate.gate import gate, paired_bootstrap
from pipelines.evaluate.metrics import score
from schemas.evaluation import EvaluationQuestion, GatePolicy, QuestionScore
from schemas.search import Hit, Passage


def _hit(id_: str, text: str) -> Hit:
    passage = Passage(
        id=id_, chunk=id_, document="d", version="v", release=1, source="s", title="t", uri="u", text=text
    )
    return Hit(passage=passage, score=1.0)


def _score(question: str, value: float, rank: int | None, pinned: bool = False) -> QuestionScore:
    return QuestionScore(
        question=question, measures={"nDCG@10": value}, rank=rank, pinned=pinned, chunks=("c9", "c1", "c2")
    )


def test_evidence_at_the_second_place_counts_half() -> None:
    asked = EvaluationQuestion(question="q", spans=("报销 30 天",))
    found = score(asked, [_hit("a", "别的"), _hit("b", "应在报销30天内")])
    assert (found.rank, found.measures["RR@10"], found.measures["R@5"]) == (2, 0.5, 1.0)


def test_evidence_that_is_not_found_lowers_recall() -> None:
    found = score(EvaluationQuestion(question="q", spans=("甲", "乙")), [_hit("a", "甲")])
    assert found.measures["R@10"] == 0.5


def test_a_harmless_release_passes_and_a_planted_regression_is_named() -> None:
    before = [_score(f"q{n}", 1.0, 1) for n in range(20)]
    after = [_score(f"q{n}", 0.3 if n < 8 else 1.0, 5 if n < 8 else 1) for n in range(20)]
    assert gate(before, before, GatePolicy()).verdict == "pass"
    verdict = gate(before, after, GatePolicy())
    assert verdict.verdict == "block"
    assert [one.question for one in verdict.worse] == [f"q{n}" for n in range(8)]
    assert verdict == gate(before, after, GatePolicy())


def test_a_lost_pinned_question_blocks_whatever_the_mean() -> None:
    before = [_score(f"q{n}", 1.0, 1, pinned=n == 0) for n in range(200)]
    after = [_score("q0", 0.0, None, pinned=True), *before[1:]]
    assert gate(before, after, GatePolicy()).verdict == "block"


def test_the_interval_holds_the_mean() -> None:
    found = paired_bootstrap([0.0, 0.5, -0.25, 1.0])
    assert found.low <= found.mean <= found.high
