"""A text as a row of words that carry meaning, each with its place in the raw text.

What only numbers, points or marks up (enumerators, article references, link targets, tags) is left out: a renumbered
law is no contradiction.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from pipelines.conflict.figures import DATE, NUMERAL, PERCENT, SCALED, amount, date, numeral, percent

Kind = Literal["number", "date", "code", "name", "actor", "polarity", "unit", "text"]

_NOISE = re.compile(
    r"\{\{<.*?>\}\}|</?[a-zA-Z][^>\n]{0,200}>|\]\([^)\s]*\)|```\w*|[`*~|\u200b\ufeff]+"
    rf"|(?:本法|本条例|本规定|本办法|前款|前条)?第[{NUMERAL}\d]+(?:[章节節编編条條款项項目]|步)(?:之[{NUMERAL}])?"
    rf"|^[ \t]*(?:[-+>#•·]+|\d+(?:\.\d+)*[.)、．]|[{NUMERAL}]+、|[(（][{NUMERAL}\da-z]{{1,3}}[)）])+"
    rf"|[(（][{NUMERAL}]{{1,3}}[)）]"
    r"|\b(?:article|section|clause|chapter|fig(?:ure|\.)|table|step)\s+\d+(?:\.\d+)*",
    re.MULTILINE,
)
_RUN = re.compile(
    rf"(?P<date>{DATE})|(?P<scaled>{SCALED})|(?P<percent>{PERCENT})"
    r"|[-−+]?\d+(?:,\d{3})+(?:\.\d+)?|[-−+]?\d+(?:[.:/-]\d+)*"
    r"|[a-z][a-z0-9]*(?:[_-][a-z0-9]+|\.[a-z0-9_]+|['’](?:s|t|re|ve|ll)\b)*|[%‰°℃$€£¥]|[\u3400-\u9fff\uf900-\ufaff]+"
)
_SPACE = re.compile(r"(?<=[\u3400-\u9fff])\s+(?=[\u3400-\u9fff])")
_IDENTIFIER = re.compile(r"[a-z]{1,6}[-_]?\d{2,}(?:[-_]\d+)*$")
_COMPANY = re.compile(r"(?:公司|集团|工厂|商行|事务所)$|^(?:inc|llc|ltd|gmbh|corp|plc)$")
_INSIDE = re.compile(r"[a-z0-9,;'’)] \Z")
_COLON = re.compile(r"\s*[\"'”]?\s*[:=]")
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?$|(?:19|20)\d\d$")
_ALL_NUMERAL = re.compile(rf"[{NUMERAL}]+$")
_NUMERAL_HEAD = re.compile(rf"([{NUMERAL}]+)([^{NUMERAL}]{{0,3}})$")
_COUNTED = frozenset("年月日天时周岁元块倍次个名人条项级户米里吨度页万亿成类种份")
_UNIT = re.compile(
    r"[%‰°℃$€£¥]|[年月日天时時分秒周週岁歲元块倍次个個名人条項项级級户戶平米里升克吨噸度页頁]$"
    r"|(?:小时|分钟|万元|亿元|个月|工作日|以上|以下|以内|之内)$"
    r"|(?:[kmgtp]i?b|ms|s|us|sec(?:ond)?s?|min(?:ute)?s?|hours?|days?|weeks?|months?|years?|percent|usd|eur|cny|rmb)$",
    re.IGNORECASE,
)
_ACTOR = re.compile(
    r"(?:部门|部門|机关|機關|机构|機構|政府|委员会|委員會|法院|检察院|公司|集团|银行|大学|医院|中心|局|厅|部|院|处|科|所|署"
    r"|经理|总监|主管|主任|主席|负责人|责任人|管理员|董事|董事会|监事|股东|总裁|书记|市|县|省|区|级|者|员|人|组织|单位|法|法典|条例)$"
)
_OFFICE = re.compile(r"(?:长|总|师|官|助理|会计|出纳|秘书|顾问|代表)$")
"""Ends of the names of offices, of nouns only: 增长 and 汇总 are verbs."""
_ACTOR_WORD = re.compile(
    r"(?:manager|director|officer|department|office|team|committee|board|owner|admin(?:istrator)?|head|lead|supervisor"
    r"|ceo|cfo|cto|hr|finance|legal|desk|president|chief|counsel|secretary|treasurer|controller|auditor|accountant|agent"
    r"|engineer|analyst|executive|representative|partner|principal|dean|council|unit|division)s?$",
    re.IGNORECASE,
)
_POLARITY = {
    **dict.fromkeys(
        ("不得", "禁止", "严禁", "不准", "不许", "不能", "不可", "无法", "不能够", "cannot", "forbidden", "prohibited"),
        "forbid",
    ),
    **dict.fromkeys(("应", "应当", "须", "必须", "需要", "需", "必需", "must", "shall", "required"), "must"),
    **dict.fromkeys(("可", "可以", "允许", "能", "能够", "may", "can", "allowed", "optional", "could"), "may"),
    **dict.fromkeys(
        (
            "不",
            "未",
            "无",
            "非",
            "没有",
            "无须",
            "无需",
            "勿",
            "不会",
            "不是",
            "不再",
            "并非",
            "并不",
            "从不",
            "从未",
            "not",
            "no",
            "never",
            "without",
            "none",
        ),
        "not",
    ),
    **dict.fromkeys(("以上", "超过", "至少", "不少于", "above", "over", "least"), "above"),
    **dict.fromkeys(("以下", "至多", "低于", "不超过", "below", "under", "most"), "below"),
    **dict.fromkeys(("启用", "开启", "打开", "true", "on", "enabled", "enable"), "on"),
    **dict.fromkeys(("禁用", "关闭", "false", "off", "disabled", "disable"), "off"),
}
_STOP_TEXT = """的 地 得 了 之 其 该 等 也 并 及 和 与 或 而 则 即 但 所 由 对 于 在 就 都 将 把 被 让 使 向 从 内 时 中
为 是 要 会 才 还 又 各 每 这 那 它 你 您 或者 以及 及其 但是 有关 相关 以内 之内 我们 它们 他们
the a an of to and or is are be was were in on at for with by that this it its as"""
_STOP = frozenset(_STOP_TEXT.split())


class Word(NamedTuple):
    """A word: `key` is what is compared, folded in width, case, script of numbers and plain synonyms."""

    key: str
    kind: Kind
    start: int
    end: int
    labels: bool = False
    """Whether a colon or an equals sign follows: it names what comes next."""
    names: bool = False
    """Whether it says which place, product or thing is spoken of: a noun that is no office; in Latin script, a name."""


def words(text: str) -> list[Word]:
    """Words in the order of the text; offsets are of the raw text."""
    import rjieba

    folded = "".join(one if len(one := unicodedata.normalize("NFKC", c).lower()) == 1 else c for c in text)
    plain = _NOISE.sub(lambda match: " " * len(match.group()), folded)
    plain, at = _closed(plain)
    found: list[Word] = []
    for run in _RUN.finditer(plain):
        start, body = run.start(), run.group()
        if run.lastgroup:
            kind, value = _FIGURES[run.lastgroup]
            found.append(Word(value(body), kind, start, run.end()))
        elif body[0] < "\u3400":
            word = _latin(body, start)
            found.append(word._replace(names=word.kind == "text" and _capital(text, at[start])))
        else:
            for piece, tag in rjieba.tag(body):
                found += _chinese(piece, tag, start)
                start += len(piece)
    return [
        word._replace(start=at[word.start], end=at[word.end - 1] + 1, labels=bool(_COLON.match(plain, word.end)))
        for word in found
        if word.key not in _STOP
    ]


def _closed(text: str) -> tuple[str, Sequence[int]]:
    """Without space between Chinese letters, which is layout; and for each character its place in `text`."""
    gaps = [match.span() for match in _SPACE.finditer(text)]
    if not gaps:
        return text, range(len(text))
    kept: list[int] = []
    start = 0
    for gap, end in gaps:
        kept += range(start, gap)
        start = end
    kept += range(start, len(text))
    return "".join(text[i] for i in kept), kept


def _capital(text: str, start: int) -> bool:
    """Whether a capital letter stands here inside of a sentence."""
    return text[start].isupper() and bool(_INSIDE.search(text[max(0, start - 3) : start]))


_FIGURES: dict[str, tuple[Kind, Callable[[str], str]]] = {
    "date": ("date", date),
    "scaled": ("number", amount),
    "percent": ("number", percent),
}


def _latin(body: str, start: int) -> Word:
    end = start + len(body)
    if body[0].isdigit() or body[0] in "+-−":
        return Word(amount(body), "date" if _DATE.match(body) else "number", start, end)
    if body in _POLARITY:
        return Word(_POLARITY[body], "polarity", start, end)
    if _UNIT.match(body):
        return Word(body, "unit", start, end)
    if _COMPANY.match(body) or _IDENTIFIER.match(body):
        return Word(body, "name", start, end)
    if any(c.isdigit() or c in "_." for c in body):
        return Word(body, "code", start, end)
    return Word(body, "actor" if _ACTOR_WORD.match(body) else "text", start, end)


def _chinese(piece: str, tag: str, start: int) -> list[Word]:
    end = start + len(piece)
    if piece in _POLARITY:
        return [Word(_POLARITY[piece], "polarity", start, end)]
    match = _NUMERAL_HEAD.match(piece)
    if match and (tag == "m" or match.group(2)[:1] in _COUNTED or _UNIT.match(match.group(2))):
        middle = start + len(match.group(1))
        head = Word(str(numeral(match.group(1))), "number", start, middle)
        return [head, Word(match.group(2), "unit", middle, end)] if match.group(2) else [head]
    if len(piece) <= 3 and _UNIT.match(piece):
        return [Word(piece, "unit", start, end)]
    if tag == "nr" or _COMPANY.search(piece):
        return [Word(piece, "name", start, end)]
    office = tag.startswith("n") and _OFFICE.search(piece)
    actor = tag in ("ns", "nt", "nz") or (len(piece) > 1 and bool(office or _ACTOR.search(piece)))
    role = actor and tag not in ("ns", "nt", "nz")
    return [Word(piece, "actor" if actor else "text", start, end, names=tag.startswith("n") and not role)]
