"""What a site may set for the score layer, each with its reason."""

from schemas.base import Record


class ScoreSettings(Record):
    """Settings of score."""
