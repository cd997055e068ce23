"""Shares are written by one module, so that a share looks the same wherever it stands."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from ldiversity.base.numbers import percent_at_least, percent_at_most

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


def own_numbers(tree: ast.AST) -> list[int]:
    """Lines that write a number in a form of their own: ``{x:,}``, ``{x:.3g}`` or ``{x:.1f}`` in a text."""
    return sorted(
        {
            node.lineno
            for node in ast.walk(tree)
            if isinstance(node, ast.FormattedValue) and node.format_spec is not None and _is_form(node.format_spec)
        }
    )


def _is_form(spec: ast.expr) -> bool:
    written = ast.unparse(spec).rstrip("'\"")
    return "," in written or written.endswith(("g", "f", "e"))


FOR_PEOPLE = [
    path for path in FILES if path.relative_to(SOURCES).parts[0] in {"estimation", "evaluation", "faces", "pictures"}
]
"""What writes for people; messages of errors in lower rooms name numbers as they were given."""


def test_no_face_writes_numbers_in_a_form_of_its_own() -> None:
    found = {str(path): own_numbers(ast.parse(path.read_text(encoding="utf-8"))) for path in FOR_PEOPLE}

    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize("code", ["f'{x:,}'", "f'{x:.3g}'", "f'{x:,.1f}'", "f'{x:.{d}e}'"])
def test_a_number_in_a_form_of_its_own_is_found(code: str) -> None:
    assert own_numbers(ast.parse(code)) == [1]


@pytest.mark.parametrize("code", ["f'{x}'", "f'{place:02d}'", "f'{name:<{width}}'"])
def test_counters_and_columns_of_text_are_no_forms_of_numbers(code: str) -> None:
    assert own_numbers(ast.parse(code)) == []


def test_no_other_file_writes_percentages() -> None:
    found = {str(path): own_percentages(ast.parse(path.read_text(encoding="utf-8"))) for path in FILES}

    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize("code", ["f'{x:.1%}'", "f'{x:.3g} %'", "f'{100 * x:.3g}'", "f'{x * 100}'", "f'{1:.{d}%}'"])
def test_a_percentage_of_its_own_is_found(code: str) -> None:
    assert own_percentages(ast.parse(code)) == [1]


UPPER = ("at most", "up to", "more than", "likelier than")
LOWER = ("at least",)


def nearest_bounds(tree: ast.AST) -> list[int]:
    """Lines that write a bound as the nearest percentage, which may be on the wrong side of it."""
    found = []
    for text in (node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)):
        for before, part in zip(text.values, text.values[1:], strict=False):
            said = str(before.value).rstrip() if isinstance(before, ast.Constant) else ""
            call = part.value if isinstance(part, ast.FormattedValue) else None
            plain = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "percent"
            found += [part.lineno] if plain and said.endswith((*UPPER, *LOWER)) else []
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCES)))
def test_bounds_are_rounded_to_the_safe_side(path: Path) -> None:
    assert nearest_bounds(ast.parse(path.read_text(encoding="utf-8"))) == []


def test_a_bound_that_is_rounded_to_the_nearest_is_found() -> None:
    planted = '(f"gives more than {percent(p)}, and at "\nf"least {percent(q)}; {percent(r)}, {percent_at_most(p)}")'

    assert len(nearest_bounds(ast.parse(planted))) == 2


@pytest.mark.parametrize("digits", [2, 3])
@pytest.mark.parametrize("share", [1 / 3, 2 / 3, 0.1 + 0.2, 0.07, 1 - 1e-9, 1.0, 12.345, 1e-4, 0.99951])
def test_what_is_written_of_a_bound_is_on_its_safe_side(share: float, digits: int) -> None:
    most, least = (
        float(write(share, digits).removesuffix(" %").replace(",", "")) for write in (percent_at_most, percent_at_least)
    )

    assert least <= 100 * share * (1 + 1e-11)
    assert most >= 100 * share * (1 - 1e-11)
    assert most - least <= 10 ** (1 - digits) * most
