"""A folded copy of a text for pattern matching, with the way back to the original offsets.

Stored text is never folded: only the copy that the rules read. Full-width forms become ASCII, spoken or formal
Chinese digits become Arabic ones where they stand in a run as long as a number, invisible characters vanish.
"""

import re
import unicodedata
from typing import NamedTuple

from schemas.chunk import MASKED

PLACEHOLDER = re.compile(MASKED)
"""What masking leaves behind; never personal data itself."""

SHORTEST_SPOKEN = 7
"""Chinese digits in a row that read as a number to dial rather than as a year, a count or a word."""

_SPOKEN = {
    **dict(zip("零一二三四五六七八九", "0123456789", strict=True)),
    **dict(zip("〇壹贰叁肆伍陆柒捌玖", "0123456789", strict=True)),
    **dict(zip("○幺两貳參陸洞拐勾", "012236079", strict=True)),
}
_SPOKEN_TABLE = str.maketrans(_SPOKEN)
_DIGIT = "[" + "".join(_SPOKEN) + "0-9]"
_RUN = re.compile(rf"{_DIGIT}(?:[ \-]?{_DIGIT}){{{SHORTEST_SPOKEN - 1},}}")
_WORD = "[" + "".join(_SPOKEN) + "]"
_GROUPS = re.compile(rf"(?<!{_WORD}){_WORD}{{3}}[，、,]{_WORD}{{4}}[，、,]{_WORD}{{4}}(?!{_WORD})")
"""A mobile as it is dictated: 一三八，一二三四，五六七八."""
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_DASHES = {ord(dash): "-" for dash in "‐‑‒–—―−﹣－ー"}


def _ascii(character: str) -> str:
    digit = unicodedata.digit(character, None)
    plain = unicodedata.normalize("NFKC", character) if digit is None else str(digit)
    return plain if len(plain) == 1 and plain.isascii() else character


_NOT_ASCII = re.compile(
    r"[\u00a0\u00b2-\u00b9\u0660-\u0669\u06f0-\u06f9\u2000-\u200a\u2070-\u2099\u2460-\u2468\u24ea\u3000"
    r"\uff01-\uff5e\U0001d400-\U0001d7ff]"
)


_SCANNED = re.compile(r"(?<![A-Za-z0-9])[0-9OoIl](?:[ \-]?[0-9OoIl]){8,17}[ \-]?[0-9OoIlXx](?![A-Za-z0-9])")
_SCANNED_TABLE = str.maketrans("OoIl", "0011")


def _unscanned(match: re.Match[str]) -> str:
    """A long number in which a scanner took zeros and ones for letters; a word of such letters stays."""
    run = match.group()
    return run.translate(_SCANNED_TABLE) if sum(c.isdigit() for c in run) * 2 > len(run.replace(" ", "")) else run


class Folded(NamedTuple):
    """`text[i]` came from offset `origin[i]` of the source; `origin` is None while both are the same."""

    text: str
    origin: tuple[int, ...] | None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The source offsets of a non-empty folded span."""
        if self.origin is None:
            return start, end
        return self.origin[start], self.origin[end - 1] + 1


def fold(text: str) -> Folded:
    """Every step but the last keeps the length, so most texts need no map."""
    folded = PLACEHOLDER.sub(lambda m: "■" * len(m.group()), text)
    folded = _SCANNED.sub(_unscanned, folded)
    if not folded.isascii():
        folded = _NOT_ASCII.sub(lambda m: _ascii(m.group()), folded).translate(_DASHES)
        folded = _GROUPS.sub(lambda m: re.sub("[，、,]", " ", m.group()), folded)
        folded = _RUN.sub(lambda m: m.group().translate(_SPOKEN_TABLE), folded)
        if _INVISIBLE.search(folded):
            kept = [i for i, character in enumerate(folded) if not _INVISIBLE.match(character)]
            visible = "".join(folded[i] for i in kept)
            return Folded(_RUN.sub(lambda m: m.group().translate(_SPOKEN_TABLE), visible), tuple(kept))
    return Folded(folded, None)


def compact(value: str) -> str:
    """One spelling for all written forms of a value: what a pseudonym is made of."""
    folded = fold(value).text
    tight = re.sub(r"[\s\-.·()]+", "", folded) if re.search(r"\d", folded) else " ".join(folded.split())
    return tight.casefold()
