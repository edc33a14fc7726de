"""GET, for sources behind http: only hosts that the source names, with patience, a limit and no surprise redirect."""

import io
import logging
import weakref
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from pipelines.adapters.remote import Busy, Patience, Secrets, named, spooled
from pipelines.errors import Code, Misconfigured, Rejected
from schemas.origin import HttpOrigin
from schemas.source import Source

if TYPE_CHECKING:
    import httpx

GONE = frozenset((404, 410))
DENIED = frozenset((401, 403))
_BUSY = frozenset((408, 425, 429))
_REDIRECTS = 5
_SECONDS = 30.0
_LISTING = 64
"""Megabytes of one page of a listing, which is held in memory; a sitemap may have 50 (sitemaps.org)."""


class Answer(NamedTuple):
    """Any status below 500 that asks for no patience."""

    status: int
    headers: Mapping[str, str]
    url: str
    """Where redirects led."""
    following: str
    """The address of `Link: …; rel="next"`, or ''."""
    body: IO[bytes]
    """Empty unless the status is 200."""


class Web:
    """The addresses of one source. Secrets go to the scheme and host of its location only."""

    def __init__(self, source: Source, secrets: Secrets, patience: Patience) -> None:
        self.origin = source.http or HttpOrigin()
        self.where = f"source {source.name}: {source.location.split('?')[0]}"
        self.patience = patience
        self._secrets = secrets
        self._location = source.location
        self._megabytes = source.max_megabytes
        self._home = _authority(source.location)
        self._hosts = {self._home[1], *(_authority(f"{self._home[0]}://{host}")[1] for host in self.origin.hosts)}
        self._made: httpx.Client | None = None

    def get(self, url: str, headers: Mapping[str, str] | None = None, megabytes: int | None = None) -> Answer:
        """Raises Busy, and Rejected(SCAN_OUTSIDE | SCAN_TOO_LARGE | SCAN_UNREADABLE)."""
        for _ in range(_REDIRECTS):
            self.check(url)
            found = self._once(url, headers or {}, megabytes or self._megabytes)
            if isinstance(found, Answer):
                return found
            url = urljoin(url, found)
        raise Rejected(Code.SCAN_UNREADABLE, "redirects without end")

    def listing(self, url: str) -> Answer:
        """A part of the listing: all or nothing. Raises Misconfigured(SCAN_*) or Busy."""
        try:
            found = self.patience.listing(lambda: self.get(url, megabytes=_LISTING))
        except Rejected as error:
            raise Misconfigured(Code.SCAN_BAD_LISTING, f"{self.where}: {error.reason}") from error
        except Busy as error:
            raise Busy(f"{self.where}: {error.reason}") from error
        if found.status == 200:
            return found
        code = Code.SCAN_SOURCE_DENIED if found.status in DENIED else Code.SCAN_BAD_LISTING
        if found.status in GONE and url == self._location:
            code = Code.SCAN_SOURCE_GONE
        raise Misconfigured(code, f"{self.where} answers HTTP {found.status}")

    def body(self, url: str) -> IO[bytes]:
        """One document. Raises Rejected(SCAN_*), or Busy when too many in a row failed."""
        found = self.patience.item(lambda: self.get(url))
        if found.status != 200:
            raise Rejected(Code.SCAN_UNREADABLE, f"HTTP {found.status}")
        return found.body

    def check(self, url: str) -> None:
        """Raises Rejected(SCAN_OUTSIDE) for a host that the source does not name, and for a fall back from https."""
        scheme, host = _authority(url)
        if scheme not in ("https", self._home[0]) or host not in self._hosts:
            raise Rejected(Code.SCAN_OUTSIDE, "the address leads to a host that the source does not name")

    def _once(self, url: str, headers: Mapping[str, str], megabytes: int) -> Answer | str:
        """The answer, or where it redirects to."""
        import httpx

        secret = self._secret_headers() if _authority(url) == self._home else {}
        try:
            with self._client().stream("GET", url, headers={**headers, **secret}) as response:
                if response.has_redirect_location:
                    return response.headers["location"]
                if response.status_code in _BUSY or response.status_code >= 500:
                    raise Busy(f"HTTP {response.status_code}", _after(response.headers))
                following = response.links.get("next", {}).get("url", "")
                taken = response.iter_bytes() if response.status_code == 200 else ()
                body = spooled(taken, megabytes) if taken else io.BytesIO()
                return Answer(response.status_code, response.headers, url, following, body)
        except httpx.InvalidURL as error:
            raise Rejected(Code.SCAN_OUTSIDE, "the address cannot be read") from error
        except httpx.RequestError as error:
            raise Busy(f"no answer: {type(error).__name__}") from error

    def _secret_headers(self) -> dict[str, str]:
        return {name: self._secrets(one).get_secret_value() for name, one in self.origin.headers.items()}

    def _client(self) -> "httpx.Client":
        if self._made is None:
            import httpx

            # Its line for each request would put addresses, which may hold personal data, into the log.
            logging.getLogger("httpx").setLevel(logging.WARNING)
            self._made = httpx.Client(timeout=_SECONDS, headers={"User-Agent": "sluice"}, follow_redirects=False)
            weakref.finalize(self, self._made.close)
        return self._made


def page_uri(url: str) -> str:
    """An address as a uri: without its scheme and fragment, and readable, so that names in it can be masked."""
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    return named(unquote(f"{parts.netloc}{parts.path}{query}", errors="replace"))


def _authority(url: str) -> tuple[str, str]:
    """(scheme, `host:port`), lower case, the port always told. ('', '') for what is no http address."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    except (ValueError, KeyError):
        return "", ""
    if parts.username is not None or parts.password is not None:
        return "", ""
    return parts.scheme, f"{parts.hostname}:{port}"


def _after(headers: Mapping[str, str]) -> float | None:
    told = headers.get("retry-after", "")
    return float(told) if told.isdigit() else None
