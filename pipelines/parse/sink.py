"""Where a parser puts what it takes out of a file: figures and attachments, named by their content.

The parser process may not reach the artifact store: it writes into a folder that the caller gave, under the file
names that the last part of each key will have, and the caller stores them.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

FIGURE = "raw/figure/"
FILE = "raw/file/"
"""As scanned files are kept, so that an attachment is parsed like any other file."""


@dataclass(frozen=True)
class Sink:
    """Without a folder nothing is kept, and figures are references without an image."""

    folder: Path | None = None

    def figure(self, png: bytes) -> str | None:
        """Key of the image."""
        return self._put(FIGURE, f"{hashlib.sha256(png).hexdigest()}.png", png)

    def discard(self, key: str) -> None:
        """What was put there turned out not to be wanted."""
        if self.folder is not None:
            (self.folder / key.rpartition("/")[2]).unlink(missing_ok=True)

    def attachment(self, data: bytes) -> str | None:
        """Key of the file."""
        return self._put(FILE, hashlib.sha256(data).hexdigest(), data)

    def _put(self, zone: str, name: str, data: bytes) -> str | None:
        if self.folder is None:
            return None
        (self.folder / name).write_bytes(data)
        return zone + name


_open: ContextVar[Sink] = ContextVar("sink", default=Sink())  # noqa: B039 (a frozen record)


def current() -> Sink:
    """The sink of the file that is being parsed."""
    return _open.get()


@contextmanager
def into(folder: Path | None) -> Iterator[None]:
    """What is taken out while the block runs goes into `folder`."""
    token = _open.set(Sink(folder))
    try:
        yield
    finally:
        _open.reset(token)


def taken_out(folder: Path) -> Iterator[tuple[str, Path]]:
    """Key and file of everything in a sink's folder."""
    for path in sorted(folder.iterdir()):
        yield (FIGURE if path.suffix == ".png" else FILE) + path.name, path
