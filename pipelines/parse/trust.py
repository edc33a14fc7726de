"""Can the text layer of a page be believed?

Fonts without a (true) ToUnicode map come out as plausible but wrong characters, never as U+FFFD alone. The share of
everyday Han characters tells: GB2312 level 1 holds the 3,755 most frequent ones (GB 2312-1980), Big5 level 1 the
5,401 most frequent traditional ones.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from operator import add

from pipelines.parse.lines import Line

MIN_CHARACTERS = 20
LATIN_WORD = re.compile(r"[A-Za-z]{3,}")
VOICELESS = re.compile(r"(?<![A-Za-z])[b-df-hj-np-tv-xzB-DF-HJ-NP-TV-XZ]{3,}(?![A-Za-z])")
_PAIRS = (
    "thheineranreonatenndtiesorteofedisitalarsttontngsehaasouiolevecomedehiriroicneearacelichllbemasiomur"
    "caeltalansdifohopeecprnoctusacotiltrlyncetutsssorsunlowageiewheewiemadolrtpowenaulnitsmoowpaimmiaish"
    "irsuidosiviaamficiviplig"
)
COMMON_PAIRS = frozenset(_PAIRS[at : at + 2] for at in range(0, len(_PAIRS), 2))
"""The most frequent letter pairs of English (Norvig 2013); other languages share most of them."""
ENOUGH = 1500
"""Characters that suffice to judge by letter pairs."""
FONT_SHARE = 0.1
"""A font with less of the page than this is not judged on its own."""


def doubt(lines: Sequence[Line]) -> str | None:
    """Why a page's lines are not believed: all of them, or those of one font, whose map may be the only bad one."""
    text = "\n".join(line.text for line in lines)
    if reason := distrust(text):
        return reason
    fonts: dict[str, list[str]] = {}
    for line in lines:
        fonts.setdefault(line.font, []).append(line.text)
    for texts in fonts.values() if len(fonts) > 1 else ():
        own = "\n".join(texts)
        if len(own) >= max(3 * MIN_CHARACTERS, FONT_SHARE * len(text)) and (reason := distrust(own, OF_A_FONT)):
            return f"{reason} in one font"
    return None


def distrust(text: str, tests: "tuple[Test, ...] | None" = None) -> str | None:
    """Why the text of a page is not what the page shows; None when there is no sign of that."""
    characters = Counter("".join(text.split()))
    if characters.total() < MIN_CHARACTERS:
        return _only_signs(characters)
    tests = tests or (_one_character, *OF_A_FONT, _no_vowels)
    for test in [test for test in tests if test not in OF_HAN] if text.isascii() else tests:
        if reason := test(text, characters):
            return reason
    return None


def _count(characters: Counter[str], wanted: Callable[[str], bool]) -> int:
    return sum(times for character, times in characters.items() if wanted(character))


def _is_han(character: str) -> bool:
    return "\u4e00" <= character <= "\u9fff"


def _unassigned(_: str, characters: Counter[str]) -> str | None:
    bad = _count(characters, lambda c: c == "\ufffd" or unicodedata.category(c) in ("Co", "Cc", "Cn"))
    return "characters that Unicode does not assign" if bad > 0.02 * characters.total() else None


def _cid(text: str, _: Counter[str]) -> str | None:
    return "glyph numbers instead of characters" if text.count("(cid:") > 3 else None


def _rare_blocks(_: str, characters: Counter[str]) -> str | None:
    """CJK extension A; compatibility ideographs and radicals map back to everyday characters and so count less."""
    rare = _count(characters, lambda c: "\u3400" <= c <= "\u4dbf")
    return "characters of rare blocks" if rare > 0.05 * characters.total() else None


def _uncommon_han(_: str, characters: Counter[str]) -> str | None:
    han: Counter[str] = Counter()
    for character, times in characters.items():
        if character > "\u2e00" and _is_han(usual := unicodedata.normalize("NFKC", character)):
            han[usual] += times
    if han.total() < 30:
        return None
    simplified = _count(han, lambda c: _level_1(c, "gb2312", 0xB0, 0xD7))
    traditional = _count(han, lambda c: _level_1(c, "big5", 0xA4, 0xC6))
    return "hardly any everyday Chinese characters" if max(simplified, traditional) < 0.80 * han.total() else None


def _no_words(text: str, characters: Counter[str]) -> str | None:
    """Everyday characters in an order that makes no words: a shuffled map. Japanese and traditional text is not judged,
    for the dictionary is of simplified Chinese."""
    han = Counter({character: times for character, times in characters.items() if _is_han(character)})
    if han.total() < 100 or re.search(r"[\u3040-\u30ff]", text):
        return None
    if _count(han, lambda c: _level_1(c, "gb2312", 0xB0, 0xD7)) < 0.9 * han.total():
        return None
    import rjieba

    words = rjieba.cut("".join(re.findall(r"[\u4e00-\u9fff]+|\s+", text)), False)
    inside = sum(len(word) for word in words if len(word) > 1 and "\u4e00" <= word[0] <= "\u9fff")
    return "Chinese characters that make no words" if inside < 0.35 * han.total() else None


@cache
def _level_1(character: str, encoding: str, first: int, last: int) -> bool:
    try:
        return first <= character.encode(encoding)[0] <= last
    except UnicodeEncodeError:
        return False


def _one_character(_: str, characters: Counter[str]) -> str | None:
    letters = Counter({c: times for c, times in characters.items() if c.isalpha()})  # a table may be full of zeros
    if letters.total() < max(MIN_CHARACTERS, 0.4 * characters.total()):
        return None
    return "one character over and over" if letters.most_common(1)[0][1] > 0.4 * letters.total() else None


def _runs(text: str, characters: Counter[str]) -> str | None:
    """Fonts whose glyphs all map to one of few characters: the same character again and again in a row."""
    if _count(characters, _is_han) < MIN_CHARACTERS:
        return None
    pairs = [(a, b) for a, b in pairwise("".join(text.split())) if _is_han(b)]
    if len(pairs) < MIN_CHARACTERS:
        return None
    return "characters doubled over and over" if sum(a == b for a, b in pairs) > 0.12 * len(pairs) else None


def _only_signs(characters: Counter[str]) -> str | None:
    """A page with a few signs and not one letter or number in them."""
    signs = _count(characters, lambda c: unicodedata.category(c)[0] in "SP")
    letters, total = any(map(str.isalpha, characters)), characters.total()
    return "signs without a letter" if total >= 4 and not letters and signs > 0.6 * total else None


def _no_pairs(text: str, characters: Counter[str]) -> str | None:
    """Latin letters that follow each other as in no language."""
    if _count(characters, _is_han) >= 20:
        return None
    words = LATIN_WORD.findall(text[:ENOUGH].lower())
    total = sum(map(len, words)) - len(words)
    if total < 150:
        return None
    spaced = " ".join(words)
    pairs = Counter(map(add, spaced, spaced[1:]))
    common = sum(times for pair, times in pairs.items() if pair in COMMON_PAIRS)
    return "letters that make no words" if common < 0.35 * total else None


def _no_vowels(text: str, characters: Counter[str]) -> str | None:
    letters = _count(characters, lambda c: c.isascii() and c.isalpha())
    if sum(characters[vowel] for vowel in "aeiouAEIOU") > 0.3 * letters:  # more than any text half without could have
        return None
    words = LATIN_WORD.findall(text)
    if len(words) < 10 or _count(characters, _is_han) >= 20:
        return None
    return "Latin words without vowels" if len(VOICELESS.findall(text)) > 0.4 * len(words) else None


Test = Callable[[str, Counter[str]], str | None]
OF_A_FONT: tuple[Test, ...] = (_unassigned, _cid, _rare_blocks, _uncommon_han, _no_words, _runs, _no_pairs)
"""Tests that hold for the text of one font too: a font may well be used for one letter in formulas, or for a label."""
OF_HAN: frozenset[Test] = frozenset((_rare_blocks, _uncommon_han, _no_words, _runs))
"""Tests that find nothing where all is ASCII."""
