"""README, `--help` and the JSON Schemas say what the code does."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pipelines.cli import app
from schemas import export
from tests.docs import generate

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(?:bash|sh)\n(.*?)```", README, re.DOTALL)
LINES = [line.split("  #")[0].strip() for block in BLOCKS for line in block.splitlines()]
SLUICE = sorted({line for line in LINES if line.startswith("sluice ")})
MAKE = sorted({word for line in LINES if line.startswith("make ") for word in re.findall(r"make ([a-z-]+)", line)})


def test_the_reference_tables_are_those_of_the_code():
    assert generate.filled(README) == README, "run `make docs`"


def test_the_json_schemas_are_those_of_the_records():
    assert {path.name: path.read_text(encoding="utf-8") for path in export.FOLDER.iterdir()} == export.texts()


@pytest.mark.parametrize("line", SLUICE)
def test_each_command_of_the_readme_exists_with_its_options(line):
    words = shlex.split(line)[1:]
    tree = generate.command_tree()
    name = next(name for name in (f"sluice {' '.join(words[:2])}", f"sluice {words[0]}") if name in tree)
    known = {option for one in tree[name].params for option in one.opts}
    assert {word for word in words if word.startswith("--")} <= known | {"--help"}


@pytest.mark.parametrize("target", MAKE)
def test_each_make_target_of_the_readme_exists(target):
    assert re.search(rf"^{target}:.*## ", MAKEFILE, re.MULTILINE)


def test_make_help_lists_each_target():
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for target in re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.MULTILINE):
        assert f"make {target}" in shown


@pytest.mark.parametrize("name", sorted(generate.command_tree()))
def test_each_command_explains_itself(name):
    shown = CliRunner().invoke(app, [*name.split()[1:], "--help"])
    assert shown.exit_code == 0
    assert (generate.command_tree()[name].help or "").split()[0] in shown.output


def test_each_command_speaks_json():
    speechless = {name for name, one in generate.command_tree().items() if not _has_json(one)}
    assert {name for name in speechless if not name.startswith("sluice try")} == set()


def _has_json(command):
    return any("--json" in one.opts for one in command.params)


def test_an_unknown_option_is_a_usage_error_with_exit_two():
    done = CliRunner().invoke(app, ["status", "--no-such-option"])
    assert done.exit_code == 2


def test_each_file_that_the_readme_names_is_there():
    for path in set(re.findall(r"\]\(([^)#:]+)\)", README)):
        assert (ROOT / path).exists(), path


def test_the_module_runs_as_a_command():
    done = subprocess.run([sys.executable, "-m", "pipelines.cli", "--help"], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0
    assert "front door" in done.stdout
