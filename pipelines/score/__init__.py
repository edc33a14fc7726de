"""How much a chunk deserves its place in the index."""

from pipelines.score.score import injection_signal, score_chunk

__all__ = ["injection_signal", "score_chunk"]
