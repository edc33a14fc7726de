"""Text reduced to what makes two texts the same: for hashing and comparing only, never stored."""

import re
import unicodedata

from pipelines.ids import digest

_NOISE = re.compile(r"[\W_]+")


def normalise(text: str) -> str:
    """NFKC, lower case, without punctuation and space."""
    return _NOISE.sub("", unicodedata.normalize("NFKC", text).lower())


def text_digest(text: str, salt: bytes, plain: str | None = None) -> str:
    """Hex of a keyed BLAKE2b over the normalised text (`plain`, where it is known).

    A text of signs alone keeps them, and so do numbers: `1.5` and `15`, `-3` and `3` must not be one text.
    """
    plain = normalise(text) if plain is None else plain
    numbers = re.findall(r"[-−]?\d+(?:[.,:/-]\d+)*%?", unicodedata.normalize("NFKC", text))
    return digest(salt, plain or text, *(number for number in numbers if not number.isdigit()))


def grams(plain: str, size: int = 3) -> frozenset[str]:
    """Character n-grams of a normalised text; a shorter text is its own only gram."""
    if len(plain) <= size:
        return frozenset((plain,)) if plain else frozenset()
    return frozenset(plain[i : i + size] for i in range(len(plain) - size + 1))
