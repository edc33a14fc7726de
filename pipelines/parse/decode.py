"""From bytes to text: marks, then strict UTF-8, then the encoding whose reading has the most everyday characters.

GB 2312-1980 level 1 and Big5 level 1 list the most frequent simplified and traditional characters; a wrong reading
of Chinese bytes is full of rare ones.
"""

import codecs
import re
import unicodedata
from collections import Counter
from functools import cache

from pipelines.errors import Code, Rejected
from schemas.base import Record

BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
LEGACY = ("gb18030", "big5", "cp1252")
WIDE = ("utf-16-le", "utf-16-be")
SAMPLE = 65_536
PUNCTUATION = frozenset("，。、；：？！“”‘’（）《》【】—…·「」『』％〔〕 \n\r\t")
MOJIBAKE = re.compile(
    r"[\u0080-\u00ff\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2013-\u203a\u20ac\u2122]{4,}"
)
ACCENTED = re.compile(r"[A-Za-z][À-ÖØ-öø-ÿ]|[À-ÖØ-öø-ÿ][A-Za-z]")


class Decoded(Record):
    text: str
    encoding: str
    """Python's name; `mixed` where lines differ."""


def decode(data: bytes) -> Decoded:
    """Text and its encoding; line ends as they are. Raises Rejected(PARSE_BINARY)."""
    for bom, encoding in BOMS:
        if data.startswith(bom):
            return _with_mark(data, encoding)
    if (text := _strict(data, "utf-8")) is not None and _controls(text) <= 0.02 * len(text):
        wide = _best(data, WIDE) if len(data) >= 8 and len(data) % 2 == 0 and "\0" in text else None
        return wide or Decoded(text=repair(text), encoding="utf-8")
    return _guess(data)


def _with_mark(data: bytes, encoding: str) -> Decoded:
    try:
        return Decoded(text=data.decode(encoding), encoding=encoding)
    except UnicodeDecodeError:
        text = data.decode(encoding, "replace")
    if text.count("\ufffd") > 0.05 * len(text):
        raise Rejected(Code.PARSE_BINARY, f"the mark says {encoding}, the content does not follow it")
    return Decoded(text=text, encoding=encoding)


def _guess(data: bytes) -> Decoded:
    best = _best(data, LEGACY + (WIDE if len(data) % 2 == 0 else ()))
    if best and best.encoding in WIDE:
        return best
    if b"\0" in data:
        raise Rejected(Code.PARSE_BINARY, "NUL bytes, and not UTF-16")
    mixed = _by_lines(data)
    if mixed and (best is None or score(mixed.text) > score(best.text) + 0.02):
        return mixed
    if best and _controls(best.text) <= 0.02 * len(best.text) and score(best.text) > 0.3:
        return best
    raise Rejected(Code.PARSE_BINARY, "the bytes are no text in any encoding that we know")


def _best(data: bytes, encodings: tuple[str, ...]) -> Decoded | None:
    readings = [(encoding, text) for encoding in encodings if (text := _strict(data, encoding)) is not None]
    if not readings:
        return None
    encoding, text = max(readings, key=lambda reading: score(reading[1]))
    return Decoded(text=text, encoding=encoding) if score(text) > 0.3 else None


def _by_lines(data: bytes) -> Decoded | None:
    """Files that were edited with two programs. None where some line is no text."""
    lines: list[str] = []
    found: set[str] = set()
    for line in data.splitlines(keepends=True):
        text, encoding = _strict(line, "utf-8"), "utf-8"
        if text is None:
            best = _best(line, LEGACY)
            if best is None:
                return None
            text, encoding = best.text, best.encoding
        if not line.isascii():
            found.add(encoding)
        lines.append(text)
    return Decoded(text="".join(lines), encoding=found.pop() if len(found) == 1 else "mixed")


def score(text: str) -> float:
    """Share of non-ASCII characters that people use every day, 0..1; ASCII letters count for little either way."""
    total = points = 0.0
    for character, count in Counter(text[:SAMPLE]).items():
        if character < "\x80":
            worth = 1.0 if character.isprintable() or character in "\r\n\t" else -2.0
            weight = 0.1 if worth > 0 else 1.0
        else:
            weight, worth = 1.0, _worth(character)
        total += weight * count
        points += weight * worth * count
    return points / total if total else 1.0


@cache
def _worth(character: str) -> float:
    if character in PUNCTUATION:
        return 1.0
    if "\u4e00" <= character <= "\u9fff":
        return (
            1.0
            if _level_1(character, "gb2312", 0xB0, 0xD7)
            else 0.9
            if _level_1(character, "big5", 0xA4, 0xC6)
            else 0.1
        )
    if "\uff01" <= character <= "\uff5e" or "\u3040" <= character <= "\u30ff":
        return 0.6
    category = unicodedata.category(character)
    if "\u00c0" <= character <= "\u00ff" and category in ("Lu", "Ll"):
        return 0.45
    if category in ("Cn", "Co", "Cc", "Cs") or character == "\ufffd":
        return -2.0
    return 0.3 if "\u00a0" <= character <= "\u00bf" or "\u2010" <= character <= "\u2122" else 0.1


def _level_1(character: str, encoding: str, first: int, last: int) -> bool:
    try:
        return first <= character.encode(encoding)[0] <= last
    except UnicodeEncodeError:
        return False


def repair(text: str) -> str:
    """Chinese or accented text that was read as Latin-1 or cp1252, where the bytes prove it; else the text as it is."""
    return MOJIBAKE.sub(lambda found: _repaired(found.group()), text) if MOJIBAKE.search(text) else text


def _repaired(run: str) -> str:
    for wrong in ("cp1252", "latin-1"):
        try:
            data = run.encode(wrong)
        except UnicodeEncodeError:
            continue
        for right in ("utf-8", "gb18030"):
            better = _strict(data, right)
            enough = 2 if right == "utf-8" else 4
            if better and len(better) >= enough and len(better) < len(run) and score(better) >= 0.9:
                return better
    return run


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _controls(text: str) -> int:
    return sum(character < " " and character not in "\t\n\r\f\x1b" for character in text[:SAMPLE])
