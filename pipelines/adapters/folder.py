"""A local folder as a source: one walk, no file opened."""

import errno
import os
import re
import stat
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO

from pipelines.adapters.selection import Selection
from pipelines.errors import Code, Misconfigured, Rejected
from schemas.source import Source, SourceFile

Problem = tuple[str, Code, str]
"""(uri, code, reason). The uri of a folder ends in `/` and stands for everything below it."""

Link = tuple[str, str, tuple[str, ...]]
"""(uri, real target, real folders that led here, the source's root first)."""

_PLAIN = stat.S_IFREG | stat.S_IROTH
"""Mode bits of a regular file that everybody may read: no need to ask the system again."""
_KIND_AND_READ = 0o170000 | stat.S_IROTH
_made = partial(tuple.__new__, SourceFile)
"""A SourceFile of a tuple, in half the time of a call by names."""


class FolderReader:
    """Lists and opens the files below `source.location` (taken from `base` where it is relative).

    A link inside the source is followed once; one that leaves it or leads back to a parent of itself is a problem.
    """

    def __init__(self, source: Source, base: Path) -> None:
        self._name = source.name
        self._root = base / Path(source.location).expanduser()
        self._selection = Selection(source)
        self._largest = source.max_megabytes << 20
        self._problems: list[Problem] = []

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What the last listing could not take; complete once it has been iterated to its end."""
        return tuple(self._problems)

    def files(self) -> Iterator[SourceFile]:
        """All files, in no particular order. Raises Misconfigured when the source as a whole cannot be listed."""
        self._problems = []
        root = self._check_root()
        links: list[Link] = []
        yield from self._walk(root, "", (root,), links)
        followed: set[str] = set()
        while links:
            # Links wait for the plain walk and go in order, so that the same tree always gives the same uris.
            links.sort(reverse=True)
            uri, target, chain = links.pop()
            if target not in followed:
                followed.add(target)
                yield from self._walk(target, uri, (*chain, target), links)

    def open(self, uri: str) -> IO[bytes]:
        """Raises Rejected(SCAN_OUTSIDE | SCAN_UNREADABLE)."""
        root = os.path.realpath(self._root)
        path = os.path.realpath(Path(root, *(decode_name(part) for part in uri.split("/"))))
        if not _inside(path, root):
            raise Rejected(Code.SCAN_OUTSIDE, "the path leaves the source")
        try:
            # Not blocking: a pipe that took the file's place would wait for a writer for ever.
            number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            stream = os.fdopen(number, "rb")
        except OSError as error:
            raise Rejected(Code.SCAN_UNREADABLE, error.strerror or "cannot be opened") from error
        found = os.fstat(number)
        if not stat.S_ISREG(found.st_mode) or found.st_size > self._largest:
            stream.close()
            if stat.S_ISREG(found.st_mode):
                raise Rejected(Code.SCAN_TOO_LARGE, f"more than {self._largest >> 20} MB")
            raise Rejected(Code.SCAN_UNREADABLE, "not a regular file")
        return stream

    def _check_root(self) -> str:
        where = f"source {self._name}: {self._root}"
        try:
            if not stat.S_ISDIR(self._root.stat().st_mode):
                raise Misconfigured(Code.SCAN_SOURCE_GONE, f"{where} is not a folder")
            os.scandir(self._root).close()
        except PermissionError as error:
            raise Misconfigured(Code.SCAN_SOURCE_DENIED, f"{where} may not be read") from error
        except OSError as error:
            raise Misconfigured(Code.SCAN_SOURCE_GONE, f"{where} is not there ({error.strerror})") from error
        return os.path.realpath(self._root)

    def _walk(self, folder: str, uri: str, chain: tuple[str, ...], links: list[Link]) -> Iterator[SourceFile]:
        """The plain files below `folder`; links to folders are added to `links`."""
        everything, selection = self._selection.everything, self._selection
        stack = [(folder, uri)]
        while stack:
            path, prefix = stack.pop()
            start = f"{prefix}/" if prefix else ""
            try:
                entries = os.scandir(path)
            except FileNotFoundError:
                continue  # gone since its parent was listed
            except OSError as error:
                self._problems.append((f"{prefix}/", Code.SCAN_UNREADABLE, error.strerror or "cannot be listed"))
                continue
            with entries:
                for entry in entries:
                    name = entry.name
                    where = start + (name if name.isascii() and "%" not in name else encode_name(name))
                    if entry.is_dir(follow_symlinks=False):
                        stack.append((entry.path, where))
                    elif entry.is_symlink():
                        yield from self._link(entry, where, (*chain, path), links)
                    elif everything or where in selection:
                        # The common case without a call: a scan of 100,000 files is made of nothing else.
                        try:
                            found = entry.stat()
                        except OSError:
                            found = None
                        if found is not None and found.st_mode & _KIND_AND_READ == _PLAIN and name.isascii():
                            size = found.st_size
                            token = f"{found.st_mtime_ns}-{size}-{found.st_ino}"
                            yield _made((where, token, size, found.st_mtime))
                        elif (file := self._file(entry, where)) is not None:
                            yield file

    def _link(
        self, entry: "os.DirEntry[str]", uri: str, chain: tuple[str, ...], links: list[Link]
    ) -> Iterator[SourceFile]:
        target = os.path.realpath(entry.path)
        try:
            mode = entry.stat().st_mode
        except OSError as error:
            looped = error.errno == errno.ELOOP
            code = Code.SCAN_LOOP if looped else Code.SCAN_UNREADABLE
            if uri in self._selection:
                self._problems.append((uri, code, "a link to itself" if looped else "a link to nothing"))
            return
        if not _inside(target, chain[0]):
            if stat.S_ISDIR(mode) or uri in self._selection:
                self._problems.append((uri, Code.SCAN_OUTSIDE, "a link to a place outside the source"))
        elif stat.S_ISDIR(mode):
            if any(_inside(real, target) for real in chain):
                self._problems.append((uri, Code.SCAN_LOOP, "a link to one of its own parents"))
            else:
                links.append((uri, target, chain))
        elif uri in self._selection and (file := self._file(entry, uri)):
            yield file

    def _file(self, entry: "os.DirEntry[str]", uri: str) -> SourceFile | None:
        """The record of a regular, readable file; None and a problem for anything else."""
        try:
            found = entry.stat()
        except FileNotFoundError:
            return None  # gone since its folder was listed
        except OSError as error:
            self._problems.append((uri, Code.SCAN_UNREADABLE, error.strerror or "cannot be examined"))
            return None
        if found.st_mode & _KIND_AND_READ != _PLAIN and (reason := _refused(entry.path, found.st_mode)):
            self._problems.append((uri, Code.SCAN_UNREADABLE, reason))
            return None
        if not entry.name.isascii() and _undecodable(entry.name):
            self._problems.append((uri, Code.SCAN_BAD_NAME, "the name is not valid UTF-8; it is kept percent-encoded"))
        return SourceFile(uri, f"{found.st_mtime_ns}-{found.st_size}-{found.st_ino}", found.st_size, found.st_mtime)


def _refused(path: str, mode: int) -> str:
    """Why a file cannot be read; '' where it can."""
    if not stat.S_ISREG(mode):
        return "not a regular file"
    return "" if os.access(path, os.R_OK) else "may not be read"


def encode_name(name: str) -> str:
    """A file name as part of a uri: bytes that are not UTF-8 become %80..%FF. `decode_name` gives the name back.

    A percent sign that could be mistaken for such a byte becomes %25; all other names stay as they are.
    """
    name = re.sub(r"%(?=25|[89A-F][0-9A-F])", "%25", name)
    return re.sub(r"[\udc80-\udcff]", lambda found: f"%{ord(found[0]) - 0xDC00:02X}", name)


def decode_name(name: str) -> str:
    """The name on disk, with surrogate escapes (PEP 383)."""
    if "%" not in name:
        return name

    def byte(found: re.Match[str]) -> str:
        value = int(found[1], 16)
        return "%" if value == 0x25 else chr(0xDC00 + value)

    return re.sub(r"%(25|[89A-F][0-9A-F])", byte, name)


def _undecodable(name: str) -> bool:
    return any("\udc80" <= character <= "\udcff" for character in name)


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
