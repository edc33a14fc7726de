"""What differs between two texts, region by region: a number, a negation or another name weighs more than a word."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pipelines.dedup.marks import EVERYDAY
from pipelines.dedup.opposites import opposed
from pipelines.dedup.surnames import SURNAMES, UNMISTAKABLE
from pipelines.dedup.tokens import COMPANY, Slot, Token, Tokens

_NAMES = frozenset(("organisation", "name"))
_FACTS: tuple[Slot, ...] = ("date", "amount", "number", "code", "negation", "modal")
_FIGURES: tuple[Slot, ...] = ("date", "amount", "number", "code")
_SLIDE = 40
"""Tokens that an insertion may be moved by to find the sentence it is: a diff cuts `A. B. |A. C.|` anywhere alike."""
_REACH = 3
"""Words between a part of a company's name and the word that says it is a company."""
_LONG_WORD = 8
_LONG_NAME = 5
"""Latin and Chinese letters from which a name that lost or doubled one is a scanning fault and not another name."""
_PLACE = re.compile(
    "[省市县区州国]$|^(?:北京|上海|天津|重庆|河北|山西|辽宁|吉林|黑龙江|江苏|浙江|安徽|福建|江西|山东|河南|湖北|湖南|广东|海南|四川"
    "|贵州|云南|陕西|甘肃|青海|台湾|内蒙古|广西|西藏|宁夏|新疆|香港|澳门|日本|印度|德意志|法兰西|意大利|俄罗斯|加拿大|澳大利亚)$"
)
"""Places beyond doubt: jieba's dictionary also calls `方法` and `城市` places."""
_PREFIX = re.compile(r"(?:un|non-?|in|im|ir|il|dis)$")
_NUMERALS = re.compile("[〇零一二两三四五六七八九十百千万亿壹贰叁肆伍陆柒捌玖拾佰仟半]")
_NEGATIONS = re.compile("[不未无非没勿莫禁否仅]")
_MODALS = re.compile("[应可须宜必能得需准许]+")


class Found(NamedTuple):
    """One differing span of two raw texts and the gravest kind of word in it (`schemas.facts.Change`, before it is
    stored)."""

    kind: Slot
    a_start: int
    a_end: int
    b_start: int
    b_end: int

    def moved(self, a: int, b: int) -> "Found":
        return Found(self.kind, self.a_start + a, self.a_end + a, self.b_start + b, self.b_end + b)


class Region(NamedTuple):
    """Words `i:j` of one text stand where the other has `k:m`."""

    i: int
    j: int
    k: int
    m: int


def changes(a: Tokens, b: Tokens) -> tuple[tuple[Found, ...], tuple[Found, ...]]:
    """Differing regions in order with offsets of the raw texts; and of them, whole added sentences or lines."""
    regions = (Region(0, 0, 0, 0), *_regions(a, b), Region(len(a), len(a), len(b), len(b)))
    found: list[Found] = []
    added: list[Found] = []
    for before, region, after in zip(regions, regions[1:], regions[2:], strict=False):
        one_sided = region.i == region.j or region.k == region.m
        moved = _as_sentences(a, b, region, before, after) if one_sided else None
        found.append(_found("text" if moved else _slot(a, b, region), a, b, moved or region))
        if moved:
            added.append(found[-1])
    return tuple(found), tuple(added)


def _regions(a: Tokens, b: Tokens) -> list[Region]:
    from rapidfuzz.distance import Levenshtein

    regions: list[Region] = []
    i = k = 0
    for j, m, size in Levenshtein.editops(a.keys, b.keys).as_matching_blocks():
        if (i, k) != (j, m):
            regions.append(Region(i, j, k, m))
        i, k = j + size, m + size
    return regions


def _as_sentences(a: Tokens, b: Tokens, region: Region, before: Region, after: Region) -> Region | None:
    """An insertion, moved to where it is whole sentences or lines; None where it is a part, or bare numbers inside."""
    i, j, k, m = region
    if i == j:
        step = _step(b, (k, m), (before.m, after.k), a, i)
    else:
        step = _step(a, (i, j), (before.j, after.i), b, k)
    if step is None:
        return None
    moved = Region(i + step, j + step, k + step, m + step)
    words = a[moved.i : moved.j] or b[moved.k : moved.m]
    inside = moved.i > 0 and moved.j < len(a) and moved.k > 0 and moved.m < len(b)
    return None if inside and all(word.kind in _FACTS for word in words) else moved


def _step(tokens: Tokens, insertion: tuple[int, int], room: tuple[int, int], shorter: Tokens, at: int) -> int | None:
    """How far an insertion has to move inside its room to stand between two sentences of both texts."""
    (start, end), (low, high) = insertion, room

    def whole(step: int) -> bool:
        between = at + step < len(shorter) and shorter.opens(at + step)
        ends = end + step == len(tokens) or tokens.opens(end + step)
        return ends and (tokens.opens(start + step) or between)

    if whole(0):
        return 0
    for step in range(1, min(_SLIDE, start - low) + 1):
        if tokens.keys[start - step] != tokens.keys[end - step]:
            break
        if whole(-step):
            return -step
    for step in range(1, min(_SLIDE, high - end) + 1):
        if tokens.keys[start + step - 1] != tokens.keys[end + step - 1]:
            break
        if whole(step):
            return step
    return None


def _found(kind: Slot, a: Tokens, b: Tokens, region: Region) -> Found:
    return Found(kind, *_span(a, region.i, region.j), *_span(b, region.k, region.m))


def _span(tokens: Tokens, start: int, end: int) -> tuple[int, int]:
    if start < end:
        return tokens.token(start).start, tokens.token(end - 1).end
    at = tokens.token(start - 1).end if start else 0
    return at, at


def _slot(a: Tokens, b: Tokens, region: Region) -> Slot:
    """The gravest kind of word that differs."""
    if region.j - region.i == region.m - region.k == 1:
        kind = a.token(region.i).kind
        if kind in _FIGURES and kind == b.token(region.k).kind:
            return kind
    left, right = a[region.i : region.j], b[region.k : region.m]
    ours, theirs = _joined(left), _joined(right)
    if ours == theirs:
        return "text"
    only_left, only_right = _difference(left, right), _difference(right, left)
    if name := _name(a, b, region, only_left, only_right):
        return name
    kinds = {word.kind for word in (*only_left, *only_right)}
    if left and right and not re.search(r"[\x00-\x7f]", ours + theirs):
        return _chinese_fact(ours, theirs, kinds)
    if fact := next((kind for kind in _FACTS if kind in kinds), None):
        return fact
    contrary = _negated(ours, theirs) or opposed(_spaced(only_left), _spaced(only_right))
    return "negation" if contrary else "text"


def _chinese_fact(ours: str, theirs: str, kinds: set[Slot]) -> Slot:
    """By the characters that only one side has, for the segmenter cuts `不确定` and `不确` apart."""
    one, two = Counter(ours), Counter(theirs)
    left, right = "".join(one - two), "".join(two - one)
    only = left + right
    if _NUMERALS.search(only) and not any(re.match(EVERYDAY, side) for side in (ours, theirs)):
        return "number"
    if "amount" in kinds:
        return "amount"
    if _NEGATIONS.search(only) or opposed(left, right):
        return "negation"
    return "modal" if _MODALS.search(only) and ("modal" in kinds or _MODALS.fullmatch(only)) else "text"


def _spaced(tokens: Iterable[Token]) -> str:
    return " ".join(token.key for token in tokens)


def _joined(tokens: Iterable[Token]) -> str:
    return "".join(token.key for token in tokens)


def _difference(these: Sequence[Token], those: Sequence[Token]) -> list[Token]:
    spare = Counter(token.key for token in those)
    left = []
    for token in these:
        if spare[token.key]:
            spare[token.key] -= 1
        else:
            left.append(token)
    return left


def _name(a: Tokens, b: Tokens, region: Region, left: Sequence[Token], right: Sequence[Token]) -> Slot | None:
    """`organisation` or `name` where one replaces another, or stands on one side alone."""
    ours, theirs = {word.kind for word in left} & _NAMES, {word.kind for word in right} & _NAMES
    two_sided = bool(left and right)
    if two_sided and _damaged(_joined(left), _joined(right), a, b):
        return None
    sure = any(word.tag == "ns" and _PLACE.search(word.key) for word in (*left, *right))
    ours, theirs = ours or _unknown(left), theirs or _unknown(right)
    if "organisation" in ours & theirs or (two_sided and (_company(a, region.j) or _company(b, region.m))):
        return "organisation"
    titled = two_sided and a.in_title(region.i) and b.in_title(region.k) and unlike(_joined(left), _joined(right))
    if (ours and theirs) or sure or (not two_sided and (ours or theirs)) or titled or _people(a, b, region):
        return "organisation" if "organisation" in ours | theirs else "name"
    return None


def _unknown(words: Sequence[Token]) -> set[Slot]:
    """A word that no dictionary knows stands for a name where the other side has one."""
    return {"name"} if any(word.tag == "x" for word in words) else set()


def _company(tokens: Tokens, end: int) -> bool:
    """Whether a word like `公司` follows at once in the same sentence."""
    for at in range(end, min(end + _REACH, len(tokens))):
        if tokens.opens(at):
            return False
        if COMPANY.search(tokens.keys[at]):
            return True
    return False


def _people(a: Tokens, b: Tokens, region: Region) -> bool:
    """Both sides read as a Chinese person's name, which no dictionary has as a word."""
    if region.i == region.j or region.k == region.m:
        return False
    left, right = a[region.i : region.j], b[region.k : region.m]
    if all(t.keys[at - 1] in UNMISTAKABLE and not t.opens(at) for t, at in ((a, region.i), (b, region.k)) if at):
        # The surname is the same, or was cut off: what differs is the given name.
        return region.i > 0 and region.k > 0 and len(_joined(left)) <= 2 and len(_joined(right)) <= 2
    return all(2 <= len(word) <= 4 and word[0] in SURNAMES for word in (_joined(left), _joined(right))) and all(
        len(side) > 1 or side[0].tag == "x" or side[0].tag.startswith("nr") or len(side[0].key) > 2
        for side in (left, right)
    )


def _damaged(ours: str, theirs: str, a: Tokens, b: Tokens) -> bool:
    """One long name that lost or doubled a letter, or a shorter one that the other text has whole elsewhere."""
    from rapidfuzz.distance import Levenshtein

    short, long = sorted((ours, theirs), key=len)
    edits = max(1, len(long) // _LONG_WORD)
    if len(short) == len(long) or Levenshtein.distance(short, long, score_cutoff=edits) > edits:
        return False
    if len(long) >= (_LONG_WORD if long.isascii() else _LONG_NAME):
        return True
    return ours in b.keys or theirs in a.keys


def unlike(ours: str, theirs: str) -> bool:
    """Whether two words share less than half of the characters that the shorter has: not one word with a slip in it."""
    left, right = set(ours), set(theirs)
    return min(len(ours), len(theirs)) > 1 and 2 * len(left & right) < min(len(left), len(right))


def _negated(ours: str, theirs: str) -> bool:
    short, long = sorted((ours, theirs), key=len)
    return len(short) >= 3 and long.endswith(short) and bool(_PREFIX.match(long[: -len(short)]))
