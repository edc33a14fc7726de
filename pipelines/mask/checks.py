"""Check digits and plausibility of numbers. All take a compact ASCII value without separators."""

from datetime import date

_USCC_ALPHABET = "0123456789ABCDEFGHJKLMNPQRTUWXY"

_PROVINCES_BY_REGION = ("11-15", "21-23", "31-37", "41-46", "50-54", "61-65", "71-71", "81-83")
PROVINCES = frozenset(
    str(code)
    for first, last in (pair.split("-") for pair in _PROVINCES_BY_REGION)
    for code in range(int(first), int(last) + 1)
)
"""First two digits of GB/T 2260 division codes."""


def luhn(number: str) -> bool:
    """ISO/IEC 7812-1 annex B."""
    digits = [int(c) for c in reversed(number)]
    return len(set(digits)) > 1 and (sum(digits[::2]) + sum(sum(divmod(2 * d, 10)) for d in digits[1::2])) % 10 == 0


def _is_date(year: str, month: str, day: str) -> bool:
    try:
        return 1900 <= date(int(year), int(month), int(day)).year <= 2100
    except ValueError:
        return False


def id_card(number: str) -> bool:
    """GB 11643-1999: division, date of birth, order, check character (ISO 7064 MOD 11-2)."""
    if number[:2] not in PROVINCES or not _is_date(number[6:10], number[10:12], number[12:14]):
        return False
    rest = sum(int(c) * 2 ** (17 - i) for i, c in enumerate(number[:17])) % 11
    return "10X98765432"[rest] == number[17].upper()


def id_card_15(number: str) -> bool:
    """The form before 1999 has no check digit: only division and date of birth can be tested."""
    return number[:2] in PROVINCES and _is_date("19" + number[6:8], number[8:10], number[10:12])


def uscc(code: str) -> bool:
    """GB 32100-2015: unified social credit code, check character modulo 31."""
    code = code.upper()
    if any(c not in _USCC_ALPHABET for c in code) or code[2:4] not in PROVINCES | {"10"}:
        return False
    total = sum(_USCC_ALPHABET.index(c) * pow(3, i, 31) for i, c in enumerate(code[:17]))
    return _USCC_ALPHABET[(31 - total % 31) % 31] == code[17]


def iban(code: str) -> bool:
    """ISO 13616: the code with its first four characters moved to the end is 1 modulo 97."""
    moved = code[4:] + code[:4]
    return 15 <= len(code) <= 34 and int("".join(str(int(c, 36)) for c in moved)) % 97 == 1
