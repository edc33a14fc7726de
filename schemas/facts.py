"""Judges' verdicts: separate facts, keyed by chunk id, each with its reason."""

from typing import Literal

from pydantic import Field

from schemas.base import Record

DuplicateOutcome = Literal["same", "contained", "near", "version", "template", "distinct"]
QualityBand = Literal["index", "low", "quarantine"]


class Change(Record):
    """One differing span of two texts: what kind of thing differs, and where. Offsets only: raw values stay out."""

    kind: Literal["number", "date", "amount", "code", "name", "organisation", "negation", "modal", "text"]
    a_start: int
    a_end: int
    b_start: int
    b_end: int


class DuplicateEvidence(Record):
    """Why two texts were called what they were called."""

    jaccard: float
    containment: float
    similarity: float
    changes: tuple[Change, ...] = ()


class DuplicateLink(Record):
    """Two chunks that belong together. `drop` says that one of them need not be shown."""

    a: str
    b: str
    outcome: DuplicateOutcome
    drop: bool
    spare: Literal["either", "a", "b"] = "either"
    """Which one may go: of a text and one that contains it, only the shorter."""
    evidence: DuplicateEvidence


class Signal(Record):
    """One named part of a quality score."""

    name: str
    value: float
    weight: float


class QualityScore(Record):
    """How much a chunk deserves its place in the index, 0..1, with the reasons."""

    chunk: str
    score: float = Field(ge=0, le=1)
    band: QualityBand
    signals: tuple[Signal, ...] = ()
    shadow: tuple[Signal, ...] = ()
    """Verdicts of rules on trial: reported, never acted on."""


class Keyword(Record):
    text: str
    weight: float


class Entity(Record):
    text: str
    type: str
    method: str
    """`rule`, `dictionary` or the model's name."""


class Relation(Record):
    subject: str
    predicate: str
    object: str
    method: str


class Extraction(Record):
    """Output of the extract layer for one chunk."""

    chunk: str
    keywords: tuple[Keyword, ...] = ()
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()


class Rejection(Record):
    """A stored verdict: this subject did not pass this layer, for this reason."""

    subject: str
    layer: str
    code: str
    reason: str
