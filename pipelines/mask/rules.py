r"""Personal data that follows a pattern: found on a folded copy, believed when its check digit or context agrees.

Look-arounds replace `\b`, which sees no border between a Chinese character and a digit. Up to two separators, line
breaks among them, may stand between digits, as scans and tables break numbers.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from pipelines.mask import checks
from pipelines.mask.cells import halves
from pipelines.mask.fold import fold
from pipelines.mask.settings import MaskSettings


class Finding(NamedTuple):
    """A span of the source text, end exclusive."""

    start: int
    end: int
    type: str


class Rule(NamedTuple):
    """`accept(compact value, text before, text after)` decides; group 1, if any, is the span."""

    type: str
    pattern: re.Pattern[str]
    accept: Callable[[str, str, str], bool]
    strong: bool = True
    """Certain enough to stop a release when it is found in the index."""


_S = r"[ \t\-\n\r]{0,2}"
_ANY = r"[ \t\-\n\r.·/_]{0,3}"
"""Where a check digit decides, anything may part the digits."""
_LEFT = r"(?<![0-9A-Za-z*])(?<![0-9]\.)"
_RIGHT = r"(?![0-9A-Za-z*])(?!\.[0-9])"
_SEPARATORS = re.compile(r"[\s\-._·•()/]+")

_OTHER_NUMBER = re.compile(
    r"(?:订单|流水|单号|编号|编码|条码|条形码|序列号|批号|物料号|招标|合同号|发票|凭证|时间戳|文号|ISBN|ISSN|UUID|SHA\d*|MD5|"
    r"(?i:order|serial|invoice|tracking|timestamp|lot|batch|sku)(?:\s?(?i:no|number|id))?\.?)"
    r"[^\s,，。;；]{0,4}[:：#]?\s?(?:[A-Za-z0-9]{1,8}[\-_/]){0,3}$"
)
_MONEY_BEFORE = re.compile(r"(?:人民币|金额|总额|合计|收入|利润|资产|市值|价格|价款|[¥￥$€£])[:：为约达]{0,2}\s?$")
_UNIT_AFTER = re.compile(r"^\s?(?:[元圆万亿美港欧千百吨米股份件个%％]|mm|cm|km|kg|MB|GB|KB|bytes|pcs)")
_CARD = re.compile(r"卡|账户|账号|帐号|帐户|开户|信用|借记|(?i:card|visa|master|amex|account|a/c|unionpay)")
_TELEPHONE = re.compile(r"电话|座机|传真|热线|致电|拨打|固话|(?i:\btel|\bfax|phone|call)")
_MOBILE_LABEL = re.compile(r"电话|手机|联系|微信|(?i:\btel|phone|mobile|whatsapp)")
_PASSPORT = re.compile(r"护照|(?i:passport)")
_PERMIT = re.compile(r"通行证|(?i:permit)")
_SOCIAL = re.compile(r"(?i:ssn|social security)")
_VERSION_BEFORE = re.compile(
    r"(?:版本|版|第|章|节|条|(?i:\b(?:version|release|section|chapter|firmware|build|ver|v))\.?)[^,，。;；\n0-9]{0,6}$"
)
_VERSION_AFTER = re.compile(r"^\s?[节章条款版]")


def _always(value: str, before: str, after: str) -> bool:
    return True


def _not_amount(value: str, before: str, after: str) -> bool:
    return not (_OTHER_NUMBER.search(before) or _MONEY_BEFORE.search(before) or _UNIT_AFTER.match(after))


def _id_card(value: str, before: str, after: str) -> bool:
    return checks.id_card(value.replace("×", "X"))


def _id_card_15(value: str, before: str, after: str) -> bool:
    return checks.id_card_15(value) and _not_amount(value, before, after)


def _uscc(value: str, before: str, after: str) -> bool:
    return checks.uscc(value) and (not value.isdigit() or not _OTHER_NUMBER.search(before))


def _bank_card(value: str, before: str, after: str) -> bool:
    if not checks.luhn(value) or not _not_amount(value, before, after):
        return False
    return value.startswith("62") or bool(_CARD.search(before[-16:]) or _CARD.search(after[:10]))


def _card_in_groups(value: str, before: str, after: str) -> bool:
    return checks.luhn(value) and _not_amount(value, before, after)


def _iban(value: str, before: str, after: str) -> bool:
    return checks.iban(value)


def _near(words: re.Pattern[str]) -> Callable[[str, str, str], bool]:
    def accept(value: str, before: str, after: str) -> bool:
        return bool(words.search(before) or words.search(after[:12]))

    return accept


def _labelled(words: re.Pattern[str]) -> Callable[[str, str, str], bool]:
    def accept(value: str, before: str, after: str) -> bool:
        return bool(words.search(before[-10:])) and _not_amount(value, before, after)

    return accept


def _private_ip(value: str, before: str, after: str) -> bool:
    return not (_VERSION_BEFORE.search(before) or _VERSION_AFTER.match(after))


def _international(value: str, before: str, after: str) -> bool:
    return 9 <= len(value.lstrip("+")) <= 15


def _email(value: str, before: str, after: str) -> bool:
    return not value.lower().startswith("git@")


def _plate(value: str, before: str, after: str) -> bool:
    return sum(c.isdigit() for c in value) >= 1


def _digits(count: int) -> str:
    return rf"(?:{_S}[0-9]){{{count}}}"


_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_AREA = r"0(?:10|2[0-9]|[3-9][0-9]{2})"
_EXTENSION = r"(?:\s?(?:转|分机|(?i:ext)\.?|x|-)\s?[0-9]{1,6})?"
_LOCAL = r"[2-9][0-9]{2,3}[ \-\n]?(?:[0-9]{4}|(?<=[0-9]{4}[ \-\n])[0-9]{3})"
_HAN = r"[\u4e00-\u9fff]"
_PLATE_CHARACTER = "[A-HJ-NP-Z0-9]"
_STREET = r"(?:大道|大街|街道|路|街|巷|弄|胡同|道|村|里|小区|花园|园区)"
# Many write `文三路 478 号 A 座 1203 室`: one space may stand before and behind each number.
_NUMBERED = r" ?[0-9一二三四五六七八九十]{1,5}(?:-[0-9]{1,4})? ?(?:号楼|号院|号|弄|栋|幢|座|室|单元|楼|层|组)"
_PART = rf"(?:{_NUMBERED}| ?[A-Za-z] ?(?:座|栋|幢))"
_ADDRESS = (
    rf"((?:{_HAN}{{2,7}}?(?:省|自治区))?(?:{_HAN}{{1,7}}?(?:市|州|盟|地区))?{_HAN}{{1,6}}?(?:区|县|市|镇|乡|旗|省)"
    rf"[\u4e00-\u9fff0-9A-Za-z]{{1,20}}?{_STREET}[\u4e00-\u9fff]{{0,4}}?{_NUMBERED}"
    rf"(?:[\u4e00-\u9fffA-Za-z]{{0,10}}?{_PART}| ?[A-Za-z]?[0-9]{{1,5}} ?(?:室|号|房)){{0,5}})"
)

_CN = r"\(?(?:\+|00)86\)?"
_USCC = rf"[1-9ANYany]{_S}[1-9ANYany]{_digits(6)}(?:{_S}[0-9A-HJ-NPQRTUWXYa-hj-npqrtuwxy]){{10}}"
_CARD_GROUPS = r"[3-6][0-9]{3}(?:[ \-][0-9]{4}){3}(?:[ \-][0-9]{1,3})?"
_IBAN = r"[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?"
_AT = r"\s{0,2}(?:@|[\[({<]\s?(?i:at)\s?[\])}>])\s{0,2}"
_DOT = r"(?:\s?[.]\s?|\s?[\[({<]\s?(?i:dot)\s?[\])}>]\s?)"
_EMAIL = (
    rf"(?<![A-Za-z0-9._%+\-])[A-Za-z0-9][A-Za-z0-9._%+\-]{{0,63}}{_AT}"
    rf"(?:[A-Za-z0-9](?:[A-Za-z0-9\-]{{0,62}}){_DOT}){{1,5}}[A-Za-z]{{2,18}}(?![A-Za-z0-9])"
)
_MOBILE = (
    rf"(?:(?<![0-9A-Za-z*])|(?<=[Tt]el)|(?<=TEL)|(?<=[Pp]hone))(?<![0-9]\.)(?:\(?(?:\+|00)?86\)?{_S})?"
    rf"1{_S}[3-9]{_digits(9)}{_RIGHT}"
)
_MOBILE_GROUPED = r"((?:\+86[. ]?)?1[3-9][0-9]([ \t]{0,2}[.·・/_\-][ \t]{0,2}|[ \t]{1,4})[0-9]{4}\2[0-9]{4})"
_MOBILE_COMMAS = r"1[3-9][0-9],[0-9]{4},[0-9]{4}"
_LANDLINE_ABROAD = rf"(?:{_CN}[ \-]{{0,2}}|86-)\(?0?(?:10|2[0-9]|[3-9][0-9]{{2}})\)?[ \-]{{0,2}}{_LOCAL}{_EXTENSION}"
_LANDLINE = rf"(?<!-)(?:\({_AREA}\)[ \-\n]{{0,2}}|{_AREA}[ \-\n]{{1,3}}){_LOCAL}{_EXTENSION}"
_INTERNATIONAL = r"(?<![0-9A-Za-z+*])\+[1-9][0-9]{0,2}(?:[ .\-]?\(?[0-9]{1,5}\)?){2,5}(?![0-9A-Za-z*])"
_NORTH_AMERICAN = (
    r"(?<![\-/])(?:1[ .\-])?(?:\([2-9][0-8][0-9]\) ?|[2-9][0-8][0-9][.\-])[2-9][0-9]{2}[.\-][0-9]{4}(?![\-/])"
)
_PASSPORT_NUMBER = r"(?:[A-Za-z] ?[0-9]{4} ?[0-9]{4}|[A-Za-z]{2}[0-9]{7}|[0-9]{9})"
_PLATE = (
    r"[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼] ?[A-HJ-NP-Z][ ·•・.\-]?"
    rf"(?:[A-HJK]{_PLATE_CHARACTER}[0-9]{{4}}|[0-9]{{5}}[A-HJK]|{_PLATE_CHARACTER}{{4}}[A-HJ-NP-Z0-9挂学警港澳]){_RIGHT}"
)
_PRIVATE = (
    rf"(?<![0-9A-Za-z])(?<![0-9]\.)(?:10\.{_OCTET}|172\.(?:1[6-9]|2[0-9]|3[01])|192\.168)\.{_OCTET}\.{_OCTET}"
    r"(?![0-9A-Za-z])(?!\.[0-9])"
)
_TELEPHONE_LABEL = re.compile(r"(?:电话|座机|传真|固话|(?i:tel|fax|phone))(?:号码)?\.?\s?[:：]\s?$")


def _whole(pattern: str) -> re.Pattern[str]:
    """Not inside a longer number or word."""
    return re.compile(f"{_LEFT}{pattern}{_RIGHT}")


_RULES: tuple[Rule, ...] = (
    Rule("EMAIL", re.compile(_EMAIL), _email),
    Rule("ID_CARD", _whole(rf"[1-8](?:{_ANY}[0-9]){{16}}{_ANY}[0-9Xx×]"), _id_card),
    Rule("USCC", _whole(_USCC), _uscc),
    Rule("BANK_CARD", _whole(rf"[3-6]{_digits(14)}(?:{_S}[0-9]){{0,4}}"), _bank_card),
    Rule("BANK_CARD", _whole(_CARD_GROUPS), _card_in_groups),
    Rule("IBAN", _whole(_IBAN), _iban),
    Rule("ID_CARD", _whole(rf"[1-8]{_digits(14)}"), _id_card_15, strong=False),
    Rule("PHONE", re.compile(_MOBILE), _not_amount),
    Rule("PHONE", _whole(_MOBILE_GROUPED), _not_amount),
    Rule("PHONE", _whole(_MOBILE_COMMAS), _labelled(_MOBILE_LABEL)),
    Rule("LANDLINE", _whole(_LANDLINE_ABROAD), _not_amount),
    Rule("LANDLINE", _whole(_LANDLINE), _not_amount),
    Rule("LANDLINE", _whole(rf"{_AREA}[2-9][0-9]{{6,7}}{_EXTENSION}"), _labelled(_TELEPHONE), strong=False),
    Rule(
        "LANDLINE", _whole(rf"[2-9][0-9]{{2,3}}[ \-]?[0-9]{{4}}{_EXTENSION}"), _labelled(_TELEPHONE_LABEL), strong=False
    ),
    Rule("PHONE", re.compile(_INTERNATIONAL), _international),
    Rule("PHONE", _whole(_NORTH_AMERICAN), _not_amount, strong=False),
    Rule("PASSPORT", _whole(_PASSPORT_NUMBER), _near(_PASSPORT)),
    Rule("PASSPORT", _whole(r"[CHMWchmw][A-Za-z]?[0-9]{7,10}"), _near(_PERMIT)),
    Rule("ID_CARD", _whole(r"[0-9]{3}-[0-9]{2}-[0-9]{4}"), _near(_SOCIAL)),
    Rule("PLATE", re.compile(_PLATE), _plate),
    Rule("IP", re.compile(_PRIVATE), _private_ip),
    Rule("ADDRESS", re.compile(_ADDRESS), _always, strong=False),
)
TYPES = tuple(rule.type for rule in _RULES)

_ADDRESS_LEAD = re.compile(r"^.*(?:地址|住址|住所|位于|坐落|寄往|送往|居住|现住|家住|来自|前往|[在于至到为是])(?=.{2})")
_HINT = re.compile(r"[0-9@]|[\[({<]\s?(?i:at)\s?[\])}>]")


@lru_cache(maxsize=8)
def _rules(employee_number: str) -> tuple[Rule, ...]:
    pattern = re.compile(employee_number + r"(?![0-9A-Za-z*])")
    return (*_RULES, Rule("EMP_ID", pattern, _always))


def _matches(rule: Rule, text: str) -> Iterator[tuple[int, int]]:
    group = 1 if rule.pattern.groups else 0
    for match in rule.pattern.finditer(text):
        start, end = match.span(group)
        if rule.type == "ADDRESS" and (lead := _ADDRESS_LEAD.match(text[start:end])):
            start += lead.end()
        if not text[start:end].strip("■"):
            continue  # what masking left behind
        value = _SEPARATORS.sub("", text[start:end]) if rule.type not in ("EMAIL", "IP") else text[start:end]
        if rule.accept(value, text[max(0, start - 20) : start], text[end : end + 20]):
            yield start, end


def merged(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Overlapping findings become one span over both, of the type of the longest."""
    out: list[tuple[Finding, int]] = []
    for one in sorted(findings, key=lambda f: (f.start, -f.end)):
        length = one.end - one.start
        if out and one.start < out[-1][0].end:
            last, longest = out[-1]
            kind = one.type if length > longest else last.type
            out[-1] = (Finding(last.start, max(last.end, one.end), kind), max(longest, length))
        else:
            out.append((one, length))
    return tuple(one for one, _ in out)


def find(text: str, settings: MaskSettings | None = None, *, strong_only: bool = False) -> tuple[Finding, ...]:
    """All rule findings of a text, in order, none overlapping."""
    folded = fold(text)
    if not _HINT.search(folded.text):
        return ()
    found = [
        Finding(*folded.span(start, end), rule.type)
        for rule in _rules((settings or MaskSettings()).employee_number)
        if rule.strong or not strong_only
        for start, end in _matches(rule, folded.text)
    ]
    return merged([*found, *(Finding(*folded.span(start, end), kind) for start, end, kind in halves(folded.text))])


def leaks(text: str) -> tuple[str, ...]:
    """Types of personal data that the text certainly holds: for the scan of the index. Placeholders do not count."""
    return tuple(sorted({one.type for one in find(text, strong_only=True)}))
