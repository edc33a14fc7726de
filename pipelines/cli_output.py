"""How a result is shown: one JSON object, or lines and tables for a person."""

import json
import sys
from collections.abc import Sequence
from typing import Any

COLUMNS = 8
"""A table with more columns than this is read by nobody; the rest is in `--json`."""


def emit(result: dict[str, Any], as_json: bool) -> None:
    """`result` on standard output: as one JSON object, or for a person."""
    if as_json:
        sys.stdout.write(json.dumps(result, ensure_ascii=False, default=str) + "\n")
        return
    from rich.console import Console
    from rich.markup import escape

    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    tables: list[tuple[str, Any]] = []
    for key, value in result.items():
        if key == "schema":
            continue
        if isinstance(value, list | tuple) and any(isinstance(one, dict) for one in value):
            tables.append((key, value))
            console.print(f"[bold]{escape(key)}[/bold]  {len(value)}")
        else:
            console.print(f"[bold]{escape(key)}[/bold]  {escape(_line(value))}")
    for key, rows in tables:
        console.print(_table(key, rows), soft_wrap=False)


def _table(title: str, rows: Sequence[dict[str, Any]]) -> Any:
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    columns = list(dict.fromkeys(key for row in rows for key in row))[:COLUMNS]
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(escape(_line(row.get(column))) for column in columns))
    return table


def _line(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, dict):
        return "  ".join(f"{key}={_line(one)}" for key, one in value.items()) or "-"
    if isinstance(value, list | tuple):
        return ", ".join(map(_line, value)) or "-"
    return str(value).replace("\n", " ")
