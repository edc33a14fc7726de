"""What a site may set for the extract layer, each with its reason."""

from pydantic import Field

from schemas.base import Record


class ExtractSettings(Record):
    """Settings of extract."""

    keywords: int = Field(default=8, ge=0)
    """Kept per chunk, heaviest first."""
    max_phrase: int = Field(default=10, ge=2)
    """Characters; a longer Chinese noun phrase is seldom a term."""
    terms: dict[str, str] = Field(default_factory=dict)
    """The site's own dictionary: entity type by name (products, projects, systems). Found wherever a text has them."""
