"""The oldest versions that are tested are those that pyproject.toml names."""

from __future__ import annotations

import runpy
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TOOL: dict[str, Any] = runpy.run_path(str(ROOT / "tools" / "oldest_versions.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_every_dependency_has_an_oldest_version() -> None:
    bounds = dict(TOOL["lower_bounds"](PROJECT, PROJECT["optional-dependencies"]))

    assert len(bounds) > len(PROJECT["dependencies"])
    assert {"numpy", "pyarrow", "pandas", "polars", "scikit-learn", "openpyxl", "pytest"} <= set(bounds)


@pytest.mark.parametrize("text", ["numpy", "numpy==2.0", "numpy>2", "numpy<3", "numpy>=2.0; python_version<'3.12'"])
def test_a_dependency_without_a_plain_lower_bound_is_refused(text: str) -> None:
    project = {"name": "p", "dependencies": [text], "optional-dependencies": {}}

    with pytest.raises(SystemExit, match="to have an oldest version"):
        dict(TOOL["lower_bounds"](project, []))


def test_a_bound_that_no_release_meets_is_refused() -> None:
    with pytest.raises(SystemExit, match=r"numpy>=9\.0 must allow a release"):
        TOOL["oldest"]("numpy", "9.0", ["2.0.0"])


SAID = "ERROR: Could not find a version that satisfies the requirement x<0 (from versions: {})\nERROR: No matching"


@pytest.mark.parametrize(
    ("listed", "releases"),
    [("2.0, 2.1rc1, 2.1, 2.1.post1", ["2.0", "2.1", "2.1.post1"]), ("none", None), ("3.0a1", None)],
)
def test_pip_is_asked_for_the_releases(
    listed: str, releases: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = SAID.format(listed)
    monkeypatch.setattr(subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 1, "", said))

    if releases is None:
        with pytest.raises(SystemExit, match=r"lists no release of 'x' for this Python:\nERROR: Could"):
            TOOL["releases"]("x")
    else:
        assert TOOL["releases"]("x") == releases


def test_a_package_without_wheels_is_taken_as_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    def pip(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        said = SAID.format("none" if "--only-binary" in command else "4.0.0, 4.1.0.dev1, 4.1.0")
        return subprocess.CompletedProcess(command, 1, "", said)

    monkeypatch.setattr(subprocess, "run", pip)

    assert TOOL["releases"]("x") == ["4.0.0", "4.1.0"]
