"""The page about installing has the tables that its command prints, and names all that is large."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

from tools.installed_size import STEPS, extras_table, in_megabytes
from tools.sbom import needed_packages

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guides" / "installing.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FOR_OTHERS = {"bench", "test", "docs", "dev"}
"""Extras of those who work on the package."""


def test_the_page_names_every_package_that_is_large_and_none_that_is_not_needed() -> None:
    needed = needed_packages()
    named = set(re.findall(r"^\| ([a-z-]+) \| \d+ \|", PAGE, re.MULTILINE)) - {"all"}

    assert f"| package | MB | {' | '.join(STEPS)} |" in PAGE
    assert {name for name, found in needed.items() if in_megabytes(found) > 5 and name != "ldiversity"} <= named
    assert named <= set(needed)


def test_the_page_has_every_extra_and_every_version_of_python() -> None:
    extras = set(PROJECT["optional-dependencies"]) - FOR_OTHERS
    versions = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))

    assert set(re.findall(r"^\| `([a-z]+)` \|", PAGE, re.MULTILINE)) == extras
    assert f"Python {', '.join(versions[:-1])} and {versions[-1]}" in PAGE


def test_an_extra_weighs_what_the_package_alone_does_not_need() -> None:
    (line,) = extras_table(["excel"])[2:]
    whole = sum(in_megabytes(one) for name, one in needed_packages(["excel"]).items() if name not in needed_packages())

    assert line == f"| `excel` | {whole:.0f} | openpyxl |"
    assert {Requirement(text).name for text in PROJECT["optional-dependencies"]["excel"]} == {"openpyxl"}
