"""What a site may set for the mask layer, each with its reason."""

from schemas.base import Record


class MaskSettings(Record):
    """Settings of mask."""
