"""Words of a raw text with their kind and place: what two texts are compared by."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Literal, NamedTuple, overload

from pipelines.dedup.marks import EVERYDAY, skeleton
from pipelines.dedup.normalise import fold

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
    r"[^\x00-\x7f\W\d]+|[$€£¥￥]?[-+−]?\d++(?:[.:/-]\d++|,\d{3}(?!\d))*+(?:[%‰]|(?![A-Za-z]))"
    r"|[A-Za-z0-9]*\d[A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)*|[A-Za-z]+(?:[-_.][A-Za-z0-9]*\d[A-Za-z0-9]*)+"
    r"|[A-Z]?[a-z]+(?:['’][a-z]+)?|[A-Z]+(?![a-z])(?:['’][A-Z]+)?|[A-Z]|\d+"
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


class _Run(NamedTuple):
    """Words that touch one another: folded keys, parts of speech, and where each begins in the run; the end of the last
    one comes last."""

    keys: tuple[str, ...]
    tags: tuple[str, ...]
    edges: tuple[int, ...]


class Tokens(Sequence[Token]):
    """Words of a text in columns: most are only compared by their keys, and a Token is made of those looked at."""

    def __init__(self, folded: str) -> None:
        self.keys: list[str] = []
        self._folded = folded
        self._firsts: list[int] = []
        self._runs: list[tuple[int, _Run]] = []
        self._opens: set[int] = set()
        self._made: dict[int, Token] = {}

    def add(self, run: _Run, start: int, opens: bool) -> None:
        """A run of words that begins at `start`."""
        first = len(self.keys)
        if opens:
            self._opens.add(first)
        self._firsts.append(first)
        self._runs.append((start, run))
        self.keys += run.keys

    def in_title(self, at: int) -> bool:
        """Whether a word stands between 《 and 》."""
        start = self.token(at).start
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
            return [self.token(one) for one in range(*at.indices(len(self.keys)))]
        return self.token(at)

    def token(self, at: int) -> Token:
        """The word at a place that is not negative; made once, for what differs from one text differs from others."""
        if found := self._made.get(at):
            return found
        home = bisect_right(self._firsts, at) - 1
        start, run = self._runs[home]
        place = at - self._firsts[home]
        start, end = start + run.edges[place], start + run.edges[place + 1]
        key, tag = run.keys[place], run.tags[place]
        found = Token(key, _kind(self._folded[start:end], key, tag), start, end, at in self._opens, tag)
        self._made[at] = found
        return found


@lru_cache(maxsize=2048)
def tokenise(text: str) -> Tokens:
    """Latin words, numbers, codes by pattern, Chinese words by rjieba; keys are folded, offsets are the text's own."""
    folded = fold(text)
    clear = skeleton(folded)
    spans = [run.span() for run in _WORD.finditer(clear)]
    words = [clear[start:end] for start, end in spans]
    chinese = _segmented([word for word in words if _HAN.match(word)])
    found = Tokens(folded)
    last = 0
    for word, (start, end) in zip(words, spans, strict=True):
        opens = not last or _BOUNDARY.search(folded, last, start) is not None
        found.add(chinese.get(word) or _single(word), start, opens)
        last = end
    return found


@lru_cache(maxsize=16384)
def _single(word: str) -> _Run:
    """A word of another script."""
    key = _THOUSANDS.sub("", word.lower().replace("’", "'"))
    return _Run((key,), ("" if word[0].isascii() else "x",), (0, len(word)))


_known: dict[str, _Run] = {}
_KNOWN = 4096
"""Runs of Chinese that are kept, some megabytes: the clauses of a form come again in each filling."""


def _segmented(runs: Sequence[str]) -> dict[str, _Run]:
    """Words and tags of each run. One call for all new ones: a line break parts runs, and no word reaches over it."""
    import rjieba

    if len(_known) > _KNOWN:
        _known.clear()
    found = {run: known for run in runs if (known := _known.get(run))}
    new = list(dict.fromkeys(run for run in runs if run not in found))
    words: list[tuple[str, str]] = []
    made: list[_Run] = []
    for one in (*rjieba.tag("\n".join(new)), ("\n", "")) if new else ():
        if one[0] == "\n":
            clear, tags = zip(*words, strict=True)
            edges = (0, *accumulate(map(len, clear)))
            made.append(_Run(tuple(map(str.lower, clear)), tags, edges))
            words = []
        else:
            words.append(one)
    fresh = dict(zip(new, made, strict=True))
    _known.update(fresh)
    return found | fresh


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
