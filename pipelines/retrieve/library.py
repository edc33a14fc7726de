"""What retrieval needs from SQL: one release, for one reader."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Protocol

from schemas.search import Contradiction, Passage

__all__ = ["Library", "Passage"]


class Library(Protocol):
    """Decides what a reader sees. The index only proposes."""

    @property
    def collection(self) -> str: ...

    @property
    def release(self) -> int: ...

    @property
    def acl(self) -> tuple[int, ...]: ...

    @property
    def denied_documents(self) -> tuple[str, ...]: ...

    @property
    def hidden_rows(self) -> tuple[str, ...]:
        """Row ids that a preview leaves out though their release number would show them."""
        ...

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the sources that the reader may read."""
        ...

    def hydrate(self, ids: Sequence[str]) -> Mapping[str, Passage]:
        """Passages by row id, without those that the reader may not see."""
        ...

    def related(self, question: str) -> Mapping[str, float]:
        """Row ids of what the question's subjects are related to, with scores 0..1; hydrate decides who sees them."""
        ...

    def contradictions(self, chunks: Sequence[str]) -> Mapping[str, tuple[Contradiction, ...]]:
        """By chunk, what other chunks that the reader may see say otherwise, with what people decided."""
        ...

    def state(self) -> Hashable:
        """Changes with all that decides what this reader sees; equal states, equal results."""
        ...
