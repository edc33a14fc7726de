"""A git repository as a source: tokens are blob ids, and only changed blobs are read.

A repository behind a url is mirrored, its newest state only, under `SLUICE_HOME/sources`; later fetches bring what is
new. One on disk is read where it is.
"""

import io
import posixpath
import re
import shutil
import stat
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pipelines.adapters.remote import Busy, Patience, Secrets, token_of
from pipelines.adapters.selection import Selection
from pipelines.errors import Code, Misconfigured, Rejected, SluiceError
from schemas.origin import GitOrigin
from schemas.source import Source, SourceFile

if TYPE_CHECKING:
    from dulwich.objects import Commit, ObjectID
    from dulwich.repo import Repo

_POINTER = b"version https://git-lfs.github.com/spec/"
_LINK = 0o120000
_SECONDS = b"60"
_PACKS = 60
"""Each fetch that brings something adds one to a mirror; with more of them it is made anew."""


class GitReader:
    """Lists the tree of one ref. Submodules are no files of the repository and are left out."""

    def __init__(
        self, source: Source, base: Path, mirrors: Path, secrets: Secrets, patience: Patience | None = None
    ) -> None:
        self._source = source
        self._origin = source.git or GitOrigin()
        self._local = base / Path(source.location).expanduser()
        self._mirror = mirrors / f"{source.name}-{token_of(source.location)[:8]}.git"
        self._secrets = secrets
        self._patience = patience or Patience()
        self._selection = Selection(source)
        self._repo: Repo | None = None
        self._blobs: dict[str, ObjectID] = {}
        self._problems: list[tuple[str, Code, str]] = []

    @property
    def problems(self) -> Sequence[tuple[str, Code, str]]:
        return tuple(self._problems)

    def files(self) -> Iterator[SourceFile]:
        """Raises as `SourceReader.files` says, also where the ref or the folder is not there."""
        self._problems, self._blobs = [], {}
        repo, commit = self._patience.listing(self._newest)
        self._repo = repo
        tree, links = self._tree(repo, commit)
        for path, blob in links.items():
            target = self._followed(repo, path, blob, tree)
            if target is not None:
                tree[path] = target
        for path, blob in tree.items():
            uri = _uri(path)
            if uri in self._selection:
                self._blobs[uri] = blob
                yield SourceFile(uri, blob.decode(), 0, float(commit.commit_time))

    def open(self, uri: str) -> IO[bytes]:
        if self._repo is None or uri not in self._blobs:
            raise Rejected(Code.SCAN_UNREADABLE, "not in the listing")
        try:
            data = self._repo.object_store[self._blobs[uri]].as_raw_string()
        except KeyError as error:
            raise Rejected(Code.SCAN_UNREADABLE, "the repository does not hold it") from error
        if len(data) > self._source.max_megabytes << 20:
            raise Rejected(Code.SCAN_TOO_LARGE, f"more than {self._source.max_megabytes} MB")
        if data.startswith(_POINTER):
            raise Rejected(Code.SCAN_UNREADABLE, "kept in Git LFS, which is not fetched")
        return io.BytesIO(data)

    def _newest(self) -> "tuple[Repo, Commit]":
        where = f"source {self._source.name}: {self._source.location}"
        try:
            return self._opened() if _is_local(self._source.location) else self._fetched()
        except SluiceError:
            raise
        except KeyError as error:
            # A mirror that was killed between its pack and its list of missing parents: made anew by the next attempt.
            shutil.rmtree(self._mirror, ignore_errors=True)
            raise Busy(f"{where}: the mirror is damaged") from error
        except Exception as error:  # servers and broken repositories make dulwich raise almost anything
            raise _of_source(error, where) from error

    def _opened(self) -> "tuple[Repo, Commit]":
        from dulwich.objectspec import parse_commit
        from dulwich.repo import Repo

        self._local.stat()
        repo = self._kept(Repo(str(self._local)))
        try:
            return repo, parse_commit(repo, self._origin.ref.encode())
        except KeyError as error:
            raise self._no_ref() from error

    def _fetched(self) -> "tuple[Repo, Commit]":
        from dulwich.client import get_transport_and_path
        from dulwich.config import ConfigDict
        from dulwich.objectspec import parse_commit
        from dulwich.refs import Ref
        from dulwich.repo import Repo

        if len(list(self._mirror.glob("objects/pack/*.pack"))) > _PACKS:
            shutil.rmtree(self._mirror)
        if not self._mirror.exists():
            self._mirror.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._mirror.mkdir(mode=0o700)
        made = (self._mirror / "HEAD").exists()
        repo = self._kept(Repo(str(self._mirror)) if made else Repo.init_bare(str(self._mirror)))
        token = self._secrets(self._origin.token).get_secret_value() if self._origin.token else None
        user = self._origin.user if token else None
        # A configuration of its own: that of the machine's user could lead elsewhere, and has no timeout.
        config = ConfigDict()
        config.set((b"http",), b"timeout", _SECONDS)
        client, path = get_transport_and_path(self._source.location, config, username=user, password=token, quiet=True)
        wanted: list[Any] = []

        def wants(refs: Any, depth: int | None = None) -> list[Any]:
            wanted[:] = [found] if (found := _resolved(refs, self._origin.ref)) else []
            return [one for one in wanted if one not in repo.object_store]

        client.fetch(path, repo, determine_wants=wants, depth=1)
        if not wanted:
            raise self._no_ref()
        commit = parse_commit(repo, wanted[0])
        repo.refs[Ref(b"refs/heads/sluice")] = commit.id  # what the next fetch says that it has
        return repo, commit

    def _kept(self, repo: "Repo") -> "Repo":
        """Closed with the reader."""
        weakref.finalize(self, repo.close)
        return repo

    def _no_ref(self) -> Misconfigured:
        what = f"source {self._source.name}: {self._source.location}"
        return Misconfigured(Code.SCAN_SOURCE_GONE, f"{what} has no branch, tag or commit {self._origin.ref}")

    def _tree(self, repo: "Repo", commit: "Commit") -> "tuple[dict[bytes, ObjectID], dict[bytes, ObjectID]]":
        """Blob by path below the folder: files, and links."""
        from dulwich.object_store import iter_tree_contents, tree_lookup_path

        root = commit.tree
        if folder := self._origin.folder.strip("/"):
            try:
                mode, root = tree_lookup_path(repo.object_store.__getitem__, root, folder.encode())
            except (KeyError, NotADirectoryError):
                mode = 0
            if not stat.S_ISDIR(mode):
                what = f"source {self._source.name}: {self._source.location}"
                raise Misconfigured(Code.SCAN_SOURCE_GONE, f"{what} has no folder {folder} at {self._origin.ref}")
        files: dict[bytes, ObjectID] = {}
        links: dict[bytes, ObjectID] = {}
        for entry in iter_tree_contents(repo.object_store, root):
            if stat.S_ISREG(entry.mode):
                files[entry.path] = entry.sha
            elif stat.S_IFMT(entry.mode) == _LINK:
                links[entry.path] = entry.sha
        return files, links

    def _followed(
        self, repo: "Repo", path: bytes, blob: "ObjectID", files: "dict[bytes, ObjectID]"
    ) -> "ObjectID | None":
        """The blob that a link leads to; None and a problem where that is no file below the folder."""
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), repo.object_store[blob].as_raw_string()))
        found = files.get(target)
        if found is None and (uri := _uri(path)) in self._selection:
            self._problems.append((uri, Code.SCAN_OUTSIDE, "a link that leads to no file of the source"))
        return found


def _uri(path: bytes) -> str:
    from pipelines.adapters.folder import encode_name

    return encode_name(path.decode("utf-8", "surrogateescape"))


def _is_local(location: str) -> bool:
    """git: `scheme://…` and `host:path` are remote; a path with a slash before the colon is none."""
    head = location.split("/", 1)[0]
    return ":" not in head


def _resolved(refs: Any, name: str) -> bytes | None:
    """What the remote calls by this name; a full commit id is itself."""
    ref = name.encode()
    for known in (ref, b"refs/heads/" + ref, b"refs/tags/" + ref):
        if found := refs.get(known):
            return bytes(found)
    return ref if len(ref) == 40 and not ref.strip(b"0123456789abcdef") else None


def _of_source(error: Exception, where: str) -> SluiceError:
    from dulwich.client import HTTPUnauthorized
    from dulwich.errors import GitProtocolError, HangupException, NotGitRepository
    from urllib3.exceptions import HTTPError

    if isinstance(error, HTTPUnauthorized | PermissionError):
        return Misconfigured(Code.SCAN_SOURCE_DENIED, f"{where} may not be read")
    if isinstance(error, NotGitRepository | FileNotFoundError | NotADirectoryError):
        return Misconfigured(Code.SCAN_SOURCE_GONE, f"{where} is no git repository")
    # A server that answers, and refuses; one that is only busy says so by its status.
    refused = isinstance(error, GitProtocolError) and not isinstance(error, HangupException)
    away = isinstance(error.__cause__, HTTPError) or re.search(r"http resp (?:5|429|408)", str(error))
    if refused and not away:
        return Misconfigured(Code.SCAN_SOURCE_GONE, f"{where} is not there, or may not be read")
    return Busy(f"{where} does not answer ({type(error).__name__})")
