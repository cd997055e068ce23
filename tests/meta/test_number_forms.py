"""Shares are written by one module, so that a share looks the same wherever it stands."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src" / "ldiversity"
FILES = [path for path in SOURCES.rglob("*.py") if path != SOURCES / "base" / "numbers.py"]


def own_percentages(tree: ast.AST) -> list[int]:
    """Lines that write a percentage by themselves: ``{x:.1%}``, ``{x} %`` or ``{100 * x}`` in a text."""
    return sorted({node.lineno for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) and _writes_one(node)})


def _writes_one(text: ast.JoinedStr) -> bool:
    for place, part in enumerate(text.values):
        if not isinstance(part, ast.FormattedValue):
            continue
        spec = ast.unparse(part.format_spec) if part.format_spec is not None else ""
        after = text.values[place + 1] if place + 1 < len(text.values) else None
        sign = isinstance(after, ast.Constant) and str(after.value).lstrip().startswith("%")
        if spec.rstrip("'\"").endswith("%") or sign or any(map(_times_100, ast.walk(part.value))):
            return True
    return False


def _times_100(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mult | ast.Div)
        and any(isinstance(side, ast.Constant) and side.value == 100 for side in (node.left, node.right))
    )


def test_no_other_file_writes_percentages() -> None:
    found = {str(path): own_percentages(ast.parse(path.read_text(encoding="utf-8"))) for path in FILES}

    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize("code", ["f'{x:.1%}'", "f'{x:.3g} %'", "f'{100 * x:.3g}'", "f'{x * 100}'", "f'{1:.{d}%}'"])
def test_a_percentage_of_its_own_is_found(code: str) -> None:
    assert own_percentages(ast.parse(code)) == [1]
