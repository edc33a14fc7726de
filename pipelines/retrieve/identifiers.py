"""What a question names exactly: codes, document numbers, versions, dates, years."""

import re

from pipelines.retrieve.tokens import fold

CODE = re.compile(
    r"[\u4e00-\u9fff]{1,6}[〔\[(]\d{4}[〕\])]\s?第?\d+号"  # 财发〔2024〕12号
    r"|第[\d零一二三四五六七八九十百千]{1,6}[条章款项]"
    r"|(?<![a-z0-9])(?!(?:in|on|of|to|at|by|as|the|for|from|since|until|year|after|before|and|or|top|page) )"
    r"[a-z]{1,8}(?:/[a-z])?(?:-?\d{2,}| \d{3,})(?:[.\-]\d+)*(?![a-z0-9])"  # gb/t 3620.1-2016, slu-12, error 619
    r"|(?<![\w.])v?\d+\.\d+(?:\.\d+)*(?![\w.])"  # 3.3.2, v2.1
    r"|(?<!\d)(?:19|20)\d{2}[-/年]\d{1,2}[-/月]\d{1,2}(?!\d)"
    r"|(?<!\d)(?:19|20)\d{2}年?\d{0,2}月?(?!\d)"
    r"|(?<![a-z0-9])\d{4,}(?![a-z0-9])"
)
SEPARATORS = re.compile(r"[\s〔〕\[\]()]+")
DATE = re.compile(r"(\d{4})[-/年](\d{1,2})[-/月](\d{1,2})日?")


def identifiers(question: str) -> tuple[str, ...]:
    """Folded, each once, in order. An error number or a year is one; a bare count of up to three digits is not."""
    found = (_plain(match.group()) for match in CODE.finditer(fold(question)))
    return tuple(dict.fromkeys(one for one in found if one))


def _plain(text: str) -> str:
    """One spelling for all: no blanks or brackets, dates as 2024-4-1, a year without 年."""
    squeezed = DATE.sub(lambda m: f"{m[1]}-{int(m[2])}-{int(m[3])}", SEPARATORS.sub("", text))
    return squeezed.rstrip("年")


def share_held(wanted: tuple[str, ...], text: str) -> float:
    """Share of the identifiers that stand in the text, not as a part of a longer number or word."""
    plain = _plain(fold(text))
    held = sum(bool(re.search(rf"(?<![a-z0-9.]){re.escape(one)}(?![a-z0-9]|\.\d)", plain)) for one in wanted)
    return held / len(wanted) if wanted else 0.0
