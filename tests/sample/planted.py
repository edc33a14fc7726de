"""The personal data in the sample. All of it is made up; check digits are valid, so that detectors take it for real."""

from typing import NamedTuple


class Planted(NamedTuple):
    """A value, its entity type and where it stands."""

    type: str
    value: str
    source: str
    document: str


def resident_id(seventeen: str) -> str:
    """A Chinese resident identity number with its check character (GB 11643-1999, ISO 7064 MOD 11-2)."""
    total = sum(int(digit) * 2 ** (17 - place) for place, digit in enumerate(seventeen))
    return seventeen + "10X98765432"[total % 11]


def card(digits: str) -> str:
    """A payment card number with its check digit (ISO/IEC 7812-1, Luhn)."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (2 if place % 2 == 0 else 1)
        total += doubled - 9 if doubled > 9 else doubled
    return digits + str(-total % 10)


ZHANG_PHONE = "13812345679"
ZHANG_ID = resident_id("11010519900307123")
LI_PHONE = "15900001234"
LI_ID = resident_id("31010419851212452")
WANG_PHONE = "18688887654"
WANG_ID = resident_id("44030619921105881")
LI_CARD = card("622848040256489001")
ZHANG_MAIL = "zhang.wei.sample@example.cn"
HOLT_MAIL = "maria.holt@example.org"
HOLT_CARD = card("453201511283036")
HOLT_PHONE = "+1 202 555 0147"

PLANTED = (
    Planted("PHONE", ZHANG_PHONE, "handbook", "员工通讯录.csv"),
    Planted("ID", ZHANG_ID, "handbook", "员工通讯录.csv"),
    Planted("PHONE", LI_PHONE, "handbook", "员工通讯录.csv"),
    Planted("ID", LI_ID, "handbook", "员工通讯录.csv"),
    Planted("PHONE", WANG_PHONE, "handbook", "新员工入职指南.docx"),
    Planted("ID", WANG_ID, "handbook", "新员工入职指南.docx"),
    Planted("EMAIL", ZHANG_MAIL, "handbook", "新员工入职指南.docx"),
    Planted("EMAIL", HOLT_MAIL, "handbook", "onboarding.md"),
    Planted("PHONE", HOLT_PHONE, "handbook", "onboarding.md"),
    Planted("CARD", HOLT_CARD, "wiki", "incident-2024-05.html"),
    Planted("CARD", LI_CARD, "wiki", "会议纪要.txt"),
    Planted("PHONE", LI_PHONE, "wiki", "会议纪要.txt"),
)
"""`source` and `document` (uri) of every value."""
