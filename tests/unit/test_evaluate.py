"""Measures and the gate."""

from pipelines.evaluate.gate import gate, paired_bootstrap
from pipelines.evaluate.judge import Judgement, judge
from pipelines.evaluate.metrics import score
from schemas.evaluation import EvaluationQuestion, GatePolicy, QuestionScore
from schemas.search import Answer, Citation, Hit, Passage
from tests.fakes import FakeLanguageModel


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


def test_a_pinned_question_that_was_never_found_is_not_lost() -> None:
    unfound = [_score("q0", 0.0, None, pinned=True)]
    assert gate([], unfound, GatePolicy()).verdict == "pass"
    assert gate(unfound, unfound, GatePolicy()).verdict == "pass"


def test_a_lost_pinned_question_blocks_whatever_the_mean() -> None:
    before = [_score(f"q{n}", 1.0, 1, pinned=n == 0) for n in range(200)]
    after = [_score("q0", 0.0, None, pinned=True), *before[1:]]
    assert gate(before, after, GatePolicy()).verdict == "block"


def test_the_interval_holds_the_mean() -> None:
    found = paired_bootstrap([0.0, 0.5, -0.25, 1.0])
    assert found.low <= found.mean <= found.high


def test_a_judge_counts_sentences_and_one_that_says_too_little_counts_nothing() -> None:
    cited = Citation(number=2, passage=_hit("a", "住宿费上限为每晚500元。").passage, quote="")
    made = Answer(found=True, text="上限为500元[2]。 另有早餐[2]。", citations=(cited,))
    says = Judgement(supported=(True, False), cited=(True, False), relevance=8)
    model = FakeLanguageModel({"judge": lambda _: says})
    assert judge("上限", made, model) == {"faithfulness": 0.5, "citation_accuracy": 0.5, "answer_relevancy": 0.8}
    assert "<source number=2>" in model.asked[0][1]
    short = FakeLanguageModel({"judge": lambda _: says.model_copy(update={"supported": (True,)})})
    assert judge("上限", made, short) == judge("上限", made, FakeLanguageModel({})) == {}


def test_evidence_that_fell_out_of_the_first_ten_is_lost_and_a_vanished_chunk_is_told_from_a_displaced_one() -> None:
    before = [_score(f"q{n}", 1.0, 1) for n in range(30)]
    after = [_score("q0", 0.0, None), *before[1:]]
    verdict = gate(before, after, GatePolicy())
    assert verdict.reasons == ("evidence lost: q0",)
    assert gate(before, after, GatePolicy(lost_questions=1)).verdict == "pass"
    assert gate(before, after, GatePolicy(action="warn")).verdict == "warn"
    assert gate(before, after, GatePolicy(), gone={"c9"}).worse[0].gone
