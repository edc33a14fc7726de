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

    def hydrate(self, ids: Sequence[str]) -> Mapping[str, Passage]:
        """Passages by row id, without those that the reader may not see."""
        ...
