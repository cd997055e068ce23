from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ldiversity.datasets import write_patients
from ldiversity.faces.cli import cli

Run = Callable[..., Result]


@pytest.fixture(scope="session")
def patients(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_patients(tmp_path_factory.mktemp("patients"), n=600, seed=1)[0]


@pytest.fixture(scope="session")
def tree(patients: Path) -> Path:
    return patients.with_name("diseases.csv")


@pytest.fixture(scope="session")
def run() -> Run:
    def invoke(*words: object) -> Result:
        return CliRunner().invoke(cli, [str(word) for word in words], prog_name="ldiversity")

    return invoke


@pytest.fixture(scope="session")
def facts(run: Run) -> Callable[..., dict[str, Any]]:
    def invoke(*words: object) -> dict[str, Any]:
        result = run(*words, "--json")
        assert result.exit_code == 0, result.stderr
        found: dict[str, Any] = json.loads(result.stdout)
        return found

    return invoke


@pytest.fixture(scope="session")
def roles() -> list[str]:
    return ["--quasi", "age,sex", "--sensitive", "disease", "--drop", "name,zip,job"]


@pytest.fixture(scope="session")
def release(run: Run, patients: Path, roles: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published") / "release"
    result = run("anonymize", patients, *roles, "-l", 3, "-o", folder)
    assert result.exit_code == 0, result.stderr
    return folder
