"""What CONTRIBUTING.md tells strangers to use is public, and what it tells them to announce is read."""

from __future__ import annotations

import ast
import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import ldiversity as ld
from ldiversity.entries import ENTRIES

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "ldiversity"
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FOR_STRANGERS = PAGE.partition("## How to add to collection")[0]
"""Who adds to collection or to answers works in this repository."""

ROOMS = ("methods", "mechanisms", "models", "estimation", "evaluation.attacks", "distances", "hierarchies", "tables")
INSIDE = {"Option"}
"""Named for those who work in this repository, and marked so."""


def private_classes(text: str) -> list[str]:
    """Classes of the package that a text names, and that no public module gives out."""
    named = set(re.findall(r"`(?:ld\.|ldiversity\.[a-z.]+\.)?([A-Z]\w+)[`(.]", text))
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py"))
    ours = {node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)}
    public = {*ld.__all__, *(name for room in ROOMS for name in import_module(f"ldiversity.{room}").__all__)}
    return sorted(named & ours - public - INSIDE)


def test_every_class_that_strangers_need_is_public_and_a_planted_one_is_found() -> None:
    assert private_classes(FOR_STRANGERS) == []
    assert private_classes("extend `CellCounter`, `Estimator` or `MadeUp`; return `LocalEngine`") == ["LocalEngine"]


def test_there_is_a_snippet_for_every_kind_of_entry_with_a_toy_of_it() -> None:
    whole = PAGE.partition("## How a package of your own")[2]
    (snippet,) = re.findall(r"```toml\n(.*?)```", whole, re.DOTALL)
    announced = tomllib.loads(snippet)["project"]["entry-points"]
    toys = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "contract").rglob("*toy*.py"))

    assert set(announced) == {f"ldiversity.{kind}" for kind in (*ENTRIES, "methods")}
    for points in announced.values():
        for target in points.values():
            assert re.search(rf"^(class|def) {target.partition(':')[2]}\b", toys, re.MULTILINE)


@pytest.mark.parametrize("snippet", re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL))
def test_every_snippet_announces_something_that_is_read(snippet: str) -> None:
    for group in tomllib.loads(snippet)["project"]["entry-points"]:
        assert group.removeprefix("ldiversity.") in {*ENTRIES, "methods"}
