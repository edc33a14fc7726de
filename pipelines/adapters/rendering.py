"""A record (a row, an item of an API) as a document that the parsers read."""

import html
import re
from collections.abc import Mapping

from schemas.origin import TextFormat

ENDINGS: dict[TextFormat, str] = {"text": ".html", "markdown": ".md", "html": ".html"}
"""What the uri of a rendered record ends in."""

_PAGE = re.compile(r"\s*<(?:!doctype|html)\b", re.I)


def render(title: str, facts: Mapping[str, str], body: str, form: TextFormat) -> bytes:
    """The title as a heading, the facts as a list, then the body as it is; a whole HTML page stays as it is."""
    if form == "html" and _PAGE.match(body):
        return body.encode("utf-8", "replace")
    title = " ".join(title.split())
    told = {name: " ".join(value.split()) for name, value in facts.items() if value.strip()}
    make = _markdown if form == "markdown" else _html
    return make(title, told, body if form != "text" else _paragraphs(body)).encode("utf-8", "replace")


def _html(title: str, facts: Mapping[str, str], body: str) -> str:
    head = html.escape(title)
    lines = "".join(f"<li>{html.escape(name)}: {html.escape(value)}</li>\n" for name, value in facts.items())
    parts = [f"<h1>{head}</h1>" if title else "", f"<ul>\n{lines}</ul>" if lines else "", body]
    whole = "\n".join(part for part in parts if part)
    start = f'<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>{head}</title></head>'
    return f"{start}\n<body>\n{whole}\n</body></html>\n"


def _paragraphs(text: str) -> str:
    parts = (part.strip() for part in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n")))
    return "\n".join("<p>" + html.escape(part).replace("\n", "<br>\n") + "</p>" for part in parts if part)


def _markdown(title: str, facts: Mapping[str, str], body: str) -> str:
    lines = "\n".join(f"- {_escaped(name)}: {_escaped(value)}" for name, value in facts.items())
    return "\n\n".join(part for part in (f"# {_escaped(title)}" if title else "", lines, body) if part) + "\n"


def _escaped(text: str) -> str:
    """CommonMark 2.4: a backslash before punctuation makes it plain."""
    return re.sub(r"([\\`*_\[\]<>#|~&])", r"\\\1", text)
