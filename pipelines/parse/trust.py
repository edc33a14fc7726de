"""Can the text layer of a page be believed?

Fonts without a (true) ToUnicode map come out as plausible but wrong characters, never as U+FFFD alone. The share of
everyday Han characters tells: GB2312 level 1 holds the 3,755 most frequent ones (GB 2312-1980), Big5 level 1 the
5,401 most frequent traditional ones.
"""

import re
import unicodedata
from collections import Counter

MIN_CHARACTERS = 20
LATIN_WORD = re.compile(r"[A-Za-z]{3,}")
VOWEL = re.compile(r"[aeiouyAEIOUY]")


def distrust(text: str) -> str | None:
    """Why the text of a page is not what the page shows; None when there is no sign of that."""
    characters = [character for character in text if not character.isspace()]
    if len(characters) < MIN_CHARACTERS:
        return None
    for test in (_unassigned, _cid, _rare_blocks, _uncommon_han, _one_character, _no_vowels):
        if reason := test(text, characters):
            return reason
    return None


def _unassigned(_: str, characters: list[str]) -> str | None:
    bad = sum(
        character == "\ufffd" or unicodedata.category(character) in ("Co", "Cc", "Cn") for character in characters
    )
    return "characters that Unicode does not assign" if bad > 0.02 * len(characters) else None


def _cid(text: str, _: list[str]) -> str | None:
    return "glyph numbers instead of characters" if text.count("(cid:") > 3 else None


def _rare_blocks(_: str, characters: list[str]) -> str | None:
    """CJK extension A; compatibility ideographs and radicals map back to everyday characters and so count less."""
    rare = sum("\u3400" <= character <= "\u4dbf" for character in characters)
    return "characters of rare blocks" if rare > 0.05 * len(characters) else None


def _uncommon_han(text: str, _: list[str]) -> str | None:
    han = [character for character in unicodedata.normalize("NFKC", text) if "\u4e00" <= character <= "\u9fff"]
    if len(han) < 30:
        return None
    simplified = sum(_level_1(character, "gb2312", 0xB0, 0xD7) for character in han)
    traditional = sum(_level_1(character, "big5", 0xA4, 0xC6) for character in han)
    return "hardly any everyday Chinese characters" if max(simplified, traditional) < 0.80 * len(han) else None


def _level_1(character: str, encoding: str, first: int, last: int) -> bool:
    try:
        return first <= character.encode(encoding)[0] <= last
    except UnicodeEncodeError:
        return False


def _one_character(_: str, characters: list[str]) -> str | None:
    letters = [character for character in characters if character.isalpha()]  # a table may well be full of zeros
    if len(letters) < MIN_CHARACTERS:
        return None
    return "one character over and over" if Counter(letters).most_common(1)[0][1] > 0.4 * len(letters) else None


def _no_vowels(text: str, characters: list[str]) -> str | None:
    words = LATIN_WORD.findall(text)
    if len(words) < 10 or sum("\u4e00" <= character <= "\u9fff" for character in characters) >= 20:
        return None
    voiced = sum(bool(VOWEL.search(word)) for word in words)
    return "Latin words without vowels" if voiced < 0.6 * len(words) else None
