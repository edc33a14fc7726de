"""What a site may set for the retrieve layer, each with its reason."""

from typing import Literal

from pydantic import Field

from schemas.base import Record


class RetrieveSettings(Record):
    """Settings of retrieve."""

    fusion: Literal["minmax", "rrf"] = "minmax"
    """Min-max of both lists gave NDCG@10 94.5 over seven sets, reciprocal ranks 93.5."""
    dense_weight: float = Field(default=0.5, ge=0, le=1)
    """0.6 to 0.7 for English or mixed languages."""
    depth: int = Field(default=100, ge=1)
    """Candidates of each route that take part in fusion."""
    max_depth: int = Field(default=1600, ge=1)
    """Over-fetch stops here, where the reader may see almost nothing of what the index proposes."""
    rrf_k: int = Field(default=60, ge=1)
    authority_weight: float = Field(default=0.02, ge=0, le=1)
    """Small: breaks ties between an L1 and an L4 source, never beats a better match."""
    recency_weight: float = Field(default=0.01, ge=0, le=1)
    variant_weight: float = Field(default=0.8, ge=0, le=1)
    """A rewritten query counts less than the original."""
    mmr: float = Field(default=0.0, ge=0, le=1)
    """Share of novelty in the order; 0 is off."""
    threshold: float = Field(default=0.0, ge=0)
    """Hits with a lower fused score are dropped."""
    synonyms: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    relative_time: bool = True
    history_turns: int = Field(default=4, ge=0)
    answer_sentences: int = Field(default=3, ge=1)
    answer_overlap: float = Field(default=0.4, ge=0, le=1)
    """Share of the question's weight of words that the best passage must hold; see `answer.support`."""
