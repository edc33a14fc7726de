"""Damage: what scanners and wrong encodings leave behind."""

import re

_MOJIBAKE = re.compile("[\ufffd\u0080-\u009f\ue000-\uf8ff]|锟斤拷|烫烫|鈥|銆|锛")
_LATIN_RUN = re.compile(
    "[\u00c0-\u00ff\u00a1-\u00bf\u0152-\u0178\u2018-\u203a\u20ac]{3,}|[\u00c2\u00c3\u00e2][\u00a0-\u00bf\u20ac]+"
)
_HAN = re.compile("[\u3400-\u9fff]")
_SPECK = re.compile("(?<=[\u3400-\u9fff])[■□▪▫¦|`~^¬§¤•*_]+(?=[\u3400-\u9fff])")
"""Marks between two Chinese characters that no writer puts there."""
_STROKES = frozenset(
    "丨丶丿乀乁乂乚乛亅亠亻冂冖冫凵勹匚匸卩厶囗夂宀屮廴廾弋彐彡彳忄扌攵氵灬爫爿牜犭疒癶礻糸纟罒耂艹虍衤覀訁讠豸辶钅阝飠饣"
)
"""Strokes and radicals that a scanner reads where a character has faded; those that are words are too few to count."""
_ORDINARY_RARE = 0.12
"""Share of characters outside level 1 that running text has (names, plants, places)."""
_ORDINARY_SINGLE = 0.5
"""Share of Chinese characters that stand alone after segmentation; prose has a third to a half."""
_SPECKS = 0.01
"""Specks and strokes for each Chinese character, from which a text may be a bad scan."""


def mojibake(text: str, letters: int) -> float:
    """Share of damaged letters. Latin-1 letters inside words are French or German; in runs they are mojibake."""
    latin = sum(len(m) for m in _LATIN_RUN.findall(text))
    return min(1.0, (sum(len(m) for m in _MOJIBAKE.findall(text)) + latin) / letters)


def rare(text: str) -> float:
    """Share of Han characters outside GB 2312 level 1 above what running text has; traditional script is no fault."""
    han = _HAN.findall(text)
    if len(han) < 8:
        return 0.0
    return max(0.0, sum(not _common(c) for c in han) / len(han) - _ORDINARY_RARE)


def scanned(text: str) -> float:
    """0..1: specks and strokes among Chinese characters that are rare and stand alone, where words should be."""
    import rjieba

    han = _HAN.findall(text)
    if len(han) < 20:
        return 0.0
    specks = (len(_SPECK.findall(text)) + sum(c in _STROKES for c in han)) / len(han)
    if specks < _SPECKS:
        return 0.0
    strange = specks + max(0.0, sum(not _common(c) for c in han) / len(han) - _ORDINARY_RARE / 2)
    single = sum(len(word) == 1 for word in rjieba.cut("".join(han))) / len(han)
    return min(1.0, 3 * strange + 2 * max(0.0, single - _ORDINARY_SINGLE))


def _common(character: str) -> bool:
    """Whether GB 2312 level 1 (rows 16 to 55) or Big5 level 1 holds it."""
    for codec, low, high in (("gb2312", 0xB0, 0xD7), ("big5", 0xA4, 0xC6)):
        try:
            if low <= character.encode(codec)[0] <= high:
                return True
        except UnicodeEncodeError:
            continue
    return False
