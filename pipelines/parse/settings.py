"""What a site may set for the parse layer, each with its reason."""

from schemas.base import Record


class ParseSettings(Record):
    """Settings of parse."""
