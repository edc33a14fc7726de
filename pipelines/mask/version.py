"""Masks a whole version: the same value gets the same replacement in every chunk, title, file name and property."""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from typing import NamedTuple

from pipelines.errors import Code, Rejected
from pipelines.mask import html, rules
from pipelines.mask.analyzer import RULE_TYPES, analyze, analyze_all
from pipelines.mask.fold import fold
from pipelines.mask.names import labelled, plausible
from pipelines.mask.operators import operator_for, replacement, seal
from pipelines.mask.rules import Finding
from pipelines.mask.settings import MaskSettings
from schemas.chunk import Chunk, Masked, MaskedChunk, PiiFinding
from schemas.source import MaskOperator

_PERSON_PROPERTIES = re.compile(
    r"author|creator|modified.?by|lastsavedby|manager|editor|owner|sender|^(?:from|to|cc)$|作者|创建者|修改者|负责人|经办",
    re.IGNORECASE,
)
_ALNUM = re.compile(r"[0-9A-Za-z]")
_LONGEST_VALUE = 60
"""Characters to each side of a border between chunks in which the two parts of a value may lie."""


class Vaulted(NamedTuple):
    """One reversible value: the token in the text and the sealed original."""

    pseudonym: str
    type: str
    sealed: str


class Masker:
    """One version's masking: what is found anywhere is known everywhere."""

    def __init__(
        self, policy: Mapping[str, MaskOperator], settings: MaskSettings, key: bytes, vault_key: bytes = b""
    ) -> None:
        self._policy = dict(policy)
        self._settings = settings
        self._key = key
        self._vault_key = vault_key or key
        self._analysed: dict[str, tuple[Finding, ...]] = {}
        self._known: dict[str, str] = {}
        self._known_pattern: re.Pattern[str] | None = None
        self.vault: dict[str, Vaulted] = {}

    def operator(self, kind: str) -> MaskOperator:
        return operator_for(kind, self._policy, self._settings)

    def learn(self, texts: Sequence[str]) -> None:
        """Remember the values of texts that are safe to look for elsewhere: two-character names only after a label."""
        for text, found in zip(texts, analyze_all(texts, self._settings), strict=True):
            self._analysed[text] = found
            announced = set(labelled(text))
            for start, end, kind in found:
                value = fold(text[start:end]).text
                sure = (start, end) in announced or (len(value) >= 3 and (not value.isascii() or " " in value))
                if (kind == "PERSON" and sure) or (kind in RULE_TYPES and len(value) >= 6):
                    self.know(value, kind)

    def know(self, value: str, kind: str) -> None:
        self._known.setdefault(value, kind)
        self._known_pattern = None

    def _everywhere(self, text: str) -> list[Finding]:
        if not self._known:
            return []
        if self._known_pattern is None:
            longest_first = sorted(self._known, key=lambda value: (-len(value), value))
            guarded = (
                (r"(?<![0-9A-Za-z])" if _ALNUM.match(value[0]) else "")
                + re.escape(value)
                + (r"(?![0-9A-Za-z])" if _ALNUM.match(value[-1]) else "")
                for value in longest_first
            )
            self._known_pattern = re.compile("|".join(guarded))
        folded = fold(text)
        return [
            Finding(*folded.span(*match.span()), self._known[match.group()])
            for match in self._known_pattern.finditer(folded.text)
        ]

    def findings(self, text: str) -> tuple[Finding, ...]:
        """Findings to act on: those of the type kept by policy are in it as well."""
        found = list(self._analysed.get(text) or analyze(text, self._settings))
        certain = [one for one in found if one.type in RULE_TYPES or one.type == "PERSON"]
        spread = rules.merged(certain + self._everywhere(text))
        others = [one for one in found if not any(one.start < t.end and t.start < one.end for t in spread)]
        return tuple(sorted({*spread, *others}))

    def _new(self, kind: str, value: str) -> str:
        operator = self.operator(kind)
        new = replacement(kind, value, operator, self._key)
        if operator == "vault" and new not in self.vault:
            self.vault[new] = Vaulted(new, kind, seal(value, self._vault_key))
        return new

    def text(self, text: str, counts: Counter[str] | None = None, also: Sequence[Finding] = ()) -> str:
        """The masked text, `also` what only its neighbours show. Raises Rejected(PII_UNMASKABLE) when a value is still
        found in it."""
        changes = self._changes(text, counts, also)
        out, at = [], 0
        for start, end, new in changes:
            out += [text[at:start], new]
            at = end
        return self._checked("".join([*out, text[at:]]))

    def markup(self, markup: str) -> str:
        text, origin = html.visible(markup)
        masked = html.put_back(markup, origin, self._changes(text, None))
        self._checked(html.visible(masked)[0])
        return masked

    def _changes(
        self, text: str, counts: Counter[str] | None, also: Sequence[Finding] = ()
    ) -> list[tuple[int, int, str]]:
        changes = []
        found = self.findings(text)
        for start, end, kind in rules.merged([*found, *also]) if also else found:
            if counts is not None:
                counts[kind] += 1
            if self.operator(kind) != "keep":
                changes.append((start, end, self._new(kind, text[start:end])))
        return changes

    def _checked(self, masked: str) -> str:
        left = [*rules.find(masked, self._settings), *self._everywhere(masked)]
        types = sorted({one.type for one in left if self.operator(one.type) != "keep"})
        if types:
            raise Rejected(Code.PII_UNMASKABLE, f"still found after masking: {', '.join(types)}")
        return masked

    def path(self, uri: str) -> str:
        """Each part of the path by itself, so that folders and the ending stay apart."""
        parts = []
        for part in uri.split("/"):
            stem, dot, ending = part.rpartition(".")
            known_ending = dot and stem and re.fullmatch(r"[A-Za-z0-9]{1,5}", ending)
            parts.append(f"{self.text(stem)}.{ending}" if known_ending else self.text(part))
        return "/".join(parts)

    def properties(self, metadata: Mapping[str, str]) -> dict[str, str]:
        return {name: self.text(value) for name, value in metadata.items()}


def content_hash(context: str, text: str, markup: str | None) -> str:
    """SHA-256 over the parts, each after its length in bytes."""
    state = hashlib.sha256()
    for part in (context, text, markup or ""):
        data = part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "big") + data)
    return state.hexdigest()


def _across(chunks: Sequence[Chunk], settings: MaskSettings) -> dict[str, list[Finding]]:
    """Both parts of each value that the border between two chunks cuts, by chunk."""
    found: dict[str, list[Finding]] = defaultdict(list)
    for before, after in pairwise(chunks):
        cut = max(0, len(before.text) - _LONGEST_VALUE)
        border = len(before.text) - cut
        for one in rules.find(f"{before.text[cut:]}\n{after.text[:_LONGEST_VALUE]}", settings):
            if one.start < border and one.end > border + 1:
                found[before.id].append(Finding(one.start + cut, len(before.text), one.type))
                found[after.id].append(Finding(0, one.end - border - 1, one.type))
    return found


def _chunk(chunk: Chunk, masker: Masker, also: Sequence[Finding] = ()) -> tuple[MaskedChunk, tuple[PiiFinding, ...]]:
    counts: Counter[str] = Counter()
    text = masker.text(chunk.text, counts, also)
    context = masker.text(chunk.context)
    markup = None if chunk.html is None else masker.markup(chunk.html)
    masked = MaskedChunk(
        **chunk.model_dump(exclude={"text", "context", "section", "html", "parent"}),
        text=text,
        context=context,
        section=tuple(masker.text(one) for one in chunk.section),
        html=markup,
        parent=None if chunk.parent is None else masker.text(chunk.parent),
        content_hash=content_hash(context, text, markup),
    )
    found = tuple(
        PiiFinding(chunk=chunk.id, type=kind, count=count, operator=masker.operator(kind))
        for kind, count in sorted(counts.items())
    )
    return masked, found


def _raw_texts(title: str, chunks: Iterable[Chunk]) -> list[str]:
    """Each text once: sections, contexts and parents repeat from chunk to chunk."""
    texts = [title]
    for chunk in chunks:
        texts += [chunk.text, chunk.context, *chunk.section, chunk.parent or ""]
        texts += [html.visible(chunk.html)[0]] if chunk.html else []
    return [text for text in dict.fromkeys(texts) if text.strip()]


def mask_with_vault(
    *,
    title: str,
    uri: str,
    metadata: Mapping[str, str],
    language: str,
    chunks: Sequence[Chunk],
    policy: Mapping[str, MaskOperator],
    settings: MaskSettings,
    key: bytes,
    vault_key: bytes = b"",
) -> tuple[Masked, tuple[Vaulted, ...]]:
    """Everything of a version that may be shown, and the originals of types whose operator is `vault`, sealed with
    `vault_key` (or `key`). Raises Rejected(PII_UNMASKABLE) rather than pass a value on."""
    masker = Masker(policy, settings, key, vault_key)
    masker.learn(_raw_texts(title, chunks))
    for name, value in metadata.items():
        if _PERSON_PROPERTIES.search(name) and plausible(value):
            masker.know(fold(value.strip()).text, "PERSON")
    across = _across(chunks, settings)
    done = [_chunk(chunk, masker, across.get(chunk.id, ())) for chunk in chunks]
    masked = Masked(
        title=masker.text(title),
        uri=masker.path(uri),
        metadata=masker.properties(metadata),
        language=language,
        chunks=tuple(chunk for chunk, _ in done),
        findings=tuple(finding for _, found in done for finding in found),
    )
    return masked, tuple(masker.vault.values())


def mask_path(uri: str, policy: Mapping[str, MaskOperator], settings: MaskSettings, key: bytes) -> str:
    """A file name as people may see it before its document has been read; only its ending where it cannot be masked."""
    try:
        return Masker(policy, settings, key).path(uri)
    except Rejected:
        return f"<NAME>{PurePosixPath(uri).suffix}"


def mask_query(text: str, settings: MaskSettings, key: bytes) -> str:
    """A question as the log keeps it; empty where it cannot be masked."""
    try:
        return Masker({}, settings, key).text(text)
    except Rejected:
        return ""


def try_mask(text: str) -> tuple[str, tuple[Finding, ...]]:
    """Masked text and the findings (type, start, end in the given text), with default settings."""
    masker = Masker({}, MaskSettings(), b"try")
    found = masker.findings(text)
    return masker.text(text), found


def try_chunk(text: str) -> MaskedChunk:
    """A user's own line as a chunk, as it stands: for trying later layers on it; nothing of it is stored."""
    return MaskedChunk(id="try", ordinal=0, kind="text", text=text, content_hash=content_hash("", text, None))
