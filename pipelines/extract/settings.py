"""What a site may set for the extract layer, each with its reason."""

from schemas.base import Record


class ExtractSettings(Record):
    """Settings of extract."""
