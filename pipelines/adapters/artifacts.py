"""Artifacts in a local folder, or behind any fsspec url (`s3://bucket/prefix`, `memory://name`)."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

from pipelines.errors import Code, Transient

_TEMPORARY = ".part-"


def _checked(key: str) -> str:
    """The key, or ValueError where it would leave the store."""
    parts = key.split("/")
    if not key or any(part in ("", ".", "..") for part in parts) or "\\" in key or "\0" in key:
        raise ValueError(f"not an artifact key: {key!r}")
    return key


@contextmanager
def _failures(action: str) -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, KeyError):
        raise
    except OSError as error:
        raise Transient(Code.STORE_DOWN, f"{action} failed: {error.strerror or type(error).__name__}") from error


class FolderArtifacts:
    """One file for each key; a file is there whole or not at all. Only the owner may enter `raw/`."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def put(self, key: str, data: bytes) -> None:
        self._write(key, lambda stream: stream.write(data))

    def put_file(self, key: str, path: Path) -> None:
        """As `put`, from a local file, streamed."""

        def copy(stream: IO[bytes]) -> None:
            with path.open("rb") as source:
                shutil.copyfileobj(source, stream, 1 << 20)

        self._write(key, copy)

    def get(self, key: str) -> bytes:
        try:
            with _failures(f"reading {key}"):
                return self._path(key).read_bytes()
        except FileNotFoundError as error:
            raise KeyError(key) from error

    def exists(self, key: str) -> bool:
        return self._path(key).is_file()

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            with _failures(f"deleting {key}"):
                self._path(key).unlink(missing_ok=True)

    def keys(self, prefix: str) -> Iterator[str]:
        # The prefix may end inside a name: start from the last folder that it names whole.
        start = self._root / prefix.rpartition("/")[0]
        for folder, _, names in os.walk(start):
            for name in names:
                key = (Path(folder) / name).relative_to(self._root).as_posix()
                if key.startswith(prefix) and not name.startswith(_TEMPORARY):
                    yield key

    @contextmanager
    def local(self, key: str) -> Iterator[Path]:
        """The file itself: treat it as read-only. Raises KeyError."""
        path = self._path(key)
        if not path.is_file():
            raise KeyError(key)
        yield path

    def _path(self, key: str) -> Path:
        return self._root / _checked(key)

    def _write(self, key: str, fill: Callable[[IO[bytes]], Any]) -> None:
        path = self._path(key)
        if path.is_file():
            return
        with _failures(f"writing {key}"):
            self._make_folder(path.parent, private=key.startswith("raw/"))
            # mkstemp makes the file with mode 0600; it keeps that in every zone.
            number, name = tempfile.mkstemp(prefix=_TEMPORARY, dir=path.parent)
            try:
                with os.fdopen(number, "wb") as stream:
                    fill(stream)
                    stream.flush()
                    os.fsync(number)
                Path(name).replace(path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
            _sync_folder(path.parent)

    def _make_folder(self, folder: Path, *, private: bool) -> None:
        if folder.is_dir():
            return
        self._root.mkdir(parents=True, exist_ok=True)
        if private:
            (self._root / "raw").mkdir(mode=0o700, exist_ok=True)
        folder.mkdir(parents=True, exist_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make the rename last over a power cut."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


class FsspecArtifacts:
    """Any fsspec file system whose writes are whole or not at all, as object stores' are."""

    def __init__(self, url: str, **options: Any) -> None:
        from fsspec.core import url_to_fs

        self._fs, root = url_to_fs(url, **options)
        self._root = root.rstrip("/")

    def put(self, key: str, data: bytes) -> None:
        path = self._path(key)
        with _failures(f"writing {key}"):
            if not self._fs.exists(path):
                self._fs.makedirs(str(PurePosixPath(path).parent), exist_ok=True)
                self._fs.pipe_file(path, data)

    def put_file(self, key: str, path: Path) -> None:
        """As `put`, from a local file, streamed."""
        remote = self._path(key)
        with _failures(f"writing {key}"):
            if not self._fs.exists(remote):
                self._fs.makedirs(str(PurePosixPath(remote).parent), exist_ok=True)
                self._fs.put_file(str(path), remote)

    def get(self, key: str) -> bytes:
        try:
            with _failures(f"reading {key}"):
                return bytes(self._fs.cat_file(self._path(key)))
        except FileNotFoundError as error:
            raise KeyError(key) from error

    def exists(self, key: str) -> bool:
        with _failures(f"looking for {key}"):
            return bool(self._fs.isfile(self._path(key)))

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            with _failures(f"deleting {key}"):
                path = self._path(key)
                if self._fs.exists(path):
                    self._fs.rm_file(path)

    def keys(self, prefix: str) -> Iterator[str]:
        start = f"{self._root}/{prefix.rpartition('/')[0]}".rstrip("/")
        with _failures("listing"):
            self._fs.invalidate_cache()
            found = self._fs.find(start) if self._fs.exists(start) else []
        for path in found:
            key = path[len(self._root) :].lstrip("/")
            if key.startswith(prefix):
                yield key

    def local(self, key: str) -> AbstractContextManager[Path]:
        """A download that is deleted after the block. Raises KeyError."""
        return self._download(key)

    @contextmanager
    def _download(self, key: str) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
            path = Path(folder) / PurePosixPath(key).name
            try:
                with _failures(f"reading {key}"):
                    self._fs.get_file(self._path(key), str(path))
            except FileNotFoundError as error:
                raise KeyError(key) from error
            yield path

    def _path(self, key: str) -> str:
        return f"{self._root}/{_checked(key)}"
