"""Sources: where documents come from, who owns them, who may read them, who approves them."""

import re
from typing import Literal, NamedTuple

from pydantic import Field, JsonValue, field_validator, model_validator

from schemas.base import Record
from schemas.evaluation import Evaluation
from schemas.origin import GitOrigin, HttpOrigin, S3Origin, SqlOrigin

Authority = Literal["L1", "L2", "L3", "L4"]
"""L1 is binding (law, signed policy), L2 official, L3 working documents, L4 informal notes."""

MaskOperator = Literal["replace", "mask", "pseudonym", "vault", "keep"]

Risk = Literal[
    "new_source",
    "new_document",
    "pii",
    "conflict",
    "near_duplicate",
    "low_quality",
    "hidden_text",
    "injection",
    "big_deletion",
    "parse_warning",
    "described",
    "quality",
    "removed",
    "held",
    "edited",
    "edit_lost",
]


class ReviewPolicy(Record):
    """Who approves changes of a source, and which risks a person must see."""

    approver: Literal["auto", "owner", "admin"] = "admin"
    hold_on: tuple[Risk, ...] = ()
    """With `auto`: changes that carry one of these risks wait for a person all the same."""
    reviewers: tuple[str, ...] = ()
    """User ids that may answer; empty: the owner, or `admin`."""
    deadline_hours: int = Field(default=72, ge=1)
    on_timeout: Literal["hold", "approve", "decline"] = "hold"
    escalate_to: tuple[str, ...] = ()
    """User ids that are asked, for as long again, when nobody answers by the deadline; then `on_timeout` counts."""
    four_eyes: bool = False
    """The approver must be another person than the one who started the sync, or who edited a chunk."""
    approvers: int = Field(default=1, ge=1, le=5)
    """How many people have to approve."""


_LOCATIONS = {
    # A local folder is a source of kind folder, which knows links; `::` chains file systems onto others.
    "s3": re.compile(r"(?!file:|local:)[a-z][a-z0-9+.-]*://(?!.*::)", re.I),
    "http": re.compile(r"https?://[^/\s]+", re.I),
}


class Breaker(Record):
    """A run stops before it removes more than this from one source."""

    share: float = Field(default=0.20, gt=0, le=1)
    documents: int = Field(default=50, ge=1)


class Source(Record):
    """One entry of sources.yaml."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")
    kind: Literal["folder", "s3", "git", "sql", "http"] = "folder"
    location: str
    """folder: path. s3: `s3://bucket/prefix`, or any other fsspec url. git: url or path. sql: table. http: url."""
    s3: S3Origin | None = None
    git: GitOrigin | None = None
    sql: SqlOrigin | None = None
    http: HttpOrigin | None = None
    authority: Authority = "L3"
    scope: str = Field(default="global", pattern=r"^(global|team:.+|user:.+)$")
    owner: str = "admin"
    access: tuple[str, ...] = ()
    """Principals (`user:NAME`, `team:NAME`, `everyone`) that may read. Empty: follows the scope."""
    review: ReviewPolicy = ReviewPolicy()
    breaker: Breaker = Breaker()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_megabytes: int = Field(default=1024, ge=1)
    """A larger file is not read (`scan.too_large`)."""
    fresh_days: int | None = Field(default=None, ge=1)
    """A document whose own date (without one, its last change) is older than this is stale. None: never."""
    vision: bool | None = None
    """Whether the vision model, where one is configured, may see its pages, which are not masked then. None: yes, but
    not those of a personal source."""
    mask: dict[str, MaskOperator] = Field(default_factory=dict)
    """Operator by entity type; what is not named takes the default of the mask settings."""

    @field_validator("access")
    @classmethod
    def _principals(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for principal in value:
            if principal != "everyone" and not principal.startswith(("user:", "team:")):
                raise ValueError(f"a principal is everyone, user:NAME or team:NAME, not {principal!r}")
        return value

    @model_validator(mode="after")
    def _personal_is_personal(self) -> "Source":
        if self.scope.startswith("user:") and set(self.access) - {self.scope}:
            raise ValueError(f"a personal source is read by {self.scope} only: leave `access` empty")
        return self

    @model_validator(mode="after")
    def _reached_as_its_kind_asks(self) -> "Source":
        blocks = {"s3": self.s3, "git": self.git, "sql": self.sql, "http": self.http}
        if strange := [name for name, block in blocks.items() if block is not None and name != self.kind]:
            raise ValueError(f"a source of kind {self.kind} has no block {strange[0]!r}")
        if self.kind == "sql" and self.sql is None:
            raise ValueError("a source of kind sql needs a block `sql` with `url` and `key`")
        if (pattern := _LOCATIONS.get(self.kind)) and not pattern.match(self.location):
            raise ValueError(f"that is no location of a source of kind {self.kind}")
        if re.match(r"[a-z0-9+.-]+://[^/@\s]*:[^/@\s]*@", self.location, re.I):
            raise ValueError("no password in a location: name an environment variable that holds it")
        return self

    def shown_to_vision(self) -> bool:
        """Whether a vision model may see its pages."""
        return not self.scope.startswith("user:") if self.vision is None else self.vision

    def readers(self) -> tuple[str, ...]:
        """The principals that may read this source, sorted."""
        if self.access:
            return tuple(sorted(set(self.access)))
        return ("everyone",) if self.scope == "global" else (self.scope,)


class Term(Record):
    """One entry of a knowledge base's dictionary: found by its name or a synonym, stored by its name."""

    name: str = Field(min_length=2)
    type: str = Field(default="term", min_length=1, max_length=64)
    synonyms: tuple[str, ...] = ()


class SourcesFile(Record):
    """The whole of sources.yaml: the sources of one knowledge base."""

    knowledge_base: str = Field(default="main", pattern=r"^[a-z][a-z0-9_]{0,30}$")
    sources: tuple[Source, ...] = ()
    evaluation: Evaluation = Evaluation()
    """What a release must pass before it goes live."""
    retrieve: dict[str, JsonValue] = Field(default_factory=dict)
    """Search settings of this knowledge base, over those of the installation: synonyms, routes, switches, weights."""
    terms: tuple[Term, ...] = ()
    """Its dictionary: products, projects, systems. Entities are found by it, and questions are asked with synonyms."""

    @model_validator(mode="after")
    def _names_are_unique(self) -> "SourcesFile":
        names = [source.name for source in self.sources]
        if doubled := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"source names must be unique, these are not: {sorted(doubled)}")
        return self


class SourceFile(NamedTuple):
    """One file as a reader lists it, before it is opened. A plain tuple: a source lists hundreds of thousands."""

    uri: str
    """Path inside the source with `/`, stable over runs; undecodable bytes as surrogate escapes are percent-encoded."""
    token: str
    """Changes when the content may have changed (mtime+size, ETag, revision). At most 128 characters."""
    size: int
    """Bytes; 0 where the listing does not tell."""
    modified: float
    """Seconds since the epoch; 0 where the listing does not tell."""
