"""Looks at what differs between two texts: a number, a negation or a name makes another text, however alike."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from pipelines.dedup.align import Difference, Sentence, difference, sentences
from pipelines.dedup.changes import Found, unlike
from pipelines.dedup.marks import skeleton
from pipelines.dedup.normalise import gram_codes, normalise
from pipelines.dedup.settings import DedupSettings
from schemas.base import Record
from schemas.facts import DuplicateEvidence, DuplicateOutcome

if TYPE_CHECKING:
    import numpy

_SPACE = re.compile(r"\s+")
_COPULA = re.compile(r"(?:[（(][^）)]*[）)])?\s*(?:是|为|指|[:：]|(?:is|was|are|were)\b)")
_SPLIT_NUMBER = re.compile(r"(?<=\d)\s+(?=\d)")


class Verdict(Record):
    """What two texts are to one another. `drop`: one of them need not be shown."""

    outcome: DuplicateOutcome
    drop: bool
    evidence: DuplicateEvidence


class Text:
    """A text with what comparing needs of it, made once."""

    def __init__(self, raw: str) -> None:
        self.raw = raw

    @cached_property
    def plain(self) -> str:
        return normalise(self.raw)

    @cached_property
    def grams(self) -> "numpy.ndarray[Any, Any]":
        return gram_codes(skeleton(self.plain))

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        return sentences(self.raw)


prepared = lru_cache(maxsize=1024)(Text)
"""The same text is met again and again: as the first of a family, and in version after version."""


def compare(a: str, b: str, settings: DedupSettings) -> Verdict:
    """Verdict on two raw texts; symmetric in outcome and drop."""
    return compare_texts(prepared(a), prepared(b), settings)


def compare_texts(a: Text, b: Text, settings: DedupSettings) -> Verdict:
    """As `compare`, for texts that are compared more than once."""
    from rapidfuzz.distance import Indel

    shared = _shared(a.grams, b.grams)
    jaccard = shared / max(1, len(a.grams) + len(b.grams) - shared)
    containment = shared / max(1, min(len(a.grams), len(b.grams)))
    if a.raw == b.raw or not shared:
        same = a.raw == b.raw
        alike = 1.0 if same else 0.0
        evidence = DuplicateEvidence(jaccard=alike, containment=alike, similarity=alike)
        return Verdict(outcome="same" if same else "distinct", drop=same, evidence=evidence)
    if jaccard < settings.link_jaccard and containment < settings.link_containment:
        evidence = DuplicateEvidence(jaccard=jaccard, containment=containment, similarity=0.0)
        return Verdict(outcome="distinct", drop=False, evidence=evidence)
    similarity = Indel.normalized_similarity(a.plain, b.plain)
    if similarity < settings.link_similarity and containment < settings.contained:
        evidence = DuplicateEvidence(jaccard=jaccard, containment=containment, similarity=similarity)
        return Verdict(outcome="distinct", drop=False, evidence=evidence)
    found = difference(a.raw, b.raw, a.sentences, b.sentences)
    outcome = _outcome(a, b, found, jaccard, settings)
    if outcome == "near" and containment >= settings.drop_containment and jaccard < settings.drop_jaccard:
        outcome = "contained"
    alike = jaccard >= settings.drop_jaccard or containment >= settings.drop_containment
    changes = [one._asdict() for one in found.changes]
    evidence = DuplicateEvidence.model_validate(
        {"jaccard": jaccard, "containment": containment, "similarity": similarity, "changes": changes}
    )
    return Verdict(outcome=outcome, drop=outcome in ("same", "near", "contained") and alike, evidence=evidence)


def _shared(a: "numpy.ndarray[Any, Any]", b: "numpy.ndarray[Any, Any]") -> int:
    """How many numbers two sorted arrays have in common."""
    import numpy as np

    both = np.concatenate((a, b))
    both.sort()
    return int(np.count_nonzero(both[1:] == both[:-1]))


def _outcome(a: Text, b: Text, found: Difference, jaccard: float, settings: DedupSettings) -> DuplicateOutcome:
    kinds = Counter(change.kind for change in found.changes)
    renamed = _renamed(a.raw, b.raw, found.changes)
    kinds["text"] -= renamed
    kinds["name"] += renamed
    named = renamed > 0 or any(_replaces(change) for change in found.changes if change.kind in ("name", "organisation"))
    facts = sum(kinds.values()) - kinds["text"]
    # A name among many reworded words is a rewording; facts everywhere and hardly a shared word are a form.
    if named and facts >= kinds["text"]:
        return "template"
    if jaccard < settings.template_jaccard and _filled(found.changes) >= settings.template_facts:
        return "template"
    if a.plain == b.plain and _laid_out(a.raw, b.raw):
        return "same"
    if facts or not found.agree:
        return "version"
    return "same" if a.plain == b.plain else "near"


def _renamed(a: str, b: str, changes: Sequence[Found]) -> int:
    """How many changes put one other word in the place of the same word, twice and more, or of the first word of all,
    what the text is about: a term that no dictionary calls a name was exchanged."""
    pairs = Counter(
        (a[one.a_start : one.a_end].lower(), b[one.b_start : one.b_end].lower())
        for one in changes
        if one.kind == "text" and _replaces(one)
    )
    about = next((one for one in changes if _is_subject(a, b, one)), None)
    subject = (a[: about.a_end].lower(), b[: about.b_end].lower()) if about else None
    return sum(count for pair, count in pairs.items() if (count > 1 or pair == subject) and unlike(*pair))


def _is_subject(a: str, b: str, change: Found) -> bool:
    starts = change.a_start == change.b_start == 0 and change.kind == "text"
    return starts and all(_COPULA.match(text, end) for text, end in ((a, change.a_end), (b, change.b_end)))


def _laid_out(a: str, b: str) -> bool:
    """Whether only white space differs, and not only inside numbers: `12 3` and `1 23` may be two cells."""
    a, b = (unicodedata.normalize("NFKC", text).lower() for text in (a, b))
    if _SPACE.sub("", a) != _SPACE.sub("", b):
        return False
    return a == b or _SPLIT_NUMBER.sub("", a) != _SPLIT_NUMBER.sub("", b)


def _filled(found: Sequence[Found]) -> int:
    return sum(_replaces(one) and one.kind in ("date", "amount", "number", "code") for one in found)


def _replaces(change: Found) -> bool:
    return change.a_start < change.a_end and change.b_start < change.b_end
