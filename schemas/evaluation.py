"""Evaluation sets (JSON lines) and what comes of them. Labels are text or names, so they survive another chunking."""

from typing import Literal

from pydantic import ConfigDict, Field

from schemas.base import Record


class EvaluationQuestion(Record):
    """One line of a set."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    question: str = Field(min_length=1)
    spans: tuple[str, ...] = ()
    """Exact evidence text; a passage that holds one is relevant."""
    documents: tuple[str, ...] = ()
    """Uris or titles."""
    sections: tuple[str, ...] = ()
    """Last heading, or the path joined by ` > `."""
    answer: str = ""
    history: tuple[str, ...] = ()
    as_: str = Field(default="", alias="as")
    """User who asks."""
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
    first_chunk: str = ""
    """The chunk at rank 1: what displaced the evidence, where the rank fell."""


class Interval(Record):
    """Mean difference candidate - baseline and its bootstrap interval."""

    mean: float
    low: float
    high: float


class Worse(Record):
    """A question that lost, and what stands above its evidence now."""

    question: str
    rank_before: int | None
    rank_after: int | None
    displaced_by: str
    pinned: bool


class GatePolicy(Record):
    """When a release is stopped."""

    measure: str = "nDCG@10"
    action: Literal["block", "warn", "pass"] = "block"
    tolerance: float = Field(default=0.01, ge=0)
    """A mean loss up to this is let through even where the interval excludes 0."""
    pinned_rank: int = Field(default=10, ge=1)
    confidence: float = Field(default=0.95, gt=0, lt=1)
    samples: int = Field(default=2000, ge=100)


class GateVerdict(Record):
    """What the gate says, and why."""

    verdict: Literal["pass", "warn", "block"]
    reasons: tuple[str, ...] = ()
    difference: Interval
    worse: tuple[Worse, ...] = ()
