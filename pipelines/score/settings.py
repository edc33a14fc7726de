"""What a site may set for the score layer, each with its reason."""

from pydantic import Field

from schemas.base import Record


class ScoreSettings(Record):
    """Settings of score."""

    index_from: float = Field(default=0.5, ge=0, le=1)
    """From here a chunk is indexed with full weight."""
    low_from: float = Field(default=0.25, ge=0, le=1)
    """From here it is indexed with less weight and shown in review; below it goes to quarantine."""
    trial: tuple[str, ...] = ("template", "outdated")
    """Rules on trial: their verdicts are written and reported, and nothing acts on them. Both read names of files and
    titles, which each site has habits of its own in: look at the report before they may lower a score."""
