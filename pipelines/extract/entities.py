"""Entities and relations by rule."""

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from schemas.facts import Entity, Relation

_RULES = (
    (
        "standard",
        re.compile(r"(?<![A-Za-z])(?:GB(?:/[TZ])?|ISO(?:/IEC)?|IEC|IEEE|RFC|(?:DB\d{2}|YD|JB)/T)\s?\d+(?:[.\-—]\d+)*"),
    ),
    ("document_number", re.compile(r"[\u4e00-\u9fff]{1,10}[〔\[（(]\d{4}[〕\]）)]\s?第?\d+号")),
    ("version", re.compile(r"(?<![A-Za-z0-9.])[vV]\d+(?:\.\d+)*(?:-[a-z0-9.]+)?|(?<![\w.])\d+\.\d+\.\d+(?![\w.])")),
    (
        "organisation",
        re.compile(r"[\u4e00-\u9fffA-Za-z0-9（）]{2,20}?(?:有限(?:责任)?公司|集团|银行|大学|委员会)"),
    ),
    ("product", re.compile(r"(?<![A-Za-z])[A-Z][A-Za-z]{2,}(?=\s[vV]?\d+\.\d+)")),
)
NONE: Mapping[str, str] = MappingProxyType({})
_RELATION = re.compile(
    r"(?P<s>[A-Za-z0-9\u4e00-\u9fff]{2,20}?)(?P<p>依赖于?|属于|替代|取代|隶属于|\s(?:depends on|replaces|requires)\s)"
    r"(?P<o>[A-Za-z0-9\u4e00-\u9fff]{2,20})"
)


def known(text: str, terms: Mapping[str, str], synonyms: Mapping[str, str] = NONE) -> tuple[Entity, ...]:
    """Entries of the dictionary, longest first where they overlap; Latin names only as whole words. A synonym counts
    as the name that it stands for."""
    if not terms:
        return ()
    pattern = _dictionary((*terms, *(word for word, name in synonyms.items() if name in terms)))
    found = dict.fromkeys(synonyms.get(one, one) for one in pattern.findall(text))
    return tuple(Entity(text=name, type=terms[name], method="dictionary") for name in found)


@lru_cache(maxsize=8)
def _dictionary(names: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    return re.compile("|".join(rf"(?<![A-Za-z0-9]){re.escape(n)}(?![A-Za-z0-9])" for n in longest_first))


def entities(text: str) -> tuple[Entity, ...]:
    """Each value once, in order of type; every value is a substring of the text."""
    found = {(m.group().strip(), kind): None for kind, rule in _RULES for m in rule.finditer(text)}
    return tuple(Entity(text=value, type=kind, method="rule") for value, kind in found)


def relations(text: str) -> tuple[Relation, ...]:
    """Subject, predicate and object as the text has them."""
    return tuple(
        Relation(subject=m["s"], predicate=m["p"].strip(), object=m["o"], method="rule")
        for m in _RELATION.finditer(text)
    )
