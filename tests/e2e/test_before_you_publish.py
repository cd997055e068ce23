"""The guide "before you publish" shows what its commands print: they run in its order, on the file of its example."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from ldiversity.faces.cli import cli
from ldiversity.faces.report import COMMITTEE_TEMPLATE

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "guides" / "before-you-publish.md").read_text(encoding="utf-8")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def steps() -> Iterator[tuple[str, str]]:
    """Each command of the guide, and what it shows."""
    for block in re.findall(r"```console\n(.*?)```", GUIDE, flags=re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            yield command, shown


def test_every_command_of_the_guide_prints_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    subprocess.run([sys.executable, str(ROOT / "examples" / "04_hospital_export.py")], check=True, capture_output=True)
    (policy,) = re.findall(r"```toml\n(.*?)```", GUIDE, flags=re.DOTALL)
    Path("hospital.toml").write_text(policy, encoding="utf-8")
    edited = COMMITTEE_TEMPLATE.replace("Department of Epidemiology", "Institute of Epidemiology")
    Path("committee.toml").write_text(edited, encoding="utf-8")

    for command, shown in steps():
        program, *words = shlex.split(command)
        assert program == "ldiversity"
        output = CliRunner().invoke(cli, words, prog_name="ldiversity").output
        assert doctest.OutputChecker().check_output(shown, output, FLAGS), f"{command}\n{output}"

    assert Path("holder-report.html").is_file()
    assert "Made with the original" not in Path("report.html").read_text(encoding="utf-8")
