"""What a chunk is about, as a key: chunks of different documents that share it are worth comparing."""

import re
from collections.abc import Sequence

from pipelines.dedup.normalise import normalise
from pipelines.ids import digest

_COUNT = "〇零一二三四五六七八九十百\\d"
_NUMBERING = re.compile(
    rf"^\s*(?:第[{_COUNT}]+[章节節编編条條款项項部卷篇]|[(（]?[{_COUNT}]+[)）、.．](?:\d+[.．]?)*|(?:chapter|section|article|part)\s+[\dIVX]+[.:]?)\s*",
    re.IGNORECASE,
)
_EDITION = re.compile(
    r"(?:19|20)\d{2}(?:[-./年]\d{1,2}(?:[-./月]\d{1,2}日?)?)?|\bv?\d+(?:\.\d+)+\b|\bv\d+\b|第.{1,3}版|final|draft|最终版|修订版?|草案",
    re.I,
)


def subject(title: str, section: Sequence[str]) -> str:
    """Hex of the innermost heading, without its number; of the title, without date and edition, where there is none."""
    heading = _NUMBERING.sub("", section[-1]) if section else _EDITION.sub("", title)
    plain = normalise(heading)
    return digest(b"subject", plain) if plain else ""
