"""Every command of the recipes runs, in their order, and so does their Python."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from ldiversity.datasets import write_patients
from ldiversity.faces.cli import cli

PAGE = (Path(__file__).parents[2] / "docs" / "recipes.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


def test_every_command_of_the_recipes_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openpyxl", reason="openpyxl is not installed: the recipe for Excel is not run without it")
    monkeypatch.chdir(tmp_path)
    write_patients(".")
    (policy,) = blocks("toml")
    Path("policy.toml").write_text(policy, encoding="utf-8")

    commands = [line.removeprefix("$ ldiversity ") for block in blocks("console") for line in block.splitlines()]
    for command in commands:
        done = CliRunner().invoke(cli, shlex.split(command), prog_name="ldiversity")
        assert done.exit_code == 0, f"{command}\n{done.output}"
    exec(next(block for block in blocks("python") if "load_release" in block))  # noqa: S102 - our own page

    first, second = ({path.name: path.read_bytes() for path in Path(name).iterdir()} for name in ("first", "second"))
    assert first == second
    assert Path("estimate.xlsx").stat().st_size
    assert Path("release.xlsx").stat().st_size
