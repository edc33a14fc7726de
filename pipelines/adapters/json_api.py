"""A JSON API as a source: a listing page by page, each item a document (Confluence and its kind among them)."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import IO, Any
from urllib.parse import quote, urljoin, urlsplit

from pipelines.adapters.remote import Patience, Secrets, named, spooled, token_of
from pipelines.adapters.rendering import ENDINGS, render
from pipelines.adapters.selection import Selection
from pipelines.adapters.web import Answer, Web
from pipelines.errors import Code, Misconfigured, Rejected
from schemas.origin import JsonApi
from schemas.source import Source, SourceFile

_ENDING = re.compile(r"\.[A-Za-z0-9]{1,5}$")


class JsonApiReader:
    """The listing is read to its end or not at all: a page that fails makes it fail."""

    def __init__(self, source: Source, secrets: Secrets, patience: Patience | None = None) -> None:
        assert source.http is not None and source.http.api is not None
        self._api: JsonApi = source.http.api
        self._web = Web(source, secrets, patience or Patience())
        self._location = source.location
        self._megabytes = source.max_megabytes
        self._selection = Selection(source)
        self._places: dict[str, str] = {}
        self._held: tuple[str, Any] = ("", None)

    @property
    def problems(self) -> Sequence[tuple[str, Code, str]]:
        return ()

    def files(self) -> Iterator[SourceFile]:
        """Raises as `SourceReader.files` says. An item that two pages list (it moved meanwhile) counts once."""
        self._places = {}
        for uri, place, item in self._items():
            if uri in self._places or uri not in self._selection:
                continue
            self._places[uri], self._held = place, (uri, item)
            changed = dug(item, self._api.updated) if self._api.updated else None
            yield SourceFile(uri, token_of(_text(changed) if changed is not None else _text(item)), 0, 0.0)

    def open(self, uri: str) -> IO[bytes]:
        if uri not in self._places:
            raise Rejected(Code.SCAN_UNREADABLE, "not in the listing")
        if self._places[uri]:
            if self._api.link:
                return self._web.body(self._places[uri])
            with self._web.body(self._places[uri]) as body:
                return self._document(_json(body.read()))
        if self._held[0] != uri:  # its content is in the listing and nowhere else
            self._held = next(((one, item) for one, _, item in self._items() if one == uri), ("", None))
        if self._held[0] != uri:
            raise Rejected(Code.SCAN_UNREADABLE, "gone since it was listed")
        return self._document(self._held[1])

    def _document(self, item: Any) -> IO[bytes]:
        if not self._api.content:
            return spooled([json.dumps(item, ensure_ascii=False, indent=1).encode("utf-8", "replace")], self._megabytes)
        content = dug(item, self._api.content)
        if not isinstance(content, str):
            raise Rejected(Code.SCAN_UNREADABLE, f"the item has no text in {self._api.content}")
        title = dug(item, self._api.title)
        data = render(title if isinstance(title, str) else "", {}, content, self._api.format)
        return spooled([data], self._megabytes)

    def _items(self) -> Iterator[tuple[str, str, Any]]:
        """(uri, address of its content or '', item)"""
        for item, page in self._listed():
            identity = dug(item, self._api.id)
            if not isinstance(identity, str | int) or identity == "":
                raise self._bad(f"an item has no {self._api.id}")
            place, ending = "", ENDINGS[self._api.format] if self._api.content else ".json"
            if self._api.link:
                place = urljoin(page, _text(dug(item, self._api.link) or ""))
                found = _ENDING.search(urlsplit(place).path)
                ending = found[0].lower() if found and not str(identity).lower().endswith(found[0].lower()) else ""
            elif self._api.item:
                place = urljoin(self._location, self._api.item.replace("{id}", quote(str(identity), safe="")))
            yield named(str(identity)) + ending, place, item

    def _listed(self) -> Iterator[tuple[Any, str]]:
        """(item, address of its page)"""
        url, seen = self._location, set[str]()
        while url:
            if url in seen:
                raise self._bad("its pages go in a circle")
            seen.add(url)
            answer = self._web.listing(url)
            with answer.body as body:
                try:
                    page = _json(body.read())
                except Rejected as error:
                    raise self._bad(error.reason) from error
            items = dug(page, self._api.items)
            if not isinstance(items, list):
                raise self._bad(f"an answer has no list {self._api.items}".rstrip())
            yield from ((item, answer.url) for item in items)
            url = self._following(page, answer)

    def _following(self, page: Any, answer: Answer) -> str:
        if not self._api.next:
            return urljoin(answer.url, answer.following) if answer.following else ""
        found = dug(page, self._api.next)
        if not isinstance(found, str) or not found:
            return ""
        base = dug(page, self._api.next_base) if self._api.next_base else None
        if isinstance(base, str) and not urlsplit(found).scheme:
            return f"{base.rstrip('/')}/{found.lstrip('/')}"
        return urljoin(answer.url, found)

    def _bad(self, why: str) -> Misconfigured:
        return Misconfigured(Code.SCAN_BAD_LISTING, f"{self._web.where}: {why}")


def dug(value: Any, path: str) -> Any:
    """What lies at `a.b.0` in a JSON value; '' is the value itself, None what is not there."""
    for key in path.split(".") if path else ():
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Rejected(Code.SCAN_UNREADABLE, "the answer is no JSON") from error
