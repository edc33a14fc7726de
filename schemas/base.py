"""The one base of all records."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A frozen value: equal by content, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")
