"""An object store as a source: S3 and its kind, or any other fsspec url."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import IO, Any

from pipelines.adapters.remote import Busy, Patience, Secrets, spooled, token_of
from pipelines.adapters.selection import Selection
from pipelines.errors import Code, Misconfigured, Rejected, SluiceError
from schemas.origin import S3Origin
from schemas.source import Source, SourceFile

_CHANGES = ("ETag", "etag", "md5Hash", "content_md5", "generation", "VersionId")
"""What file systems of fsspec tell of a file that changes with its content…"""
_TIMES = ("LastModified", "last_modified", "modified", "mtime", "updated", "created")
"""… and with its writing."""
_NO_KEY = frozenset(("NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError"))
_BLOCK = 1 << 20


class S3Reader:
    """Lists with as few requests as the store allows, and reads objects in blocks."""

    def __init__(self, source: Source, secrets: Secrets, patience: Patience | None = None) -> None:
        self._source = source
        self._secrets = secrets
        self._patience = patience or Patience()
        self._selection = Selection(source)
        self._connected: tuple[Any, str] | None = None
        self._problems: list[tuple[str, Code, str]] = []

    @property
    def problems(self) -> Sequence[tuple[str, Code, str]]:
        return tuple(self._problems)

    def files(self) -> Iterator[SourceFile]:
        """Raises as `SourceReader.files` says. A prefix without objects is not there."""
        self._problems = []
        found = self._patience.listing(self._listed)
        for path, info in found.items():
            uri = path.removeprefix(f"{self._connection()[1]}/")
            if info.get("type", "file") != "file" or uri.endswith("/") or uri not in self._selection:
                continue
            if _leaves(uri):
                self._problems.append((uri, Code.SCAN_OUTSIDE, "the name leads out of the source"))
                continue
            changes = (info.get(name) for name in (*_CHANGES, *_TIMES, "size"))
            modified = next((_seconds(info[name]) for name in _TIMES if info.get(name)), 0.0)
            yield SourceFile(uri, token_of(*changes), int(info.get("size") or 0), modified)

    def open(self, uri: str) -> IO[bytes]:
        if _leaves(uri):
            raise Rejected(Code.SCAN_OUTSIDE, "the path leaves the source")
        return self._patience.item(lambda: self._body(uri))

    def _listed(self) -> dict[str, dict[str, Any]]:
        where = f"source {self._source.name}: {self._source.location}"
        try:
            fs, root = self._connection()
            fs.invalidate_cache()
            found: dict[str, dict[str, Any]] = fs.find(root, detail=True)
            if not found and not fs.exists(root):
                raise Misconfigured(Code.SCAN_SOURCE_GONE, f"{where} is not there, or has no object")
        except SluiceError:
            raise
        except Exception as error:  # each file system of fsspec raises what its driver does
            raise _of_source(error, where) from error
        if root in found:
            raise Misconfigured(Code.SCAN_SOURCE_GONE, f"{where} is one object, not a prefix of such")
        return found

    def _body(self, uri: str) -> IO[bytes]:
        fs, root = self._connection()
        try:
            with fs.open(f"{root}/{uri}", "rb", block_size=_BLOCK * 5) as stream:
                return spooled(iter(lambda: stream.read(_BLOCK), b""), self._source.max_megabytes)
        except SluiceError:
            raise
        except FileNotFoundError as error:
            raise Rejected(Code.SCAN_UNREADABLE, "gone since it was listed") from error
        except PermissionError as error:
            raise Rejected(Code.SCAN_UNREADABLE, "may not be read") from error
        except Exception as error:  # as above
            raise Busy(f"an object cannot be read: {type(error).__name__}") from error

    def _connection(self) -> tuple[Any, str]:
        if self._connected is None:
            from fsspec.core import url_to_fs

            fs, root = url_to_fs(self._source.location, **self._options())
            self._connected = fs, root.rstrip("/")
        return self._connected

    def _options(self) -> dict[str, Any]:
        origin = self._source.s3 or S3Origin()
        given: dict[str, Any] = {}
        if origin.endpoint:
            given["endpoint_url"] = origin.endpoint
        if origin.anonymous:
            given["anon"] = True
        for name, variable in (("key", origin.key), ("secret", origin.secret)):
            if variable:
                given[name] = self._secrets(variable).get_secret_value()
        return given


def _of_source(error: Exception, where: str) -> SluiceError:
    if isinstance(error, ImportError | ValueError):
        return Misconfigured(Code.BAD_SOURCES, f"{where}: {error}"[:500])
    if isinstance(error, FileNotFoundError):
        return Misconfigured(Code.SCAN_SOURCE_GONE, f"{where} is not there")
    if isinstance(error, PermissionError) or type(error).__name__ in _NO_KEY:
        return Misconfigured(Code.SCAN_SOURCE_DENIED, f"{where} may not be read ({type(error).__name__})")
    return Busy(f"{where} does not answer ({type(error).__name__})")


def _leaves(uri: str) -> bool:
    return ".." in uri.split("/")


def _seconds(told: Any) -> float:
    if isinstance(told, datetime):
        return told.timestamp()
    try:
        return float(told) if isinstance(told, int | float) else datetime.fromisoformat(str(told)).timestamp()
    except ValueError:
        return 0.0
