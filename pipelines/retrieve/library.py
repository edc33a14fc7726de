"""What retrieval needs from SQL: one release, for one reader."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from schemas.search import Passage

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

    def overruled(self, chunks: Sequence[str]) -> frozenset[str]:
        """Those of these chunks that lost a conflict by a person's decision."""
        ...
