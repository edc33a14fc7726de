"""What a page is, from its title, path and text as a whole: drafts, templates, navigation, old copies, dumps."""

import re
from collections.abc import Sequence

_DRAFT = re.compile(
    r"(?<![A-Za-z])(?:draft|wip|tbd)(?![A-Za-z])|草稿|初稿|征求意见稿|待完善|未完成|施工中", re.IGNORECASE
)
_UNDONE = re.compile(r"\b(?:TODO|TBD|FIXME|lorem ipsum)\b|待补充|此处填写|内容待定", re.IGNORECASE)
_TEMPLATE = re.compile(r"(?<![A-Za-z])template(?![A-Za-z])|模板|范本|样例|空白表", re.IGNORECASE)
_BLANK = re.compile(
    r"\{\{[^{}\n]{1,40}\}\}|<[\u4e00-\u9fff]{2,12}>"
    r"|[【\[](?:请?填写|请输入|your|insert)[^】\]\n]{0,30}[】\]]|_{4,}|×{2,}|X{3,}"
)
_OUTDATED = re.compile(
    r"(?<![A-Za-z])(?:old|bak|backup|archived?|deprecated|obsolete|copy)(?![A-Za-z])|旧版|历史版本|废止|作废|已归档|备份|副本",
    re.IGNORECASE,
)
_LINK = re.compile(r"\[[^\]\n]*\]\([^)\n]*\)|https?://\S+")
_SCHEMA = re.compile(r"\"?\$ref\"?\s*:|\"?(?:type|format|properties|required|items|enum|schema|example)\"?\s*:")
_PROSE = re.compile(r"[\u4e00-\u9fff]{8,}|(?:[A-Za-z]{2,} ){5,}")


def page_signals(title: str, uri: str, texts: Sequence[str]) -> dict[str, float]:
    """Values 0..1 that hold for every chunk of a version."""
    text = "\n".join(texts)
    lines = [line for line in text.splitlines() if line.strip()] or [""]
    name = f"{title}\n{uri}"
    blanks = len(_BLANK.findall(text)) / len(lines)
    return {
        "draft": max(float(bool(_DRAFT.search(name))), min(1.0, 5 * len(_UNDONE.findall(text)) / len(lines))),
        "template": min(1.0, (0.5 if _TEMPLATE.search(name) else 0.0) + 2 * min(0.5, blanks)),
        "navigation": _navigation(text),
        "outdated": float(bool(_OUTDATED.search(name))),
        "schema_dump": _schema(lines),
    }


def _navigation(text: str) -> float:
    """1 where hardly anything is left without the links."""
    links = _LINK.findall(text)
    if len(links) < 5:
        return 0.0
    left = sum(c.isalnum() for c in _LINK.sub("", text))
    return max(0.0, 1 - left / max(1, sum(c.isalnum() for c in text)) * 2)


def _schema(lines: Sequence[str]) -> float:
    """Share of lines that only declare types, where no prose says what for."""
    if len(lines) < 10 or sum(bool(_PROSE.search(line)) for line in lines) > 0.1 * len(lines):
        return 0.0
    share = sum(bool(_SCHEMA.search(line)) for line in lines) / len(lines)
    return share if share > 0.3 else 0.0
