"""Remembered searches. What is remembered is an order of row ids; what is shown is read from SQL again each time."""

import threading
from collections import OrderedDict
from collections.abc import Hashable

from pipelines.retrieve.library import Library
from schemas.search import SearchResult


class SearchCache:
    """The newest `size` searches, by key.

    A key holds `Library.state()` beside question and settings: a publish, rollback, quarantine or change of rights
    makes another key. And a remembered search whose rows are not all visible to the reader any more is forgotten, so
    that even a change that no key shows can never be served.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._held: OrderedDict[Hashable, SearchResult] = OrderedDict()

    def get(self, key: Hashable, library: Library) -> SearchResult | None:
        """The search with its texts as SQL has them now, or None."""
        with self._lock:
            found = self._held.get(key)
        if found is None:
            return None
        ids = [row for row, _ in found.trace.fused]
        passages = library.hydrate(ids)
        if len(passages) != len(set(ids)):
            with self._lock:
                self._held.pop(key, None)
            return None
        hits = tuple(hit.model_copy(update={"passage": passages[hit.passage.id]}) for hit in found.hits)
        trace = found.trace.model_copy(update={"cached": True})
        return SearchResult(hits=hits, trace=trace)

    def put(self, key: Hashable, result: SearchResult) -> None:
        if not self._size:
            return
        with self._lock:
            self._held[key] = result
            self._held.move_to_end(key)
            while len(self._held) > self._size:
                self._held.popitem(last=False)
