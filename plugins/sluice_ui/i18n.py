"""Two languages. The English text is the key; `locale/zh.json` holds the Chinese of each."""

import json
import re
import time
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from starlette.requests import Request

from pipelines.errors import Code

LANGUAGES = {"en": "English", "zh": "中文"}
COOKIE = "sluice_language"


@cache
def _texts(language: str) -> dict[str, str]:
    path = Path(__file__).parent / "locale" / f"{language}.json"
    found: dict[str, str] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def language_of(request: Request) -> str:
    """The reader's choice, else the first of the browser's languages that we have."""
    if (chosen := request.cookies.get(COOKIE)) in LANGUAGES:
        return str(chosen)
    weighed = []
    for place, part in enumerate(request.headers.get("accept-language", "").split(",")):
        tag, _, weight = part.strip().partition(";q=")
        try:
            weighed.append((-float(weight or 1), place, tag.lower()[:2]))
        except ValueError:
            continue
    return next((tag for _, _, tag in sorted(weighed) if tag in LANGUAGES), "en")


class Translator:
    """Texts, names of codes, and times, in one language."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._known = _texts(language)

    def text(self, text: str, **values: Any) -> str:
        """A sentence with `{name}` places."""
        found = self._known.get(text, text)
        return found.format(**values) if values else found

    def count(self, one: str, many: str, n: int, **values: Any) -> str:
        return self.text(one if n == 1 else many, n=f"{n:,}", **values)

    def name(self, word: str | None) -> str:
        """A stored word (state, risk, change, …) as a person reads it."""
        if not word:
            return "–"
        return self._known.get(word, word.replace("_", " "))

    def describe(self, code: str) -> str:
        """What an error code means."""
        return next((self.text(one.description) for one in Code if one.value == code), "")

    def why(self, code: str, reason: str) -> str:
        """A rejection's reason; where the pages speak another language than it, what its code means comes first."""
        described = next((one.description for one in Code if one.value == code), "")
        if self.language == "en" or not described:
            return reason
        same = described.rstrip(".").casefold() == reason.rstrip(".").casefold()
        return self.text(described) if same else f"{self.text(described)} {reason}"

    def said(self, reason: str) -> str:
        """A reason of the audit: a person's is shown as it is, what the machine notes is known in both languages."""
        code, _, rest = reason.partition(": ")
        if any(one.value == code for one in Code):
            return f"{code}: {self.why(code, rest)}"
        numbers = re.findall(r"\d+", reason)
        known = self._known.get(re.sub(r"\d+", "{n}", reason))
        return known.format(n=numbers[0] if numbers else "") if known and len(numbers) < 2 else reason

    def ago(self, at: float | None) -> str:
        if at is None:
            return self.text("never")
        seconds = max(0, int(time.time() - at))
        for size, unit in ((86400, "{n} d"), (3600, "{n} h"), (60, "{n} min")):
            if seconds >= size:
                return self.text(f"{unit} ago", n=seconds // size)
        return self.text("just now")


def when(at: float | None) -> str:
    """UTC, to the second."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if at else ""
