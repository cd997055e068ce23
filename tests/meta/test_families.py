"""Which family a release is of is asked in `release/` alone; every other room asks the release itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "ldiversity"
FAMILIES = {"SetRelease", "ClassRelease", "SetMechanism", "ClassMechanism", "Claim", "ClassClaim"}


def family_checks(text: str) -> Iterator[str]:
    """The families that a module tells apart: by isinstance, issubclass, type(...) or match."""
    for node in ast.walk(ast.parse(text)):
        asked: list[ast.AST] = []
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in {"isinstance", "issubclass"}
        ):
            asked = list(node.args[1:])
        elif isinstance(node, ast.MatchClass):
            asked = [node.cls]
        elif isinstance(node, ast.Compare):
            asked = [node.left, *node.comparators]
        for part in asked:
            for name in ast.walk(part):
                found = name.id if isinstance(name, ast.Name) else name.attr if isinstance(name, ast.Attribute) else ""
                if found in FAMILIES:
                    yield found


def test_no_room_above_asks_which_family_a_release_is_of() -> None:
    found = {
        str(file.relative_to(SOURCE)): checks
        for file in SOURCE.rglob("*.py")
        if file.relative_to(SOURCE).parts[0] != "release" and (checks := list(family_checks(file.read_text("utf-8"))))
    }

    assert found == {}


@pytest.mark.parametrize(
    "planted",
    [
        "isinstance(release, SetRelease)",
        "isinstance(release, (int, ld.ClassRelease))",
        "isinstance(release, SetRelease | ClassRelease)",
        "issubclass(kind, ClassMechanism)",
        "type(claim) is ClassClaim",
        "match release:\n    case SetRelease():\n        pass",
    ],
)
def test_a_planted_check_is_found(planted: str) -> None:
    assert list(family_checks(planted))


def test_words_that_only_name_a_family_are_none() -> None:
    assert not list(family_checks("def f(release: SetRelease) -> ClassRelease: ..."))
