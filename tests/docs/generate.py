"""The README's reference tables, made from the code: `make docs` writes them between their markers."""

import itertools
import re
import sys
from pathlib import Path
from typing import Any

import typer
from pydantic import BaseModel, SecretStr

from pipelines.cli import app
from pipelines.errors import Code
from pipelines.settings import Settings

README = Path(__file__).parents[2] / "README.md"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def codes() -> str:
    return _table(("code", "meaning"), [(f"`{one.value}`", one.description) for one in Code])


def command_tree() -> dict[str, Any]:
    """Full command name to its click command."""
    found: dict[str, Any] = {}

    def walk(command: Any, name: str) -> None:
        for child in getattr(command, "commands", {}).values():
            walk(child, f"{name} {child.name}")
        if not hasattr(command, "commands"):
            found[name] = command

    walk(typer.main.get_command(app), "sluice")
    return found


def _usage(name: str, command: Any) -> str:
    words = [name]
    for one in command.params:
        if one.name == "json_" or "--help" in one.opts:
            continue
        if one.param_type_name == "argument":
            word = (one.name or "").upper() + ("…" if one.nargs != 1 else "")
            words.append(word if one.required else f"[{word}]")
        else:
            words.append(f"[{one.opts[0]}]" if not one.required else one.opts[0])
    return f"`{' '.join(words)}`"


def commands() -> str:
    rows = [(_usage(name, one), (one.help or "").split("\n\n")[0]) for name, one in sorted(command_tree().items())]
    return _table(("command", "does"), rows)


def _docstrings(model: type[BaseModel]) -> dict[str, str]:
    """The string under each field, as pydantic reads it with `use_attribute_docstrings`."""
    import ast
    import inspect
    import textwrap

    body = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0].body  # type: ignore[attr-defined]
    found = {}
    for line, after in itertools.pairwise(body):
        if isinstance(line, ast.AnnAssign) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            found[line.target.id] = str(after.value.value)  # type: ignore[union-attr]
    return found


def _settings(model: type[BaseModel], prefix: str) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    texts = _docstrings(model)
    for name, field in model.model_fields.items():
        default = field.get_default(call_default_factory=True, validated_data={})
        if isinstance(default, BaseModel):
            rows += _settings(type(default), f"{prefix}{name.upper()}__")
            continue
        shown = "" if isinstance(default, SecretStr) or default in ("", None, (), {}) else f"`{default}`"
        rows.append((f"`{prefix}{name.upper()}`", shown, texts.get(name, "")))
    return rows


def settings() -> str:
    return _table(("variable", "default", "meaning"), _settings(Settings, "SLUICE_"))


SECTIONS = {"commands": commands, "codes": codes, "settings": settings}


def filled(text: str) -> str:
    """The README with each section between `<!-- NAME -->` and `<!-- /NAME -->` made anew."""
    for name, make in SECTIONS.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        if not pattern.search(text):
            raise SystemExit(f"README.md has no section {name}")
        made = make()
        text = pattern.sub(lambda found, made=made: f"{found[1]}{made}\n{found[2]}", text)  # type: ignore[misc]
    return text


if __name__ == "__main__":
    README.write_text(filled(README.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"{README.name} is up to date\n")
