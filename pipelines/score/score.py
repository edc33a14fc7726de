"""A weighted quality score with named signals: every verdict shows its reasons."""

import re
import zlib
from collections.abc import Mapping
from types import MappingProxyType

from pipelines.score.noise import mojibake, rare, scanned
from pipelines.score.settings import ScoreSettings
from pipelines.score.shadow import band_of
from pipelines.score.shape import shape
from schemas.chunk import MaskedChunk
from schemas.facts import QualityScore, Signal

NO_PAGE: Mapping[str, float] = MappingProxyType({})

_BASE = 0.6
_CONTENTS = re.compile(r"(\.{3,}|…{2,}|·{3,}|(?:\. ){3,}|_{4,})\s*\d*\s*$|^.{2,60}[\s\t]{2,}\d{1,4}$")
_CONTENTS_TITLE = re.compile(r"^\s*(?:目\s*[录錄次]|table of contents|contents)\s*$", re.IGNORECASE)
_HEADING = re.compile(
    r"^\s*(?:第\s*[一二三四五六七八九十百零〇\d]+\s*[章节節编編篇部卷]|附\s*[则則录錄件]|\d+(?:\.\d+){0,3}\.?\s+[^\d\s]"
    r"|[一二三四五六七八九十]+、|(?:chapter|part|section|appendix)\s+[\dIVXA-Z]+\b)[^。！？；!?;|]{0,50}$",
    re.IGNORECASE,
)
_PAGED = re.compile(r"^\s*[^\W\d][^。！？；：!?;:|=]{1,50}?\s\s*\(?(\d{1,4})\)?\s*$")
_REFERENCE = re.compile(r"^\s*(\[\d+\]|［\d+］|\(\d+\)\s.*\d{4})|\[[JMDCNSR]\]|doi:|et al\.", re.IGNORECASE)
_LINK = re.compile(r"https?://\S+|<[^>]{1,200}>|\]\([^)]*\)|\{\{[^}]*\}\}")
_FUNCTION = re.compile(
    r"[的了是在和与对为将由以及或等其中被把]|\b(?:the|of|and|to|in|is|a|for|that|with|on|are|be|as)\b", re.I
)
_FORM = re.compile(r"[□☑√✓]|适用|_{3,}|不适用")
_INJECTION = re.compile(
    r"(ignore|disregard|forget)\s+(all\s+|any\s+|the\s+|your\s+)*(previous|prior|above|earlier)\s+"
    r"(instructions?|prompts?|rules|messages?)|(忽略|无视|忘记|不要理会)[^。\n]{0,8}(以上|之前|先前|上面|此前|前面)[^。\n]{0,8}"
    r"(指令|指示|提示|要求|规则|内容)|system\s+prompt|系统提示词|you are now (a|an|in)\b|<\|im_start\|>|\[/?INST\]",
    re.IGNORECASE,
)
_WEIGHTS = {
    "contents": -1.2,
    "garble": -3.0,
    "rare_characters": -1.5,
    "scan_noise": -1.0,
    "number_grid": -0.5,
    "form": -0.5,
    "references": -0.6,
    "links": -0.5,
    "repetition": -0.7,
    "sentences": 0.2,
    "function_words": 0.2,
    "structure": 0.5,
    "authority": 0.1,
    "injection": 0.0,
    "draft": -0.3,
    "template": -0.3,
    "navigation": -0.5,
    "outdated": -0.2,
    "schema_dump": -0.5,
}
_AUTHORITY = {"L1": 1.0, "L2": 0.7, "L3": 0.4, "L4": 0.0}


def score_chunk(
    chunk: MaskedChunk, *, authority: str, settings: ScoreSettings, page: Mapping[str, float] = NO_PAGE
) -> QualityScore:
    """Score 0..1 and its signals. `authority`: L1..L4. Sound FAQ, code and tables always reach the index.

    `page`: signals of the whole version (`page_signals`). Rules on trial are written beside and change nothing.
    """
    values = _values(chunk) | {"authority": _AUTHORITY.get(authority, 0.0), **page}
    acting = {name: value for name, value in values.items() if name not in settings.trial}
    total = _BASE + sum(_WEIGHTS[name] * value for name, value in acting.items())
    damaged = values["garble"] > 0.1 or values["contents"] >= 0.5 or values["scan_noise"] >= 0.3
    if values["structure"] and not damaged:
        total = max(total, settings.index_from)
    score = min(1.0, max(0.0, total)) if chunk.text.strip() else 0.0
    signals = [Signal(name=name, value=value, weight=_WEIGHTS[name]) for name, value in values.items()]
    return QualityScore(
        chunk=chunk.id,
        score=score,
        band=band_of(score, settings),
        signals=tuple(one for one in signals if one.name in acting),
        shadow=tuple(one for one in signals if one.name not in acting),
    )


def injection_signal(text: str) -> float:
    """1 where the text speaks to a language model, else 0."""
    return float(_INJECTION.search(text) is not None)


def _values(chunk: MaskedChunk) -> dict[str, float]:
    text = chunk.text
    lines = [line for line in text.splitlines() if line.strip()] or [""]
    letters = max(1, sum(c.isalnum() for c in text))
    structure = chunk.kind in ("code", "table", "faq", "api") or shape(text) is not None
    data = text.encode("utf-8", "replace")
    packed = len(zlib.compress(data)) / max(1, len(data))
    repeated = 1 - len(set(lines)) / len(lines)
    return {
        "contents": 0.0 if structure else _contents(lines),
        "garble": mojibake(text, letters),
        "rare_characters": rare(text),
        "scan_noise": scanned(text),
        "number_grid": 0.0 if structure else _digits(lines),
        "form": min(1.0, 10 * len(_FORM.findall(text)) / letters),
        "references": sum(bool(_REFERENCE.search(line)) for line in lines) / len(lines),
        "links": min(1.0, sum(len(m) for m in _LINK.findall(text)) / max(1, len(text))),
        "repetition": max(repeated, 1.0 if len(data) > 200 and packed < 0.15 else 0.0),
        "sentences": sum(line.rstrip().endswith(tuple("。！？；.!?;:：”)）")) for line in lines) / len(lines),
        "function_words": min(1.0, 15 * len(_FUNCTION.findall(text)) / letters),
        "structure": float(structure),
        "injection": injection_signal(text),
    }


def _contents(lines: list[str]) -> float:
    """Share of lines of a table of contents: leaders, headings under headings, or rising page numbers."""
    leaders = [bool(_CONTENTS.search(line)) for line in lines]
    if len(lines) == 1:
        return float(leaders[0] and bool(re.search(r"\.{3,}|…{2,}", lines[0])))
    titled = any(_CONTENTS_TITLE.match(line) for line in lines[:3])
    headings = [bool(_HEADING.match(line) or _CONTENTS_TITLE.match(line)) for line in lines]
    paged = [(i, int(m[1])) for i, line in enumerate(lines) if (m := _PAGED.match(line) or _heading_page(line))]
    pages = [page for _, page in paged]
    rising = len(pages) >= 3 and pages == sorted(pages) and pages[0] < pages[-1]
    numbered = {i for i, _ in paged} if rising else set()
    # Headings in a row say nothing alone, unless a title or page numbers make them a list of contents.
    chapters = titled or rising or (sum(headings) >= 4 and _chapters(lines) >= 0.8)
    found = [leaders[i] or i in numbered or (chapters and headings[i]) for i in range(len(lines))]
    return sum(found) / len(lines)


def _heading_page(line: str) -> re.Match[str] | None:
    """The page number at the end of a numbered heading, set apart or not."""
    return re.search(r"\D(\d{1,4})\s*$", line) if _HEADING.match(line) else None


def _chapters(lines: list[str]) -> float:
    """Share of lines that are headings of chapters or sections and nothing else."""
    return sum(
        bool(re.match(r"\s*第\s*\S{1,4}\s*[章节節编編篇部卷]|\s*chapter\s", line, re.I)) for line in lines
    ) / len(lines)


def _digits(lines: list[str]) -> float:
    """Share of lines that hold numbers and hardly a letter."""
    return sum(bool(re.fullmatch(r"[\d\s.,%()（）\-—/|:]+", line)) for line in lines) / len(lines)
