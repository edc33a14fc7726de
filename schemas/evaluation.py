"""Evaluation sets (JSON lines) and what comes of them. Labels are text or names, so they survive another chunking."""

from typing import Literal

from pydantic import ConfigDict, Field

from schemas.base import Record


class EvaluationQuestion(Record):
    """One line of a set."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    question: str = Field(min_length=1)
    spans: tuple[str, ...] = ()
    """Exact evidence text; a passage that holds one is relevant. White space and punctuation do not count."""
    documents: tuple[str, ...] = ()
    """Uris or titles."""
    sections: tuple[str, ...] = ()
    """Last heading, or the path joined by ` > `."""
    answer: str = ""
    history: tuple[str, ...] = ()
    as_: str = Field(default="", alias="as")
    """User who asks. Without `as` and `groups` the question sees the whole knowledge base."""
    groups: tuple[str, ...] = ()
    """Teams of that user."""
    tags: tuple[str, ...] = ()
    unanswerable: bool = False
    pinned: bool = False
    """Must stay findable: losing it blocks a release whatever the mean says."""


class QuestionScore(Record):
    """Measures of one question, each 0..1, and the place of the first relevant hit."""

    question: str
    tags: tuple[str, ...] = ()
    pinned: bool = False
    unanswerable: bool = False
    measures: dict[str, float]
    rank: int | None = None
    """From 1; None when no relevant passage was found."""
    chunks: tuple[str, ...] = ()
    """Chunks of the hits, best first: tells what displaced the evidence, where its rank fell."""
    answered: bool = False
    """Whether the evidence was enough for an answer without a model."""
    judged: dict[str, float] = Field(default_factory=dict)
    """faithfulness, answer_relevancy, citation_accuracy by a language model; empty where none judged."""
    seconds: float = 0.0


class Interval(Record):
    """Mean difference candidate - baseline and its bootstrap interval."""

    mean: float
    low: float
    high: float


class Worse(Record):
    """A question that lost, and why."""

    question: str
    rank_before: int | None
    rank_after: int | None
    evidence: str
    """Chunk that held the evidence before."""
    gone: bool = False
    """That chunk is not shown any more."""
    displaced_by: str = ""
    """Chunk that stands above the evidence now and did not before; empty where the evidence is gone."""
    pinned: bool = False


class GatePolicy(Record):
    """When a release is stopped."""

    measure: Literal["nDCG@10", "RR@10", "R@5", "R@10", "Success@1", "Success@5", "Success@10"] = "nDCG@10"
    action: Literal["block", "warn", "pass"] = "block"
    tolerance: float = Field(default=0.01, ge=0)
    """A mean loss up to this is let through even where the interval excludes 0."""
    pinned_rank: int = Field(default=10, ge=1)
    lost_from: int = Field(default=5, ge=1)
    """Evidence that stood at this rank or better and is not among the hits any more is lost. That is no matter of
    chance, which is why it has a rule of its own: in a small set an interval cannot see it."""
    lost_questions: int = Field(default=0, ge=0)
    """So many lost questions are let through."""
    confidence: float = Field(default=0.95, gt=0, lt=1)
    samples: int = Field(default=2000, ge=100)


class GateVerdict(Record):
    """What the gate says, and why."""

    verdict: Literal["pass", "warn", "block"]
    reasons: tuple[str, ...] = ()
    difference: Interval
    worse: tuple[Worse, ...] = ()


class Evaluation(Record):
    """How releases of a knowledge base are evaluated: a part of sources.yaml."""

    sets: tuple[str, ...] = ()
    """JSON lines files, relative to sources.yaml; `labelled` is what people labelled from the query log."""
    gate: GatePolicy = GatePolicy()
