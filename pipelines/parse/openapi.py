"""OpenAPI 2 and 3: each operation is one block, so that a question about a call finds all of it."""

from collections.abc import Iterator
from typing import Any

from schemas.document import Block

ENGINE = "openapi"
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


def is_openapi(value: Any) -> bool:
    return (
        isinstance(value, dict) and ("openapi" in value or "swagger" in value) and isinstance(value.get("paths"), dict)
    )


def operations(api: dict[str, Any]) -> Iterator[Block]:
    """The description, the operations under the heading of their first tag, then the schemas."""
    info = _mapping(api.get("info"))
    if text := str(info.get("description") or "").strip():
        yield Block(kind="text", text=text, engine=ENGINE)
    by_tag: dict[str, list[Block]] = {}
    for path, item in api["paths"].items():
        common = _items(_mapping(item).get("parameters"))
        for method, operation in _mapping(item).items():
            if method in METHODS and isinstance(operation, dict):
                tag = str(next(iter(_items(operation.get("tags"))), ""))
                by_tag.setdefault(tag, []).append(_operation(api, method, str(path), operation, common))
    for tag, blocks in by_tag.items():
        if tag:
            yield Block(kind="heading", text=tag, level=2, engine=ENGINE)
        yield from blocks
    schemas = _mapping(_mapping(api.get("components")).get("schemas")) or _mapping(api.get("definitions"))
    if schemas:
        yield Block(kind="heading", text="Schemas", level=2, engine=ENGINE)
    for name, schema in schemas.items():
        yield Block(kind="api", text="\n".join([f"Schema {name}", *_fields(_mapping(schema))]), engine=ENGINE)


def _operation(api: dict[str, Any], method: str, path: str, operation: dict[str, Any], common: list[Any]) -> Block:
    lines = [f"{method.upper()} {path}"]
    lines += [str(operation[key]).strip() for key in ("summary", "description") if operation.get(key)]
    if operation.get("deprecated"):
        lines.append("Deprecated.")
    parameters = [_resolved(api, one) for one in [*common, *_items(operation.get("parameters"))]]
    if parameters:
        lines += ["Parameters:", *(_parameter(one) for one in parameters)]
    if body := _resolved(api, operation.get("requestBody")):
        lines += ["Request body:", *(f"- {media}: {kind}" for media, kind in _content(body))]
    if responses := _mapping(operation.get("responses")):
        lines += ["Responses:", *(_response(str(status), _resolved(api, one)) for status, one in responses.items())]
    return Block(
        kind="api", text="\n".join(lines), caption=str(operation.get("operationId") or "") or None, engine=ENGINE
    )


def _parameter(one: dict[str, Any]) -> str:
    facts = [
        str(one.get("in", "")),
        _type(_mapping(one.get("schema")) or one),
        "required" if one.get("required") else "",
    ]
    said = f": {' '.join(str(one['description']).split())}" if one.get("description") else ""
    return f"- {one.get('name', '')} ({', '.join(filter(None, facts))}){said}"


def _response(status: str, one: dict[str, Any]) -> str:
    kinds = ", ".join(f"{media} {kind}" for media, kind in _content(one)) or _type(_mapping(one.get("schema")))
    said = " ".join(str(one.get("description") or "").split())
    return f"- {status}: {said}" + (f" ({kinds})" if kinds else "")


def _content(one: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (str(media), _type(_mapping(_mapping(kind).get("schema"))))
        for media, kind in _mapping(one.get("content")).items()
    ]


def _type(schema: dict[str, Any]) -> str:
    if reference := schema.get("$ref"):
        return str(reference).rsplit("/", 1)[-1]
    kind = str(schema.get("type") or "")
    if kind == "array":
        return f"array of {_type(_mapping(schema.get('items'))) or 'any'}"
    values = _items(schema.get("enum"))
    return f"{kind} of {'|'.join(map(str, values[:20]))}" if values else kind


def _fields(schema: dict[str, Any]) -> Iterator[str]:
    if said := schema.get("description"):
        yield str(said).strip()
    required = _items(schema.get("required"))
    for name, field in _mapping(schema.get("properties")).items():
        facts = ", ".join(filter(None, (_type(_mapping(field)), "required" if name in required else "")))
        said = " ".join(str(_mapping(field).get("description") or "").split())
        yield f"- {name} ({facts})" + (f": {said}" if said else "")


def _resolved(api: dict[str, Any], value: Any) -> dict[str, Any]:
    """One step along a local reference: operations refer to shared parameters and responses."""
    given = _mapping(value)
    reference = given.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return given
    target: Any = api
    for part in reference[2:].split("/"):
        target = _mapping(target).get(part.replace("~1", "/").replace("~0", "~"))
    found: dict[str, Any] = _mapping(target)
    return found or {"name": reference.rsplit("/", 1)[-1]}


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
