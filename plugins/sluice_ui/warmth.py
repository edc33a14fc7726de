"""The search model, loaded behind the first page of a release: the first search preview does not wait for it."""

from collections.abc import Callable
from threading import Lock, Thread


class Warmth:
    """`load` runs once, on a thread of its own."""

    def __init__(self, load: Callable[[], None]) -> None:
        self._load = load
        self._lock = Lock()
        self._thread: Thread | None = None

    def begin(self) -> None:
        """Returns at once."""
        with self._lock:
            if self._thread is None:
                self._thread = Thread(target=self._load, name="warm", daemon=True)
                self._thread.start()

    def ready(self, seconds: float) -> bool:
        """Whether it is loaded, or will be within these seconds."""
        self.begin()
        assert self._thread is not None
        self._thread.join(seconds)
        return not self._thread.is_alive()
