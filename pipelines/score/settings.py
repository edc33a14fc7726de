"""What a site may set for the score layer, each with its reason."""

from pydantic import Field

from schemas.base import Record


class ScoreSettings(Record):
    """Settings of score."""

    index_from: float = Field(default=0.5, ge=0, le=1)
    """From here a chunk is indexed with full weight."""
    low_from: float = Field(default=0.25, ge=0, le=1)
    """From here it is indexed with less weight and shown in review; below it goes to quarantine."""
