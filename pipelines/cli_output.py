"""How a result is shown: one JSON object, or lines for a person."""

import json
import sys
from typing import Any


def emit(result: dict[str, Any], as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(result, ensure_ascii=False, default=str) + "\n")
        return
    from rich import print as show
    from rich.markup import escape

    for key, value in result.items():
        if key == "schema":
            continue
        if isinstance(value, list | tuple):
            show(f"[bold]{escape(key)}[/bold] ({len(value)})")
            for one in value:
                show("  " + escape(_line(one)))
        else:
            show(f"[bold]{escape(key)}[/bold] {escape(_line(value))}")


def _line(value: Any) -> str:
    if isinstance(value, dict):
        return "  ".join(f"{key}={_line(one)}" for key, one in value.items())
    return str(value).replace("\n", " ")
