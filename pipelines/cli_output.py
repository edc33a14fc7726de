"""How a command ends: its result as one JSON object, or as lines and tables for a person; or a code and a reason."""

import json
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pipelines.errors import Code, SluiceError

COLUMNS = 8
"""A table with more columns than this is read by nobody; the rest is in `--json`."""


def emit(result: dict[str, Any], as_json: bool) -> None:
    """`result` on standard output: as one JSON object, or for a person."""
    if as_json:
        sys.stdout.write(json.dumps(result, ensure_ascii=False, default=str) + "\n")
        sys.stdout.flush()
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


class _Signalled(BaseException):
    """Asked to end from outside: it passes every `except Exception`, and transactions are undone."""


@contextmanager
def explained() -> Iterator[None]:
    """No command of ours ends badly without a word: exit 1 with `code: reason` as the last line on standard error.

    A defect shows where it happened, but not the message of the exception: it may quote a document.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # under nohup a hang-up stays ignored
            signal.signal(number, _raise)
    try:
        yield
    except SluiceError as error:
        _end(error.code, error.reason)
    except _Signalled as error:
        _end(Code.INTERRUPTED, f"ended by {error}; run it again to go on")
    except Exception as error:
        sys.stderr.writelines(traceback.format_tb(error.__traceback__))
        _end(Code.INTERNAL, f"{type(error).__name__} at the place above; please report it")


def _raise(number: int, _frame: Any) -> None:
    raise _Signalled(signal.Signals(number).name)


def _end(code: Code, reason: str) -> None:
    sys.stderr.write(f"{code.value}: {reason}\n")
    raise SystemExit(1) from None


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
