"""What a site, or a knowledge base in its sources.yaml, may set for retrieval, each with its reason."""

from typing import Literal

from pydantic import Field

from schemas.base import Record


class Route(Record):
    """Questions that hold one of these words are also asked of these sources alone."""

    words: tuple[str, ...] = Field(min_length=1)
    sources: tuple[str, ...] = Field(min_length=1)


class RetrieveSettings(Record):
    """Settings of retrieve."""

    # understanding: each step adds wordings beside the original, so none can lose an answer
    history_turns: int = Field(default=4, ge=0)
    """Earlier questions that may complete one that leans on them; 0 switches it off."""
    synonyms: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    relative_time: bool = True
    spelling: bool = True
    """Latin words that no candidate holds are read as a close word that candidates do hold."""
    identifiers: bool = True
    """Codes, document numbers, dates, years and versions of the question must stand in the passage as they are."""
    expansion: bool = True
    """What the question's subject is related to is recalled too."""
    routing: Literal["off", "rules", "model"] = "rules"
    routes: tuple[Route, ...] = ()
    rewrite: bool = True
    """With a language model: one self-contained wording."""
    hyde: bool = False
    """With a language model: the passage that would answer (Gao et al. 2022, "Precise zero-shot dense retrieval")."""
    sub_questions: bool = True
    """With a language model: the parts of a question that asks several things."""
    variant_weight: float = Field(default=0.8, ge=0, le=1)
    """What all other wordings together count, where the original counts 1."""

    # recall and fusion
    fusion: Literal["minmax", "rrf"] = "minmax"
    """Min-max of both lists gave NDCG@10 94.5 over seven sets, reciprocal ranks 93.5."""
    dense_weight: float = Field(default=0.5, ge=0, le=1)
    """0.6 to 0.7 for English or mixed languages."""
    exact_weight: float = Field(default=0.3, ge=0, le=1)
    expansion_weight: float = Field(default=0.1, ge=0, le=1)
    depth: int = Field(default=100, ge=1)
    """Candidates of each route that take part in fusion."""
    max_depth: int = Field(default=1600, ge=1)
    """Over-fetch stops here, where the reader may see almost nothing of what the index proposes."""
    rrf_k: int = Field(default=60, ge=1)

    # order
    rerank_depth: int = Field(default=20, ge=0)
    """Where a reranker is configured: so many of the best are read by it."""
    authority_weight: float = Field(default=0.02, ge=0, le=1)
    """Small: breaks ties between an L1 and an L4 source, never beats a better match."""
    recency_weight: float = Field(default=0.01, ge=0, le=1)
    conflicts: bool = True
    """What lost a conflict by a person's decision is left out; what contradicts another passage says so."""
    mmr: float = Field(default=0.0, ge=0, le=1)
    """Share of novelty in the order; 0 is off."""
    threshold: float = Field(default=0.0, ge=0)
    """Hits with a lower fused score are dropped."""

    # answer
    answer_sentences: int = Field(default=3, ge=1)
    answer_passages: int = Field(default=5, ge=1)
    answer_tokens: int = Field(default=3000, ge=100)
    """Of sources in the prompt, enclosing sections of short chunks included."""

    cache: int = Field(default=256, ge=0)
    """Searches that a long-lived process remembers; see `pipelines/retrieve/cache.py`."""
    low_evidence: float = Field(default=0.8, ge=0)
    """An answer on less goes into the queue of questions to be labelled."""
