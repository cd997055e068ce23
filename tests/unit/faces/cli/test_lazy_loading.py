from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

import pytest
from click.testing import Result

Run = Callable[..., Result]

HEAVY = ("numpy", "pyarrow", "numba", "pydantic", "scipy", "pandas", "polars", "matplotlib", "rich", "cryptography")
PROGRAM = """
import json, sys
from ldiversity.faces.cli import cli
try:
    cli.main({words!r}, prog_name="ldiversity")
except SystemExit as exit:
    assert exit.code == 0, exit.code
print(json.dumps(sorted(set({heavy!r}) & set(sys.modules))), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["--version"],
        ["anonymize", "--help"],
        ["plan", "--help"],
        ["hierarchy", "--help"],
        ["estimate", "--help"],
        ["demo", "--help"],
        ["report", "--help"],
    ],
)
def test_help_loads_no_heavy_package(words: list[str]) -> None:
    program = PROGRAM.format(words=words, heavy=HEAVY)

    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert json.loads(ran.stderr) == []


def test_help_lists_every_command_with_a_sentence(run: Run) -> None:
    shown = run("--help").stdout

    commands = [line.split()[0] for line in shown.split("Commands:")[1].splitlines() if line.strip()]
    assert commands == [
        *("describe", "hierarchy", "plan", "compare", "anonymize", "estimate", "associate", "contrast", "trend"),
        *("regress", "attack", "audit", "epsilons", "report", "key", "collect", "schema", "demo"),
    ]
    assert "..." not in shown.split("Commands:")[1]


def test_help_names_every_method(run: Run) -> None:
    from ldiversity.methods import METHODS

    shown = run("anonymize", "--help").stdout

    assert [name for name in METHODS if name not in shown] == []


def test_help_names_every_estimator(run: Run) -> None:
    from ldiversity.estimation import CLASS_ESTIMATORS, ESTIMATORS

    shown = run("estimate", "--help").stdout

    assert [name for name in (*ESTIMATORS, *CLASS_ESTIMATORS) if name not in shown] == []


def test_version_is_the_package_s(run: Run) -> None:
    from ldiversity import __version__

    assert run("--version").stdout == f"ldiversity {__version__}\n"


def test_help_shows_examples_on_lines_of_their_own(run: Run) -> None:
    assert "\n  ldiversity anonymize january.csv --policy policy.toml -o january\n" in run("anonymize", "--help").stdout
