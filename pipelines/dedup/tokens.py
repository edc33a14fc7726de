"""Words of a raw text with their kind and place: what two texts are compared by."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Literal, NamedTuple, overload

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


class Tokens(Sequence[Token]):
    """Words of a text in columns: most are only compared by their keys, and a Token is made of those looked at."""

    def __init__(self, folded: str) -> None:
        self.keys: list[str] = []
        self._folded = folded
        self._clear: list[str] = []
        self._starts: list[int] = []
        self._tags: list[str] = []
        self._opens: set[int] = set()

    def add(self, word: str, tag: str, start: int, opens: bool) -> None:
        """A word of any script."""
        if opens:
            self._opens.add(len(self.keys))
        self._clear.append(word)
        self._starts.append(start)
        self._tags.append(tag)
        self.keys.append(_THOUSANDS.sub("", word.lower().replace("’", "'")))

    def add_chinese(self, words: Sequence[tuple[str, str]], start: int, opens: bool) -> None:
        """Words and tags that touch one another."""
        if opens:
            self._opens.add(len(self.keys))
        clear, tags = zip(*words, strict=True)
        self._clear += clear
        self._tags += tags
        self.keys += map(str.lower, clear)
        self._starts += list(accumulate(map(len, clear), initial=start))[:-1]

    def start(self, at: int) -> int:
        return self._starts[at]

    def end(self, at: int) -> int:
        return self._starts[at] + len(self._clear[at])

    def in_title(self, at: int) -> bool:
        """Whether a word stands between 《 and 》."""
        start = self._starts[at]
        return self._folded.rfind("《", 0, start) > self._folded.rfind("》", 0, start)

    def opens(self, at: int) -> bool:
        return at in self._opens

    def __len__(self) -> int:
        return len(self.keys)

    @overload
    def __getitem__(self, at: int) -> Token: ...

    @overload
    def __getitem__(self, at: slice) -> list[Token]: ...

    def __getitem__(self, at: int | slice) -> Token | list[Token]:
        if isinstance(at, slice):
            return [self._token(one) for one in range(*at.indices(len(self.keys)))]
        return self._token(at)

    def _token(self, at: int) -> Token:
        start, end, key, tag = self._starts[at], self.end(at), self.keys[at], self._tags[at]
        return Token(key, _kind(self._folded[start:end], key, tag), start, end, at in self._opens, tag)


@lru_cache(maxsize=2048)
def tokenise(text: str) -> Tokens:
    """Latin words, numbers, codes by pattern, Chinese words by rjieba; keys are folded, offsets are the text's own."""
    folded = fold(text)
    clear = skeleton(folded)
    runs = [run.span() for run in _WORD.finditer(clear)]
    chinese = _segmented([clear[start:end] for start, end in runs if _HAN.match(clear, start)])
    found = Tokens(folded)
    last = 0
    for start, end in runs:
        opens = not last or _BOUNDARY.search(folded, last, start) is not None
        if _HAN.match(clear, start):
            found.add_chinese(next(chinese), start, opens)
        else:
            found.add(clear[start:end], "" if clear[start].isascii() else "x", start, opens)
        last = end
    return found


def _segmented(runs: Sequence[str]) -> Iterator[list[tuple[str, str]]]:
    """Words and tags of each run. One call for all: a line break parts runs, and no word reaches over it."""
    import rjieba

    words: list[tuple[str, str]] = []
    for one in rjieba.tag("\n".join(runs)) if runs else ():
        if one[0] == "\n":
            yield words
            words = []
        else:
            words.append(one)
    yield words


@lru_cache(maxsize=65536)
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
