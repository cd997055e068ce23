"""The guide "collect" shows what its commands print: a survey goes from its file to a release, with a real server."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from ldiversity.collection.device import Device
from ldiversity.faces.cli import cli

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "guides" / "collect.md").read_text(encoding="utf-8")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
USUAL = "http://127.0.0.1:8000"
MAIN = "from ldiversity.faces.cli import main; main()"
OTHERS = 600


def steps() -> Iterator[tuple[str, str]]:
    """Each command of the guide, and what it shows."""
    for block in re.findall(r"```console\n(.*?)```", GUIDE, flags=re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            yield command, shown


class Walk:
    """Runs the commands. The server gets a free port, which stands for the usual one of the guide."""

    def __init__(self, folder: Path) -> None:
        self.server: subprocess.Popen[str] | None = None
        self.address, self._folder = "", folder

    def run(self, command: str) -> str:
        if command.startswith("ldiversity collect serve"):
            return self._serve(command)
        if command.startswith("echo "):
            said, _, program = command.removeprefix("echo ").partition(" | ")
            return self._answer(shlex.split(said)[0], shlex.split(program))
        if command == "ldiversity collect status":
            self._others()
        program, *words = shlex.split(command)
        assert program == "ldiversity"
        return CliRunner().invoke(cli, words, prog_name="ldiversity").output

    def _serve(self, command: str) -> str:
        words = [*shlex.split(command)[1:], "--listen", "127.0.0.1:0"]
        self.server = subprocess.Popen(
            [sys.executable, "-c", MAIN, *words],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert self.server.stdout is not None
        lines = []
        for line in self.server.stdout:
            lines.append(line)
            if line.startswith("Stop it"):
                break
        text = "".join(lines)
        (self.address,) = re.findall(r"To answer:  (\S+)", text)
        return text.replace(self.address.partition("/#")[0], USUAL)

    def _answer(self, answers: str, words: list[str]) -> str:
        # The device of the test is kept where the test is, not in the user's own folder.
        own = [self.address if word.startswith(USUAL) else word for word in words[1:]]
        told = subprocess.run(
            [sys.executable, *own, "--device", str(self._folder / "device")],
            input=answers,
            capture_output=True,
            text=True,
            check=True,
        )
        return told.stdout

    def _others(self) -> None:
        """Many more devices answer, with the report of one each."""
        signed = Device.fetch(self.address)
        illness, income = (question.values for question in signed.survey.questions)
        for place in range(OTHERS):
            device = Device.open(self._folder / f"device {place}")
            given: dict[str, str | int] = {
                "age": (20, 35, 50, 65, 80)[place % 5],
                "sex": ("female", "male")[place % 2],
                "illness": illness[place % len(illness)],
                "income": income[place % len(income)],
            }
            device.send(device.answer(signed, given), self.address)


def test_every_command_of_the_guide_prints_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LDIVERSITY_DATABASE", raising=False)
    walk = Walk(tmp_path)
    try:
        for command, shown in steps():
            output = walk.run(command)
            assert doctest.OutputChecker().check_output(shown, output, FLAGS), f"{command}\n{output}"
    finally:
        if walk.server is not None:
            walk.server.send_signal(signal.SIGTERM)
            walk.server.communicate(timeout=30)
    assert walk.server is not None
    assert walk.server.returncode == 0
    assert (tmp_path / "report.html").is_file()


def test_the_unit_and_the_proxies_of_the_guide_name_the_address_that_serve_listens_at() -> None:
    guide = (ROOT / "docs" / "guides" / "collect-server.md").read_text(encoding="utf-8")
    assert guide.count("127.0.0.1:8000") == 3
    (started,) = re.findall(r"^ExecStart=\S+/ldiversity (.*)$", guide, flags=re.MULTILINE)
    told = CliRunner().invoke(cli, [*shlex.split(started), "--help"], prog_name="ldiversity")
    assert told.exit_code == 0
