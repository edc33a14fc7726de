"""What a text looks like, where the parser has called it just text: code, a table, a question with its answer."""

import re

_FENCE = re.compile(r"^\s*(?:```|~~~|\{\{<)", re.MULTILINE)
_CODE_LINE = re.compile(
    r"[;{}]\s*(?://.*|#.*)?$|^\s*(?:def|class|import|from\s+\S+\s+import|return|if|elif|else|for|while|try|except|func|var|let"
    r"|const|public|private|static|package|using|#include|<\?|async|await|fn|end|echo|export|local)\b.*[:;(){}=]"
    r"|^\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|GRANT|SET|EXPLAIN|SHOW|WITH|FROM|WHERE)\b"
    r"|^\s*(?:\$|#|>>>|mysql>|PS>)\s+\S|^\s*(?:sudo|kubectl|docker|git|pip|npm|curl|cd|mkdir|tiup|make|apt|yum)\s+\S"
    r"|^\s*[\w.\-]+\s*(?:=|:=|\+=|==|->)\s*\S|^\s*[\w.]+\([^)]*\)\s*[:;{]?$|^\s*[\"']?[\w\-]+[\"']?\s*:\s*[\[{\"'\d]"
    r"|^\s*</?\w+[^>]*>|^\s*(?://|/\*|\*/|--\s)|^\s*[)\]}]+[,;]?$|^\s*@\w+|^\s*-{1,2}[\w-]+[= ]"
)
_SENTENCE = re.compile(r"[\u4e00-\u9fff]{6,}[^;{}]*[。！？，]|(?:[A-Za-z]+ ){6,}[a-z]+[.,]")
_ROW = re.compile(r"^\s*\|.*\|.*\|\s*$|^[^\t\n]+(?:\t[^\t\n]*){2,}$")
_QUESTION = re.compile(
    r"^\s*(?:Q\d*\s?[:：.、]|问\s?[:：]|[^。！\n]{3,60}[？?]\s*$|(?:如何|怎么|怎样|什么是|为什么|how|what|why|can|where).{2,60}[？?])",
    re.IGNORECASE,
)


def shape(text: str) -> str | None:
    """`code`, `table`, `faq`, or None for prose."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    if len(_FENCE.findall(text)) >= 2:
        return "code"
    coded = sum(bool(_CODE_LINE.search(line)) and not _SENTENCE.search(line) for line in lines)
    if len(lines) >= 2 and coded >= 0.5 * len(lines):
        return "code"
    rows = sum(bool(_ROW.match(line)) for line in lines)
    if rows >= 3 and rows >= 0.7 * len(lines) and any(c.isalpha() for c in lines[0]):
        return "table"
    answered = len(lines) >= 2 or bool(re.search(r"[？?].{4,}", lines[0])) or "答" in text
    return "faq" if _QUESTION.match(lines[0]) and answered and not _links(text) else None


def _links(text: str) -> bool:
    """A list of questions that are links is navigation."""
    return text.count("](") >= 2
