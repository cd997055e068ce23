"""Programs of users pass a strict type checker, which knows what kind of frame they get back."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.test_strangers import EXAMPLES, PYTHON, ROOT

pytest.importorskip("mypy", reason="mypy is not installed: types are not checked here")

KINDS = """
import pandas as pd
import polars as pl
import ldiversity as ld

def table(frame: pd.DataFrame, lazy: pl.LazyFrame) -> None:
    reveal_type(ld.anonymize(frame, method="bsgi:l=2").table)
    reveal_type(ld.anonymize(frame, method="bsgi:l=2", output="folder").impute(2)[0])
    reveal_type(ld.estimate(ld.anonymize(frame, method="bsgi:l=2")).to_frame())
    reveal_type(ld.anonymize(lazy, method="bsgi:l=2").flat)
    reveal_type(ld.load_release("folder", frame="polars").table)
    reveal_type(ld.load_release("folder"))
    reveal_type(ld.estimate("folder"))
    ld.anonymize(frame, method="bsgi:l=2").table.no_such_method()
    ld.anonymize(frame, no_such_option=1, method="bsgi:l=2")
"""


def check_types(*files: Path) -> str:
    """What mypy says with the settings of the project, whose cache `make types` has filled."""
    command = [sys.executable, "-m", "mypy", "--strict", *map(str, files)]
    environment = dict(os.environ) | {"MYPYPATH": "src"}
    return subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True, env=environment).stdout


def test_the_first_page_and_the_examples_pass_and_kinds_of_frames_are_known(tmp_path: Path) -> None:
    page, kinds = tmp_path / "page.py", tmp_path / "kinds.py"
    page.write_text(PYTHON, encoding="utf-8")
    kinds.write_text(KINDS, encoding="utf-8")

    said = check_types(page, kinds, *EXAMPLES)

    assert re.findall(r'note: Revealed type is "(.*)"', said) == [
        *["pandas.core.frame.DataFrame"] * 3,
        *["polars.dataframe.frame.DataFrame"] * 2,
        "ldiversity.release._base.Release[Any]",
        "ldiversity.estimation._result.Estimate[Any]",
    ]
    wrong = set(re.findall(r"(\w+\.py):(\d+): error: ", said))
    planted = [str(line) for line, text in enumerate(KINDS.splitlines(), 1) if "no_such" in text]
    assert wrong == {("kinds.py", line) for line in planted}, said
