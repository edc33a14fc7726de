"""How much a chunk deserves its place in the index."""

from pipelines.score.page import page_signals
from pipelines.score.score import injection_signal, score_chunk
from pipelines.score.shadow import RuleEffect, effects

__all__ = ["RuleEffect", "effects", "injection_signal", "page_signals", "score_chunk"]
