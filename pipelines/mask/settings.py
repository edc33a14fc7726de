"""What a site may set for the mask layer, each with its reason."""

import re

from pydantic import Field, field_validator

from schemas.base import Record
from schemas.source import MaskOperator


class MaskSettings(Record):
    """Settings of mask."""

    employee_number: str = (
        r"(?:工号|员工编号|员工号|职工号|(?i:employee\s?(?:id|no\.?|number)|staff\s?(?:id|no\.?)))"
        r"(?:\s?(?:为|是))?\s?[:：#]?\s?([A-Za-z]{0,4}-?\d{3,10})"
    )
    """Regular expression; its first group is what is masked. Numbers differ by site, so a label is asked for."""
    default: MaskOperator = "replace"
    """Operator of every type that neither the source nor `operators` names."""
    operators: dict[str, MaskOperator] = Field(default={"ORGANIZATION": "keep", "LOCATION": "keep"})
    """Operator by type. Organisations and places are what people search for: found and counted, not hidden."""
    names: bool = True
    """Find names by model; labels such as `联系人：` are read in any case."""

    engine: str = Field(default="pipelines.adapters.lac:LacNlpEngine", pattern=r"^[\w.]+:\w+$")
    """`module:class` of the engine that finds names: an `NlpEngine` of Presidio, made with `enabled=True` or `False`,
    whose artifacts hold entities labelled PERSON, ORGANIZATION or LOCATION. A site that has the weights of HanLP or
    GLiNER names its own class; tests/contract/test_name_engine.py says what it must keep to."""

    @field_validator("employee_number")
    @classmethod
    def _compiles(cls, value: str) -> str:
        try:
            groups = re.compile(value).groups
        except re.error as broken:
            raise ValueError(f"employee_number is not a regular expression: {broken}") from None
        if not groups:
            raise ValueError("employee_number needs one group around what is masked")
        return value
