"""Relative time in a question: which phrase, and which days it names."""

import re
from datetime import date, timedelta

EPOCH = date(1970, 1, 1)
DAY = timedelta(days=1)
COUNTED = re.compile(
    r"(?:最近|过去|近)(?P<zh>\d{1,3}|[一二两三四五六七八九十]|半)个?(?P<zh_unit>天|日|周|星期|月|年)"
    r"|\b(?:last|past) (?P<en>\d{1,3}) (?P<en_unit>days?|weeks?|months?|years?)\b",
    re.I,
)
NUMBERS = {
    one: number for number, one in enumerate("一二三四五六七八九十", 1)
} | {"两": 2}  # fmt: skip
UNIT_DAYS = {"天": 1, "日": 1, "周": 7, "星期": 7, "月": 30, "年": 365, "day": 1, "week": 7, "month": 30, "year": 365}


def relative_period(text: str, today: date) -> tuple[str, date, date] | None:
    """The phrase, the first and the last day of the period that it names; the first phrase that is found counts."""
    for pattern, first, last in _periods(today):
        if found := re.search(pattern, text, re.I):
            return found.group(), first, last
    if found := COUNTED.search(text):
        return found.group(), today - timedelta(days=_counted(found)), today
    return None


def _counted(found: re.Match[str]) -> int:
    if found["zh"] == "半":
        return UNIT_DAYS[found["zh_unit"]] // 2
    count = NUMBERS.get(found["zh"] or "") or int(found["zh"] or found["en"])
    unit = found["zh_unit"] or found["en_unit"].lower().removesuffix("s")
    return count * UNIT_DAYS[unit]


def _periods(today: date) -> tuple[tuple[str, date, date], ...]:
    month = today.replace(day=1)
    quarter = date(today.year, (today.month - 1) // 3 * 3 + 1, 1)
    monday = today - timedelta(days=today.weekday())
    last_month, last_quarter = month - DAY, quarter - DAY
    this_half = date(today.year, 1 if today.month < 7 else 7, 1)
    return (
        (r"前天|the day before yesterday", today - 2 * DAY, today - 2 * DAY),
        (r"昨天|昨日|\byesterday\b", today - DAY, today - DAY),
        (r"今天|今日|\btoday\b", today, today),
        (r"上个?(?:周|星期|礼拜)|\blast week\b", monday - 7 * DAY, monday - DAY),
        (r"本周|这个?(?:周|星期|礼拜)|\bthis week\b", monday, monday + 6 * DAY),
        (r"上个?季度|\blast quarter\b", date(last_quarter.year, last_quarter.month - 2, 1), last_quarter),
        (r"[本这]个?季度|\bthis quarter\b", quarter, (quarter + 92 * DAY).replace(day=1) - DAY),
        (r"上个?月|\blast month\b", last_month.replace(day=1), last_month),
        (r"本月|这个月|\bthis month\b", month, (month + 31 * DAY).replace(day=1) - DAY),
        (r"今年上半年", date(today.year, 1, 1), date(today.year, 6, 30)),
        (r"去年下半年", date(today.year - 1, 7, 1), date(today.year - 1, 12, 31)),
        (r"去年上半年", date(today.year - 1, 1, 1), date(today.year - 1, 6, 30)),
        (r"本半年", this_half, today),
        (r"大前年", date(today.year - 3, 1, 1), date(today.year - 3, 12, 31)),
        (r"前年|\btwo years ago\b", date(today.year - 2, 1, 1), date(today.year - 2, 12, 31)),
        (r"去年|上一?年度?|\blast year\b", date(today.year - 1, 1, 1), date(today.year - 1, 12, 31)),
        (r"今年|本年度?|\bthis year\b", date(today.year, 1, 1), date(today.year, 12, 31)),
    )


def spelled(phrase: str, first: date, last: date) -> str:
    """The period as documents write it: a year, a month, a day; else from and to."""
    chinese = not phrase.isascii()
    if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31):
        return f"{first.year}年" if chinese else str(first.year)
    if first == last:
        return f"{first.year}年{first.month}月{first.day}日" if chinese else first.isoformat()
    whole = first.day == 1 and (last + DAY).day == 1
    if whole and (first.year, first.month) == (last.year, last.month):
        return f"{first.year}年{first.month}月" if chinese else f"{first:%Y-%m}"
    if whole and first.year == last.year and last.month - first.month == 2 and first.month % 3 == 1:
        quarter = first.month // 3 + 1
        return f"{first.year}年第{'一二三四'[quarter - 1]}季度" if chinese else f"Q{quarter} {first.year}"
    if chinese:
        return f"{first.year}年{first.month}月{first.day}日至{last.year}年{last.month}月{last.day}日"
    return f"{first.isoformat()} to {last.isoformat()}"


def days(one: date) -> int:
    """Days since 1970-01-01."""
    return (one - EPOCH).days
