"""What masking looks for: each type of personal data, how it is told from other text, and what is done with it."""

from typing import NamedTuple

from pipelines.mask.operators import operator_for
from pipelines.mask.settings import MaskSettings
from schemas.source import MaskOperator

_HOW = {
    "PHONE": "mainland mobiles (11 digits from 13 to 19) in any grouping, international numbers with +, North American",
    "LANDLINE": "area code and number, with extension; seven or eight digits alone only after a label",
    "ID_CARD": "18 characters with division, birthday and check character (GB 11643); 15 digits with division and "
    "birthday; US social security numbers by context",
    "USCC": "unified social credit code with its check character (GB 32100)",
    "BANK_CARD": "15 to 19 digits with Luhn check: prefix 62, groups of four, or a word such as 卡 or account nearby",
    "IBAN": "country code and check digits modulo 97 (ISO 13616)",
    "PASSPORT": "passports and travel permits, by a word such as 护照, passport or 通行证 nearby",
    "PLATE": "number plates of mainland China, with those of electric cars",
    "EMAIL": "addresses, also written with (at) and (dot)",
    "IP": "private addresses (RFC 1918), unless version or section words stand before or after",
    "ADDRESS": "division, street and house number in Chinese",
    "EMP_ID": "what the setting `employee_number` says: by default a number after 工号, employee ID and the like",
    "PERSON": "a model's names that look like names; names after labels (联系人：, Contact:) and below headings (姓名)",
    "ORGANIZATION": "a model's organisations",
    "LOCATION": "a model's places",
}


class Recognised(NamedTuple):
    """One row of the list."""

    type: str
    how: str
    operator: MaskOperator


def catalogue(settings: MaskSettings) -> tuple[Recognised, ...]:
    """All types, with the operator that acts where a source has no policy of its own."""
    return tuple(Recognised(kind, how, operator_for(kind, {}, settings)) for kind, how in _HOW.items())
