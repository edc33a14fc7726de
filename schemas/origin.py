"""How a source of each kind is reached: the blocks `s3`, `git`, `sql` and `http` of an entry in sources.yaml.

A secret is never written here: a field of type `Secret` is the name of the environment variable that holds it.
"""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from schemas.base import Record

Secret = Annotated[str, Field(pattern=r"^SLUICE_SOURCE_[A-Z0-9_]{1,80}$")]
"""An environment variable. No other name is taken, so that no entry can send another secret of the process away."""

TextFormat = Literal["text", "markdown", "html"]


class S3Origin(Record):
    """Without keys the usual chain of AWS is asked (environment, profile, role of the machine)."""

    endpoint: str = Field(default="", pattern=r"^(https?://.+)?$")
    """Where another server than AWS answers: `https://minio.example.com`."""
    key: Secret | None = None
    secret: Secret | None = None
    anonymous: bool = False
    """Ask without any key: public buckets."""


class GitOrigin(Record):
    """What of a repository is read."""

    ref: str = Field(default="HEAD", min_length=1)
    """Branch, tag or commit."""
    folder: str = ""
    """Only what lies below; uris start there."""
    user: str = "git"
    token: Secret | None = None
    """Password or access token, for https."""


class SqlOrigin(Record):
    """Rows of a table or view (`location`, as `name` or `schema.name`), or of a query, as documents."""

    url: Secret
    """Holds an SQLAlchemy url. Give it a user who may only read."""
    query: str = ""
    """One SELECT; `location` is then only a name for people."""
    key: str
    """Column that tells rows apart and never changes."""
    updated: str | None = None
    """Column that changes with the row: listing then reads no other column. None: a hash of the whole row."""
    title: str | None = None
    body: str | None = None
    columns: tuple[str, ...] = ()
    """Shown as a list above the body. Empty: all others."""
    format: TextFormat = "text"
    """What the body is."""
    rows: Literal["documents", "table"] = "documents"
    """One document for each row, or the whole as one table."""


class JsonApi(Record):
    """A JSON listing, page by page. Paths into an answer are keys joined by dots: `body.storage.value`."""

    items: str = ""
    """The list in an answer. Empty: the answer is the list."""
    next: str = ""
    """The address of the next page; without one, the `Link: <…>; rel="next"` header is followed."""
    next_base: str = ""
    """Put before `next` where that is relative to it (Confluence: `_links.base`)."""
    id: str = "id"
    """Tells items apart and never changes."""
    updated: str = ""
    """Changes with the item (time, version number). Empty: a hash of the item as it is listed."""
    title: str = "title"
    item: str = ""
    """Address of one item with its content, `{id}` in it; only changed ones are asked for. Empty: it is listed."""
    content: str = ""
    """The text in an item. Empty, without `link`: the item's own JSON is the document."""
    link: str = ""
    """The address of a file in an item, which is then the document."""
    format: TextFormat = "html"
    """What `content` is."""


class HttpOrigin(Record):
    """Pages by their addresses, by a sitemap, or by a JSON listing. Only hosts that are named here are asked."""

    pages: tuple[str, ...] = ()
    """Addresses, relative ones to `location`. Empty, and nothing below: `location` is the one document."""
    sitemap: bool = False
    """`location` is a sitemap.xml, or an index of such."""
    api: JsonApi | None = None
    """`location` is the first page of a JSON listing."""
    hosts: tuple[str, ...] = ()
    """`host` or `host:port` beside that of `location`, where pages, links and redirects may lead."""
    headers: dict[str, Secret] = Field(default_factory=dict)
    """Sent to the host of `location` only; the variable holds the whole value: `Bearer …`."""

    @model_validator(mode="after")
    def _one_way_of_listing(self) -> "HttpOrigin":
        if sum((bool(self.pages), self.sitemap, self.api is not None)) > 1:
            raise ValueError("give one of pages, sitemap and api")
        return self
