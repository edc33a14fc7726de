"""Text to tokens for BM25: the same for what is indexed and for what is asked.

Character bigrams need no dictionary and never miss a new word; they beat word segmentation for Chinese retrieval
(Nie, Gao, Zhang, Zhou 2000, "On the use of words and n-grams for Chinese information retrieval").
"""

import re
import unicodedata
from functools import lru_cache
from typing import Any

CJK = "\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\uac00-\ud7af"
WORDS = re.compile(
    rf"(?P<cjk>(?:(?=\w)[{CJK}])+)"
    rf"|(?P<latin>(?:(?![{CJK}])\w)+(?:[./\-:+#&](?:(?![{CJK}])\w)+)*)"
)
CODE = re.compile(r"(?i)(?<![a-z0-9])(gb|gbz|jgj|db|dl|hg|yy|iso|iec|ieee|rfc|en|din|astm)((?:/[a-z])?) +(?=\d)")
INNER = re.compile(r"\W+")


@lru_cache(maxsize=1)
def _simplifier() -> Any:
    from opencc import OpenCC

    return OpenCC("t2s")


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))


def fold(text: str) -> str:
    """NFKC (full width to half), lower case, traditional script to simplified; for comparing, never for showing."""
    folded = unicodedata.normalize("NFKC", text)
    return str(_simplifier().convert(folded)).lower() if not folded.isascii() else folded.lower()


@lru_cache(maxsize=1 << 16)
def _latin(word: str) -> tuple[str, ...]:
    """One word, or a code: the whole with `_` for inner punctuation, then its parts: half a code still matches."""
    parts = [part for part in INNER.split(word) if part]
    if len(parts) > 1:
        whole = "_".join(parts)
        shorter = ("_".join(parts[:-1]),) if len(parts) > 2 else ()  # a standard without its year, 3.3 of 3.3.2
        return (whole, *shorter, *(_stem(part) for part in parts if len(part) > 1 and part.strip("_")))
    if not word.strip("_"):
        return ()
    return (_stem(word) if word.isalpha() else word,)


def _han(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)]


def lexical_tokens(text: str) -> str:
    """Tokens joined by a blank, each of `\\w` characters only: `GB/T 3620.1 办法` gives `gb_t_3620_1 gb … 办法`."""
    folded = CODE.sub(r"\1\2-", fold(text))
    tokens: list[str] = []
    for match in WORDS.finditer(folded):
        if match.lastgroup == "cjk":
            tokens += _han(match.group())
        else:
            tokens += _latin(match.group())
    return " ".join(tokens)
