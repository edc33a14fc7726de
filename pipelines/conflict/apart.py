"""Passages that stand under the names of two things: what differs between them contradicts nothing."""

import re

from pipelines.conflict.compare import Comparison
from pipelines.conflict.slots import differences
from pipelines.conflict.tokens import Word, words

_WORD = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]+")
_JOINT = re.compile(r"(?<=[a-z0-9])[_./-](?=[a-z0-9])", re.IGNORECASE)
_KINDS = """标准 制度 办法 规定 规范 规则 手册 指南 说明 流程 细则 通知 文件 附件 条例 总则 须知 方案 版本
policy rules rule guide manual handbook standard procedure faq notes overview plan draft version edition"""
_DOCUMENTS = frozenset(_KINDS.split())
"""What a document is, not what it is about."""


def apart(found: Comparison, texts: tuple[str, str], headings: tuple[str, str]) -> bool:
    """`headings`: title and section path of each. Whether they differ by what differs in the texts (Contract 21,
    Contract 27), or are one heading but for a name (Berlin, Lisbon). Another year or edition is no other thing."""
    ours, theirs = _parts(headings[0]), _parts(headings[1])
    for one in found.differences:
        a, b = _parts(texts[0][one.a_start : one.a_end]), _parts(texts[1][one.b_start : one.b_end])
        own = (bool((a - b) & (ours - theirs)), bool((b - a) & (theirs - ours)))
        # A passage that calls its own thing by an identifier: the other one has another.
        if all(own) or (any(own) and a and b and one.kind in ("code", "name")):
            return True
    return _named(texts, headings)


def _parts(text: str) -> set[str]:
    """Its words; of identifiers, what they are put together from."""
    return set(_WORD.findall(text.lower()))


def _named(texts: tuple[str, str], headings: tuple[str, str]) -> bool:
    plain = tuple(_JOINT.sub(" ", heading) for heading in headings)
    left, right = words(plain[0]), words(plain[1])
    places = differences(left, right)
    if not places or not all(one.both for one in places):
        return False
    common = " ".join(texts)
    for one in places:
        ours = [word for word in left if one.a_start <= word.start < one.a_end]
        theirs = [word for word in right if one.b_start <= word.start < one.b_end]
        if not all(_names(word, headings[side], common) for side, row in enumerate((ours, theirs)) for word in row):
            return False
    return len(places) < min(len(left), len(right))


def _names(word: Word, heading: str, text: str) -> bool:
    """A name in a heading. Every word of an English heading may have a capital: a name keeps it in the text."""
    written = heading[max(0, word.start - 1) : word.end + 1]
    if word.key.isascii() and re.search(r"[_./-]", written):  # a part of an identifier
        return True
    if word.key in _DOCUMENTS:
        return False
    return word.names or (heading[word.start].isupper() and word.kind == "text" and word.key not in text)
