"""What a site may set for the retrieve layer, each with its reason."""

from schemas.base import Record


class RetrieveSettings(Record):
    """Settings of retrieve."""
