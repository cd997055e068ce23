"""What rooms hand to each other has types: no dictionary of anything crosses from one room to another.

JSON documents are the exception, at the very edge, where a file or standard output is written or read.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src" / "ldiversity"
ROOMS = ("estimation", "evaluation", "faces/report", "pictures", "base", "engines", "datasets", "hierarchies")
ANYTHING = {"dict[str, Any]", "Mapping[str, Any]"}


def loose(tree: ast.AST) -> list[str]:
    """Public functions, and fields of classes, that take, give or hold a dictionary of anything."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            hints = [node.returns, *(one.annotation for one in arguments)]
            found += [node.name] if any(map(_of_anything, hints)) else []
        elif isinstance(node, ast.ClassDef):
            fields = [one for one in node.body if isinstance(one, ast.AnnAssign) and _of_anything(one.annotation)]
            found += [f"{node.name}.{ast.unparse(one.target)}" for one in fields]
    return sorted(found)


def _of_anything(hint: ast.expr | None) -> bool:
    return hint is not None and any(
        ast.unparse(part) in ANYTHING for part in ast.walk(hint) if isinstance(part, ast.expr)
    )


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_hands_out_typed_values(room: str) -> None:
    found = {str(path): loose(ast.parse(path.read_text(encoding="utf-8"))) for path in (SOURCES / room).rglob("*.py")}

    assert {path: names for path, names in found.items() if names} == {}


def test_a_dictionary_of_anything_is_found() -> None:
    field = "class A:\n    a: dict[str, Any]\n    b: int"
    functions = "def f(x: Mapping[str, Any] | None): ...\ndef _g() -> dict[str, Any]: ..."

    assert loose(ast.parse(f"{field}\n{functions}")) == ["A.a", "f"]
