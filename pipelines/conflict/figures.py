"""Numbers and dates by their value, however they are written: 5万, 50,000 and 50 thousand are one figure."""

import re
from decimal import Decimal

NUMERAL = "〇零一二两兩三四五六七八九十百千万萬亿億廿卅壹贰貳叁參肆伍陆陸柒捌玖拾佰仟半"
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = rf"(?:{'|'.join(_MONTHS)})(?:[a-z]{{1,6}}|\.)?"
_COUNT = rf"\d{{1,2}}|[{NUMERAL}]{{1,3}}"
_YEAR = r"(?:1[5-9]|20)\d\d|[〇零一二三四五六七八九]{4}"
_AMOUNT = r"\d+(?:,\d{3})*(?:\.\d+)?"

DATE = (
    rf"(?:{_YEAR})\s?年\s?(?:{_COUNT})\s?月(?:\s?(?:{_COUNT})\s?[日号號])?"
    rf"|\b{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?,?\s(?:{_YEAR})\b|\b\d{{1,2}}(?:st|nd|rd|th)?\s{_MONTH},?\s(?:{_YEAR})\b"
    r"|(?:1[5-9]|20)\d\d(?P<mark>[-/.])\d{1,2}(?:(?P=mark)\d{1,2})?(?![-/.]?\d)"
)
"""A regular expression of a calendar date of which at least year and month are written."""
SCALED = rf"[-−+]?{_AMOUNT}(?:\s?(?:[百千万萬亿億]+)|\s(?:thousand|million|billion)\b)"
PERCENT = rf"百分之(?:[{NUMERAL}]+|{_AMOUNT})|{_AMOUNT}\s?%"

_DIGITS = {
    c: n
    for n, row in enumerate(("〇零", "一壹", "二两兩贰貳", "三叁參", "四肆", "五伍", "六陆陸", "七柒", "八捌", "九玖"))
    for c in row
}
_SCALES = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_LARGE = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_TIMES = {**_SCALES, **_LARGE, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_SCALED = re.compile(rf"([-+]?\d+(?:\.\d+)?)\s?({'|'.join(_TIMES)}|[{''.join(_LARGE)}百千]+)$")
_PARTS = re.compile(rf"\d+|[{NUMERAL}]+|{_MONTH}")


def date(written: str) -> str:
    """Year-month or year-month-day, without leading zeros, of what DATE matched."""
    parts = _PARTS.findall(written)
    counts = [_MONTHS.index(one[:3]) + 1 if one[0].isascii() and one[0].isalpha() else numeral(one) for one in parts]
    if any(one[0].isascii() and one[0].isalpha() for one in parts):
        day = next(n for n, one in enumerate(parts) if one[0].isdigit())
        month = 1 - day
        counts = [counts[2], counts[month], counts[day]]
    return "-".join(str(one) for one in counts)


def amount(written: str) -> str:
    """Plain decimal of what SCALED matched, or of digits with separators (the two zeros of a round price go); ranges,
    times and versions stay as they are."""
    plain = written.replace(",", "").replace("−", "-")
    match = _SCALED.match(plain)
    if match is None:
        return plain.removesuffix(".00")
    scale = match.group(2)
    product = Decimal(match.group(1))
    for one in [scale] if scale in _TIMES else scale:
        product *= _TIMES[one]
    return f"{product.normalize():f}"


def percent(written: str) -> str:
    """Of what PERCENT matched, with its sign."""
    value = written.removeprefix("百分之").removesuffix("%").strip()
    return f"{amount(value) if value[0].isdecimal() else numeral(value)}%"


def numeral(written: str) -> int | str:
    """Integer of digits or of a Chinese numeral; as it is where it is none (半, 廿)."""
    if written.isdecimal():
        return int(written)
    if any(c not in _DIGITS and c not in _SCALES and c not in _LARGE for c in written):
        return written
    if all(c in _DIGITS for c in written):
        return int("".join(str(_DIGITS[c]) for c in written))
    total = section = digit = 0
    for c in written:
        if c in _DIGITS:
            digit = _DIGITS[c]
        elif c in _SCALES:
            section += (digit or 1) * _SCALES[c]
            digit = 0
        else:
            total += (section + digit or 1) * _LARGE[c]
            section = digit = 0
    return total + section + digit
