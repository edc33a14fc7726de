"""However a command ends, it says so."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.cli_output import explained
from pipelines.errors import Code, Conflict, SluiceError

ROOT = Path(__file__).resolve().parents[2]
WAITING = """
import time, typer
from pipelines.cli_output import explained
app = typer.Typer()
@app.command()
def wait():
    try:
        print("ready", flush=True)
        time.sleep(30)
    except Exception:
        print("swallowed")
with explained():
    app()
"""


@pytest.fixture(autouse=True)
def _handlers():
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.mark.parametrize(
    ("error", "last"),
    [
        (Conflict(Code.LOCKED, "another run holds it"), "system.locked: another run holds it"),
        (SluiceError(Code.SYSTEMIC, "too many"), "system.systemic: too many"),
        (KeyError("a secret of the document"), "internal.error: KeyError at the place above; please report it"),
    ],
)
def test_an_error_is_its_code_and_its_reason_and_quotes_no_document(error, last, capsys) -> None:
    with pytest.raises(SystemExit) as ended, explained():
        raise error
    said = capsys.readouterr()
    assert (ended.value.code, said.out, said.err.splitlines()[-1]) == (1, "", last)
    assert "secret" not in said.err
    assert ("test_cli_output.py" in said.err) == isinstance(error, KeyError)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_command_with_a_word(number: signal.Signals) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", WAITING]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as ran:
        assert ran.stdout is not None and ran.stdout.readline() == "ready\n"
        ran.send_signal(number)
        out, err = ran.communicate(timeout=30)
    assert (ran.returncode, out) == (1, "")
    assert err == f"system.interrupted: ended by {number.name}; run it again to go on\n"
