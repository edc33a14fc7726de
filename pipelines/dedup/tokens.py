"""Words of a raw text with their kind and place: what two texts are compared by."""

import re
import unicodedata
from functools import lru_cache
from typing import Literal, NamedTuple

from pipelines.dedup.marks import EVERYDAY, skeleton

Slot = Literal["number", "date", "amount", "code", "name", "organisation", "negation", "modal", "text"]


class Token(NamedTuple):
    """A word; `opens`: a sentence or a line begins with it; `tag`: part of speech of a Chinese word."""

    key: str
    kind: Slot
    start: int
    end: int
    opens: bool
    tag: str


_WORD = re.compile(
    r"[$€£¥￥]?[-+−]?\d++(?:[.:/-]\d++|,\d{3}(?!\d))*+(?:[%‰]|(?![A-Za-z]))"
    r"|[A-Za-z0-9]*\d[A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)*|[A-Za-z]+(?:[-_.][A-Za-z0-9]*\d[A-Za-z0-9]*)+"
    r"|[A-Z]?[a-z]+(?:['’][a-z]+)?|[A-Z]+(?![a-z])(?:['’][A-Z]+)?|[A-Z]|[^\x00-\x7f\W\d]+|\d+"
)
_BOUNDARY = re.compile(r"[。！？；!?;\n\r|•]|\*\*|\s[*\-]\s|[.:：](?:\s|$)")
_HAN = re.compile(r"[\u3400-\u9fff]")
_CURRENCY = re.compile(
    r"^(?:[美欧日港澳加韩]元|[港台]币|人民币|英镑|美金|法郎|卢布|元|圆|usd|eur|gbp|cny|rmb|jpy|hkd|dollars?|euros?|pounds?|yuan)$"
)
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?$")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_NUMERAL = re.compile(
    rf"^(?!{EVERYDAY})第?(?:[〇零一二两三四五六七八九十百千万亿半]+.{{0,2}}|[壹贰叁肆伍陆柒捌玖拾佰仟]{{2,}}.?)$"
)
_NEGATION = re.compile(r"[不未无非没勿莫禁否]|^(?:not|no|never|without|none|nor|neither|cannot)$|n['’]t$")
_MODAL = re.compile(
    r"^(?:必须|必需|应当|应该|应|须|可以|可|允许|需要|需|能够|能|仅|除外|以上|以下|至少|至多|must|shall|should|may|might|can"
    r"|could|will|would|required|optional|allowed|forbidden|prohibited|enabled?|disabled?|true|false|only|except|unless)$"
)
_ORGANISATION = re.compile(r"(?:公司|集团|银行|大学|学院|医院|法院|委员会|局|厅|部|院|所)$")
COMPANY = re.compile(
    r"(?:公司|集团|银行|大学|学院|医院|协会|研究院|事务所)$|^(?:inc|ltd|llc|corp|corporation|gmbh|limited|plc|co)$"
)
"""Words that the name of an organisation ends with."""
_NAME_TAGS = frozenset(("nr", "ns", "nrt", "nrfg"))


class _Folding(dict[int, str]):
    """Compatibility forms of one character for one: the length stays, so offsets stay."""

    def __missing__(self, code: int) -> str:
        plain = unicodedata.normalize("NFKC", chr(code))
        self[code] = plain if len(plain) == 1 else chr(code)
        return self[code]


_FOLDING = _Folding()


def fold(text: str) -> str:
    """Width folded, length kept."""
    return text if text.isascii() else text.translate(_FOLDING)


@lru_cache(maxsize=8192)
def tokenise(text: str) -> tuple[Token, ...]:
    """Latin words, numbers, codes by pattern, Chinese words by rjieba; keys are folded, offsets are the text's own."""
    import rjieba

    folded = fold(text)
    clear = skeleton(folded)
    found: list[Token] = []
    last = 0
    for run in _WORD.finditer(clear):
        start, end = run.span()
        opens = not found or _BOUNDARY.search(folded, last, start) is not None
        first = run.group()[0]
        words = rjieba.tag(run.group()) if _HAN.match(first) else ((run.group(), "" if first.isascii() else "x"),)
        for word, tag in words:
            kind, key = _read(folded[start : start + len(word)], word, tag)
            found.append(Token(key, kind, start, start + len(word), opens, tag))
            start, opens = start + len(word), False
        last = end
    return tuple(found)


@lru_cache(maxsize=65536)
def _read(written: str, word: str, tag: str) -> tuple[Slot, str]:
    key = _THOUSANDS.sub("", word.lower().replace("’", "'"))
    return _kind(written, key, tag), key


def _kind(word: str, key: str, tag: str) -> Slot:
    if any(map(str.isdigit, word)) or any(map(str.isdigit, key)):
        if _DATE.match(key):
            return "date"
        if key[0] in "$€£¥":
            return "amount"
        return "code" if any(character.isalpha() for character in key) else "number"
    if _CURRENCY.match(key):
        return "amount"
    if _NUMERAL.match(key):
        return "number"
    if _MODAL.match(key):
        return "modal"
    if _NEGATION.search(key):
        return "negation"
    if tag == "nt" or (len(key) > 3 and not key.isascii() and _ORGANISATION.search(key)):
        return "organisation"
    if word[0].isascii():
        return "name" if word[0].isupper() and len(word) > 1 else "text"
    return "name" if tag in _NAME_TAGS and len(word) > 1 else "text"
