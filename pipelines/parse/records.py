"""JSON, JSON lines and YAML: API descriptions as operations, lists of records as tables, the rest by its keys."""

import json
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from pipelines.errors import Code, Rejected
from pipelines.parse.formats import build
from pipelines.parse.openapi import is_openapi, operations
from pipelines.parse.settings import ParseSettings
from pipelines.parse.sheets import row_groups
from pipelines.parse.text import read_text
from schemas.document import Block, Document

ENGINE = "records"
MAX_VALUES = 1_000_000
"""Aliases make a small YAML file stand for more values than there are atoms."""
FLAT = (str, int, float, bool, type(None))


def parse_json(path: Path, *, name: str, settings: ParseSettings) -> Document:
    """Raises Rejected(PARSE_CORRUPT | PARSE_BOMB | PARSE_NO_TEXT), as the others."""
    decoded = read_text(path, settings)
    try:
        value = json.loads(decoded.text, parse_float=str)
    except (ValueError, RecursionError) as error:
        raise Rejected(Code.PARSE_CORRUPT, f"not JSON: {error}"[:200]) from error
    return _document(value, name, "application/json", decoded.encoding)


def parse_json_lines(path: Path, *, name: str, settings: ParseSettings) -> Document:
    decoded = read_text(path, settings)
    values = []
    for number, line in enumerate(decoded.text.splitlines(), start=1):
        try:
            values += [json.loads(line, parse_float=str)] if line.strip() else []
        except (ValueError, RecursionError) as error:
            raise Rejected(Code.PARSE_CORRUPT, f"line {number} is not JSON: {error}"[:200]) from error
    return _document(values, name, "application/x-ndjson", decoded.encoding)


def parse_yaml(path: Path, *, name: str, settings: ParseSettings) -> Document:
    """An API description as its operations; any other file as it is written, for people comment their YAML."""
    import yaml

    decoded = read_text(path, settings)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        value = yaml.load(decoded.text, Loader=loader)
    except (yaml.YAMLError, ValueError, RecursionError):
        value = None  # several documents, templates
    if is_openapi(value):
        return _document(value, name, "application/yaml", decoded.encoding)
    blocks = [Block(kind="code", text=part, engine=ENGINE) for part in decoded.text.split("\n\n") if part.strip()]
    return build(blocks, name=name, media_type="application/yaml", encoding=decoded.encoding)


def _document(value: Any, name: str, media_type: str, encoding: str | None) -> Document:
    _refuse_bomb(value)
    if is_openapi(value):
        info = value.get("info") if isinstance(value.get("info"), dict) else {}
        facts = {key: str(info[key]) for key in ("version",) if info.get(key)}
        blocks = list(operations(value))
        title = str(info.get("title") or "")
        return build(blocks, name=name, media_type=media_type, title=title, encoding=encoding, metadata=facts)
    title = _name(value) or PurePosixPath(name).stem
    return build(list(_blocks(value, 1)), name=name, media_type=media_type, title=title, encoding=encoding)


def _refuse_bomb(value: Any) -> None:
    stack, seen = [value], 0
    while stack:
        one = stack.pop()
        seen += 1
        if seen > MAX_VALUES:
            raise Rejected(Code.PARSE_BOMB, f"more than {MAX_VALUES} values")
        stack += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()


def _blocks(value: Any, level: int) -> Iterator[Block]:
    """A mapping's flat values as one list, each of its other values under a heading of its own."""
    if isinstance(value, list):
        yield from _table(value) if _is_table(value) else _items(value, level)
        return
    if not isinstance(value, dict):
        yield Block(kind="text", text=_shown(value), engine=ENGINE)
        return
    flat = [f"- {key}: {_shown(one)}" for key, one in value.items() if _is_flat(one)]
    if flat:
        yield Block(kind="list", text="\n".join(flat), engine=ENGINE)
    for key, one in value.items():
        if not _is_flat(one):
            yield Block(kind="heading", text=str(key), level=min(6, level), engine=ENGINE)
            yield from _lines(one) if level >= 6 else _blocks(one, level + 1)


def _items(values: list[Any], level: int) -> Iterator[Block]:
    for number, one in enumerate(values, start=1):
        if isinstance(one, FLAT):
            yield Block(kind="text", text=_shown(one), engine=ENGINE)
            continue
        yield Block(kind="heading", text=_name(one) or str(number), level=min(6, level), engine=ENGINE)
        yield from _lines(one) if level >= 6 else _blocks(one, level + 1)


def _lines(value: Any) -> Iterator[Block]:
    yield Block(kind="code", text=json.dumps(value, ensure_ascii=False, indent=1, default=str), engine=ENGINE)


def _is_flat(value: Any) -> bool:
    return isinstance(value, FLAT) or (isinstance(value, list) and all(isinstance(one, FLAT) for one in value))


def _is_table(values: list[Any]) -> bool:
    """Two records or more, of flat values, that share most of their keys."""
    if len(values) < 2 or not all(isinstance(one, dict) and all(map(_is_flat, one.values())) for one in values):
        return False
    keys = {key for one in values for key in one}
    return sum(map(len, values)) >= 0.5 * len(keys) * len(values)


def _table(values: list[dict[str, Any]]) -> Iterator[Block]:
    keys = list(dict.fromkeys(key for one in values for key in one))
    rows = ([_shown(one.get(key, "")) for key in keys] for one in values)
    yield from row_groups(rows, None, head=[str(key) for key in keys])


def _name(value: Any) -> str:
    found = (value.get(key) for key in ("title", "name", "标题", "名称", "id")) if isinstance(value, dict) else ()
    return next((str(one)[:80] for one in found if isinstance(one, str | int) and str(one).strip()), "")


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
