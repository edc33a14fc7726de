"""Text reduced to what makes two texts the same: for hashing and comparing only, never stored."""

import re
import unicodedata
from typing import TYPE_CHECKING, Any

from pipelines.ids import digest

if TYPE_CHECKING:
    import numpy

_NOISE = re.compile(r"[\W_]+")
_SIGNED = re.compile(r"[-−]?\d+(?:[.,:/-]\d+)*%?")
_DIGIT = re.compile(r"\d")


class _Folding(dict[str, str]):
    """Compatibility forms of one character for one: the length stays, so offsets stay."""

    def __missing__(self, character: str) -> str:
        plain = unicodedata.normalize("NFKC", character)
        self[character] = plain if len(plain) == 1 else character
        return self[character]


_FOLDING = _Folding()
# Basic Latin, Chinese and its punctuation, kana, Hangul and Cyrillic letters are their own forms: skipped at C speed.
_FOLDED = re.compile(
    "[^\x00-\x7f\u3001-\u3003\u3008-\u3011\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3\u0400-\u04ff]"
)


def fold(text: str) -> str:
    """Width folded, length kept."""
    return text if text.isascii() else _FOLDED.sub(lambda m: _FOLDING[m.group()], text)


def nfkc(text: str) -> str:
    """NFKC. Of a folded text it is the same, and mostly it is that text: to see so is cheaper than to make it."""
    return unicodedata.normalize("NFKC", fold(text))


def normalise(text: str) -> str:
    """NFKC, lower case, without punctuation and space."""
    return plain_of(nfkc(text))


def plain_of(folded: str) -> str:
    """The rest of `normalise`, where NFKC is done."""
    return _NOISE.sub("", folded.lower())


def text_digest(text: str, salt: bytes, folded: str | None = None) -> str:
    """Hex of a keyed BLAKE2b over the normalised text (`folded`: its NFKC, where that is known).

    A text of signs alone keeps them, and so do numbers: `1.5` and `15`, `-3` and `3` must not be one text.
    """
    folded = nfkc(text) if folded is None else folded
    plain = plain_of(folded)
    # Most texts have no number, and a search for one digit is a tenth of the other's cost.
    numbers = _SIGNED.findall(folded) if _DIGIT.search(folded) else ()
    return digest(salt, plain or text, *(number for number in numbers if not number.isdigit()))


def grams(plain: str, size: int = 3) -> frozenset[str]:
    """Character n-grams of a normalised text; a shorter text is its own only gram."""
    if len(plain) <= size:
        return frozenset((plain,)) if plain else frozenset()
    return frozenset({plain[i : i + size] for i in range(len(plain) - size + 1)})


def gram_codes(plain: str) -> "numpy.ndarray[Any, Any]":
    """The 3-grams as sorted numbers, each once (uint64): a character is 21 bits; a shorter text is padded."""
    import numpy as np

    padded = plain.ljust(3, "\0") if plain else ""
    codes = np.frombuffer(padded.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    made = codes[:-2] << np.uint64(42) | codes[1:-1] << np.uint64(21) | codes[2:]
    made.sort()
    last = np.ones(len(made), dtype=bool)
    last[:-1] = made[:-1] != made[1:]
    return np.asarray(made[last])
