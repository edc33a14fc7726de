"""What a site may set for the dedup layer, each with its reason."""

from schemas.base import Record


class DedupSettings(Record):
    """Settings of dedup."""
