"""What a site may set for the extract layer, each with its reason."""

from collections.abc import Sequence

from pydantic import Field

from schemas.base import Record
from schemas.source import Term


class ExtractSettings(Record):
    """Settings of extract."""

    keywords: int = Field(default=8, ge=0)
    """Kept per chunk, heaviest first."""
    max_phrase: int = Field(default=10, ge=2)
    """Characters; a longer Chinese noun phrase is seldom a term."""
    terms: dict[str, str] = Field(default_factory=dict)
    """The site's own dictionary: entity type by name (products, projects, systems). Found wherever a text has them."""
    synonyms: dict[str, str] = Field(default_factory=dict)
    """Name in the dictionary by another word for it."""

    def with_terms(self, terms: Sequence[Term]) -> "ExtractSettings":
        """With the dictionary of a knowledge base over that of the installation."""
        known = self.terms | {one.name: one.type for one in terms}
        others = self.synonyms | {other: one.name for one in terms for other in one.synonyms}
        return self.model_copy(update={"terms": known, "synonyms": others})
