"""Web pages as a source: by their addresses, or by a sitemap.

A page whose date the sitemap tells is not asked for. Any other is asked for with what it said of itself the last time
(`If-None-Match`, `If-Modified-Since`); an unchanged one answers without a body. These answers are kept beside the
installation's state and may be lost: then a body is read once more, and nothing else happens.
"""

import gzip
import hashlib
import io
import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any
from urllib.parse import urljoin

from pipelines.adapters.remote import Busy, Patience, Secrets, token_of
from pipelines.adapters.selection import Selection
from pipelines.adapters.web import DENIED, GONE, Answer, Web, page_uri
from pipelines.errors import Code, Misconfigured, Rejected, SluiceError
from schemas.source import Source, SourceFile

_SITEMAPS = 1000
_MOST = 64 << 20
"""Bytes of one sitemap, unpacked."""

Known = tuple[str, str, str]
"""(ETag, Last-Modified, token) as the page said the last time."""


class PagesReader:
    """One document for each address."""

    def __init__(self, source: Source, state: Path, secrets: Secrets, patience: Patience | None = None) -> None:
        self._web = Web(source, secrets, patience or Patience())
        self._location = source.location
        self._selection = Selection(source)
        self._state = state / f"{source.name}-{token_of(source.location)[:8]}.json"
        self._urls: dict[str, str] = {}
        self._held: tuple[str, IO[bytes]] | None = None
        self._denied = 0
        self._problems: list[tuple[str, Code, str]] = []

    @property
    def problems(self) -> Sequence[tuple[str, Code, str]]:
        return tuple(self._problems)

    def files(self) -> Iterator[SourceFile]:
        """Raises as `SourceReader.files` says. A page that is not there is not listed; one that may not be read is."""
        self._problems, self._urls = [], {}
        before, told = self._remembered(), dict[str, Known]()
        self._denied, listed = 0, 0
        try:
            for found in self._listed(before, told):
                listed += 1
                yield found
        finally:
            self._release()
        if self._urls and not listed:
            raise self._nothing()
        self._remember(told)

    def _listed(self, before: Mapping[str, Known], told: dict[str, Known]) -> Iterator[SourceFile]:
        for url, date in self._addresses():
            uri = page_uri(url)
            if uri in self._urls or uri not in self._selection:
                continue
            self._urls[uri] = url
            try:
                self._web.check(url)
                found = SourceFile(uri, token_of(date), 0, 0.0) if date else self._asked(uri, url, before, told)
            except Rejected as error:
                self._problems.append((uri, error.code, error.reason))
                continue
            if found is not None:
                yield found

    def _nothing(self) -> SluiceError:
        """Why not one page was listed."""
        where = self._web.where
        if not self._problems:
            return Misconfigured(Code.SCAN_SOURCE_GONE, f"{where}: no page is there")
        _, code, reason = self._problems[0]
        if code is not Code.SCAN_UNREADABLE:
            return Misconfigured(Code.SCAN_BAD_LISTING, f"{where}: {reason}")
        if self._denied == len(self._problems):
            return Misconfigured(Code.SCAN_SOURCE_DENIED, f"{where} may not be read ({reason})")
        return Busy(f"{where}: {reason}")

    def open(self, uri: str) -> IO[bytes]:
        if self._held and self._held[0] == uri:
            (_, body), self._held = self._held, None
            return body
        if uri not in self._urls:
            raise Rejected(Code.SCAN_UNREADABLE, "not in the listing")
        return self._web.body(self._urls[uri])

    def _addresses(self) -> Iterator[tuple[str, str]]:
        """(address, date or '')"""
        if self._web.origin.sitemap:
            yield from self._sitemap()
        else:
            for page in self._web.origin.pages or (self._location,):
                yield urljoin(self._location, page), ""

    def _asked(self, uri: str, url: str, before: Mapping[str, Known], told: dict[str, Known]) -> SourceFile | None:
        """What a page says of itself now; the body of a changed one is held for `open`. None: it is not there."""
        known = before.get(url)
        headers = {}
        if known:
            headers = {"If-None-Match": known[0]} if known[0] else {"If-Modified-Since": known[1]}
        answer = self._web.patience.item(lambda: self._web.get(url, headers))
        if answer.status == 304 and known:
            token, size = known[2], 0
        elif answer.status == 200:
            token, size = self._taken(uri, answer)
        elif answer.status in GONE:
            return None
        else:
            self._denied += answer.status in DENIED
            raise Rejected(Code.SCAN_UNREADABLE, f"HTTP {answer.status}")
        etag, date = answer.headers.get("etag", ""), answer.headers.get("last-modified", "")
        if answer.status == 304 and known:
            etag, date = known[0], known[1]
        if etag or date:
            told[url] = (etag, date, token)
        return SourceFile(uri, token, size, 0.0)

    def _taken(self, uri: str, answer: Answer) -> tuple[str, int]:
        """(token, size) of a body, which is held until the next."""
        self._release()
        etag, date = answer.headers.get("etag", ""), answer.headers.get("last-modified", "")
        if etag or date:
            token = token_of("etag", etag) if etag else token_of("date", date)
        else:
            token = hashlib.file_digest(answer.body, "sha256").hexdigest()  # type: ignore[arg-type]
        size = answer.body.seek(0, os.SEEK_END)
        answer.body.seek(0)
        self._held = (uri, answer.body)
        return token, size

    def _release(self) -> None:
        if self._held:
            self._held[1].close()
            self._held = None

    def _remembered(self) -> dict[str, Known]:
        try:
            return {url: (one[0], one[1], one[2]) for url, one in json.loads(self._state.read_text()).items()}
        except (OSError, ValueError, LookupError, AttributeError):
            return {}

    def _remember(self, told: Mapping[str, Known]) -> None:
        self._state.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = self._state.with_suffix(f".{os.getpid()}")
        fresh.touch(mode=0o600)
        fresh.write_text(json.dumps(told))
        fresh.replace(self._state)

    def _sitemap(self) -> Iterator[tuple[str, str]]:
        """Pages of a sitemap and of those that it names. One that cannot be read makes the whole listing fail."""
        waiting, seen = [self._location], {self._location}
        while waiting:
            url = waiting.pop()
            root = self._read_sitemap(url)
            for entry in root:
                inside = {_local(one.tag): (one.text or "").strip() for one in entry if isinstance(one.tag, str)}
                address = urljoin(url, inside.get("loc", ""))
                if _local(root.tag) == "urlset":
                    yield address, inside.get("lastmod", "")
                elif address not in seen:
                    seen.add(address)
                    waiting.append(address)
            if len(seen) > _SITEMAPS:
                raise Misconfigured(Code.SCAN_BAD_LISTING, f"{self._web.where} names more than {_SITEMAPS} sitemaps")

    def _read_sitemap(self, url: str) -> Any:
        from lxml import etree

        with self._web.listing(url).body as body:
            data = body.read(_MOST)
        try:
            if data.startswith(b"\x1f\x8b"):
                data = gzip.GzipFile(fileobj=io.BytesIO(data)).read(_MOST)
            root = etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True))
        except (etree.XMLSyntaxError, OSError, EOFError, zlib.error) as error:
            raise Misconfigured(Code.SCAN_BAD_LISTING, f"{self._web.where}: the sitemap is no XML") from error
        if _local(root.tag) not in ("urlset", "sitemapindex"):
            raise Misconfigured(Code.SCAN_BAD_LISTING, f"{self._web.where} is no sitemap")
        return root


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]
