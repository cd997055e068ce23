"""What people see while loops are compiled."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity._kernels.compiling import COMPILING, tell_of_compiling
from ldiversity.base.progress import watched
from ldiversity.faces.cli._progress import compiling_notice, progress_bar

IN_PYTHON = """
import sys
import ldiversity as ld
told = []
for _ in range(2):
    told.append([])
    ld.anonymize(
        ld.datasets.patients(60, seed=1), quasi="age", drop=["sex", "zip"], sensitive="disease", method=ld.Anatomy(l=2),
        progress=lambda share, what: told[-1].append(what),
    )
print(told[0])
print(told[1])
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal for the errors of this test; a fixture would be too early, as pytest takes them itself then."""
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setenv("TERM", "xterm")
    return shown


def test_the_bar_says_that_loops_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    with progress_bar() as progress, watched(progress):
        tell_of_compiling(begins=True)

    assert COMPILING in screen.getvalue()


def test_a_command_without_a_bar_says_it_and_takes_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    with compiling_notice():
        tell_of_compiling(begins=True)
        assert screen.getvalue().endswith(f"{COMPILING}\r")
        tell_of_compiling(begins=False)

    assert screen.getvalue().endswith(f"{' ' * len(COMPILING)}\r")


def test_a_bar_is_not_written_over(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    told: list[str] = []
    with compiling_notice(), watched(lambda _, what: told.append(what)):
        tell_of_compiling(begins=True)

    assert told == ["reading", COMPILING]
    assert not screen.getvalue()


def test_a_file_sees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)

    with compiling_notice():
        tell_of_compiling(begins=True)

    assert not shown.getvalue()


def test_nobody_is_told_afterwards() -> None:
    told: list[str] = []
    with watched(lambda _, what: told.append(what)):
        pass

    tell_of_compiling(begins=True)

    assert told == ["reading"]


def test_progress_is_told_of_compiling_at_the_first_use_alone(tmp_path: Path) -> None:
    # Without optimizing, which is half of the work. That a later process compiles nothing, test_first_use.py shows.
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_OPT": "0"}
    run = [sys.executable, "-c", IN_PYTHON]
    done = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)

    first, again = done.stdout.splitlines()
    assert COMPILING in first
    assert COMPILING not in again


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_sees_that_estimating_compiles(people: pa.Table, tmp_path: Path) -> None:
    import pty

    method = ld.RandomizedAddition(l=2)
    ld.anonymize(people, quasi="age", sensitive="disease", drop="name", method=method, output=tmp_path / "release")
    ours, theirs = pty.openpty()
    subprocess.run(
        [sys.executable, "-c", "from ldiversity.faces.cli import main; main()", "estimate", str(tmp_path / "release")],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_OPT": "0"},
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        check=True,
    )
    os.close(theirs)

    assert COMPILING.encode() in os.read(ours, 10_000)
    os.close(ours)
