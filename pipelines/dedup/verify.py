"""Looks at what differs between two texts: a number, a negation or a name makes another text, however alike."""

import re
import unicodedata
from collections import Counter
from typing import Literal, NamedTuple

from pipelines.dedup.marks import marks
from pipelines.dedup.normalise import grams, normalise
from pipelines.dedup.settings import DedupSettings
from schemas.base import Record
from schemas.facts import Change, DuplicateEvidence, DuplicateOutcome

Slot = Literal["number", "date", "amount", "code", "name", "organisation", "negation", "modal", "text"]

_RUN = re.compile(r"[-−]?[A-Za-z0-9]+(?:[._:/,'’-][A-Za-z0-9]+)*%?|[^\x00-\x7f\W]+")
_NUMERAL = re.compile(r"[一二三四五六七八九十百千万亿零〇两壹贰叁肆伍陆柒捌玖拾佰仟半]+[年月日元条款项个天周次倍成]?$")
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?$")
_NEGATION = re.compile(r"[不未无非没勿莫禁]|^(not|no|never|without|none|nor|cannot)$|n['’]t$|^(un|non|dis)")
_MODAL = re.compile(
    r"^(必须|应当|应该|应|须|可以|可|不得|允许|禁止|严禁|必需|需要|需|能够|能|must|shall|should|may|might|can|could|will|would"
    r"|required|optional|allowed|forbidden|prohibited|enabled?|disabled?|true|false|only|仅|除外|以上|以下|至少|至多)$"
)
_ORGANISATION = re.compile(r"(公司|集团|银行|大学|学院|医院|法院|委员会|局|厅|部|院|所|inc|ltd|llc|corp|gmbh|co)$")
_SHORT = 8
"""An insertion of up to this many tokens is an edit of a clause; more is an added sentence."""
_SENTENCE = 16
"""Characters from which an insertion can be an added sentence, whose own numbers do not change the rest."""


class Verdict(Record):
    """What two texts are to one another. `drop`: one of them need not be shown."""

    outcome: DuplicateOutcome
    drop: bool
    evidence: DuplicateEvidence


class Token(NamedTuple):
    """A word with its place in the raw text."""

    key: str
    kind: Slot
    start: int
    end: int


def compare(a: str, b: str, settings: DedupSettings) -> Verdict:
    """Verdict on two raw texts; symmetric in outcome and drop."""
    from rapidfuzz.distance import Indel

    plain_a, plain_b = normalise(a), normalise(b)
    grams_a, grams_b = grams(plain_a), grams(plain_b)
    shared = len(grams_a & grams_b)
    jaccard = shared / max(1, len(grams_a | grams_b))
    containment = shared / max(1, min(len(grams_a), len(grams_b)))
    similarity = Indel.normalized_similarity(plain_a, plain_b)
    if not plain_a or not plain_b or _distinct(jaccard, containment, similarity, settings):
        same = a == b
        evidence = DuplicateEvidence(jaccard=jaccard, containment=containment, similarity=similarity)
        return Verdict(outcome="same" if same else "distinct", drop=same, evidence=evidence)
    changes = _changes(_tokens(a), _tokens(b))
    outcome = _outcome(plain_a == plain_b, {change.kind for change in changes}, jaccard, containment, settings)
    if outcome in ("near", "contained") and not _marks_agree(a, b, changes):
        outcome = "version"
    alike = jaccard >= settings.drop_jaccard or containment >= settings.drop_containment
    drop = outcome == "same" or (outcome in ("near", "contained") and alike)
    evidence = DuplicateEvidence(jaccard=jaccard, containment=containment, similarity=similarity, changes=changes)
    return Verdict(outcome=outcome, drop=drop, evidence=evidence)


def _distinct(jaccard: float, containment: float, similarity: float, settings: DedupSettings) -> bool:
    if jaccard < settings.link_jaccard and containment < settings.link_containment:
        return True
    return similarity < settings.link_similarity and containment < settings.contained


def _outcome(
    equal: bool, kinds: set[str], jaccard: float, containment: float, settings: DedupSettings
) -> DuplicateOutcome:
    if kinds & {"name", "organisation"}:
        return "template"
    if kinds & {"number", "date", "amount", "code", "negation", "modal"}:
        return "version"
    if equal:
        return "same"
    return "contained" if containment >= settings.drop_containment and jaccard < settings.drop_jaccard else "near"


def _marks_agree(a: str, b: str, changes: tuple[Change, ...]) -> bool:
    """Whether what both texts share in sentences has the same numbers, negations and modal words in order."""
    for change in reversed(changes):
        one_sided = change.a_start == change.a_end or change.b_start == change.b_end
        if one_sided and change.a_end - change.a_start + change.b_end - change.b_start > _SENTENCE:
            a = a[: change.a_start] + "。" + a[change.a_end :]
            b = b[: change.b_start] + "。" + b[change.b_end :]
    return marks(a) == marks(b)


def _tokens(text: str) -> list[Token]:
    """Words of a text with kind and raw offsets; NFKC is applied to keys only."""
    import rjieba

    found: list[Token] = []
    for run in re.finditer(r"[\w.,:/'’%−-]+", text):
        at = run.start()
        folded = unicodedata.normalize("NFKC", run.group())
        if len(folded) != len(run.group()):
            folded = run.group()
        for part in _RUN.finditer(folded):
            start = at + part.start()
            if part.group()[0].isascii() or part.group()[0] == "−":
                found.append(_token(part.group(), "eng", start))
                continue
            for word, tag in rjieba.tag(part.group()):
                found.append(_token(word, tag, start))
                start += len(word)
    return found


def _token(word: str, tag: str, start: int) -> Token:
    return Token(word.lower(), _kind(word, tag), start, start + len(word))


def _kind(word: str, tag: str) -> Slot:
    low = word.lower()
    if any(c.isdigit() for c in word) and word[0].isascii():
        if _DATE.match(word):
            return "date"
        return "code" if any(c.isalpha() for c in word) else "number"
    if tag == "m" or _NUMERAL.match(word):
        return "number"
    if _MODAL.match(low):
        return "modal"
    if _NEGATION.search(low):
        return "negation"
    if tag == "nt" or (_ORGANISATION.search(low) and len(low) > 3 and not low.isascii()):
        return "organisation"
    return "name" if tag in ("nr", "ns", "nz", "nrt", "nrfg") or (word[0].isascii() and word[0].isupper()) else "text"


def _changes(a: list[Token], b: list[Token]) -> tuple[Change, ...]:
    from rapidfuzz.distance import Levenshtein

    regions: list[list[int]] = []
    for op in Levenshtein.opcodes([t.key for t in a], [t.key for t in b]):
        if op.tag == "equal":
            continue
        if regions and regions[-1][1] == op.src_start and regions[-1][3] == op.dest_start:
            regions[-1][1], regions[-1][3] = op.src_end, op.dest_end
        else:
            regions.append([op.src_start, op.src_end, op.dest_start, op.dest_end])
    return tuple(_change(a, b, region) for region in regions)


def _change(a: list[Token], b: list[Token], region: list[int]) -> Change:
    left, right = a[region[0] : region[1]], b[region[2] : region[3]]
    after_a = a[region[0]].start if left else (a[region[0] - 1].end if region[0] else 0)
    after_b = b[region[2]].start if right else (b[region[2] - 1].end if region[2] else 0)
    return Change(
        kind=_slot(left, right),
        a_start=after_a,
        a_end=left[-1].end if left else after_a,
        b_start=after_b,
        b_end=right[-1].end if right else after_b,
    )


def _slot(left: list[Token], right: list[Token]) -> Slot:
    """The gravest kind of word that differs; a whole added sentence counts as text."""
    if "".join(t.key for t in left) == "".join(t.key for t in right):
        return "text"
    if (not left or not right) and len(left) + len(right) > _SHORT:
        return "text"
    ours = Counter((t.key, t.kind) for t in left)
    theirs = Counter((t.key, t.kind) for t in right)
    kinds = {kind for (_, kind) in (ours - theirs) + (theirs - ours)}
    order: tuple[Slot, ...] = ("organisation", "name", "date", "amount", "number", "code", "negation", "modal")
    return next((kind for kind in order if kind in kinds), "text")
