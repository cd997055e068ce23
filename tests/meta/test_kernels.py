"""Kernels keep the rules that make their first use short; see `ldiversity._kernels._compiled`."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "ldiversity"
KERNELS = SOURCE / "_kernels"
COMPILED = ("kernel", "helper", "inlined", "merged")

METHODS_OF_ARRAYS = {"all", "any", "argmax", "argmin", "argsort", "astype", "max", "min", "sort", "sum", "view"}
FUNCTIONS_OF_NUMPY = METHODS_OF_ARRAYS | {"arange", "concatenate", "maximum", "minimum", "sqrt", "unique", "where"}

NOTED = SOURCE.parents[1] / ".kernels.json"
COMPILE_ALL = Path(__file__).parent / "compile_all.py"
ARRAYS = {"_ol_array_allocate", "impl_np_full", "ol_array_zero_fill", "ol_np_empty", "ol_np_zeros"}
CHEAP = ARRAYS | {"ol_int", "ol_max", "ol_min"}
"""What kernels use of numba: numbers, and new arrays. Copies between arrays and their arithmetic would add to it."""


def functions() -> Iterator[tuple[str, str, ast.FunctionDef]]:
    """Every function of the kernels: its module, how it is compiled ("" when it is not), and its definition."""
    for path in sorted(KERNELS.glob("[a-z]*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                marks = [mark.id for mark in node.decorator_list if isinstance(mark, ast.Name)]
                yield path.stem, next((mark for mark in marks if mark in COMPILED), ""), node


def used_by_python() -> set[tuple[str, str]]:
    """Module and name of what is imported from kernels outside of them, or used by functions that are not compiled."""
    found = {(module, name) for module, mark, node in functions() if not mark for name in names_in(node)}
    for path in SOURCE.rglob("*.py"):
        if KERNELS in path.parents:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ldiversity._kernels"):
                whole = node.module == "ldiversity._kernels"
                for alias in node.names:
                    used = names_in(tree) if whole else {alias.name}
                    found |= {(alias.name if whole else str(node.module).rpartition(".")[2], name) for name in used}
    return found


def names_in(node: ast.AST) -> set[str]:
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return names | {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}


def test_what_python_calls_is_a_kernel_and_what_kernels_call_alone_is_a_helper() -> None:
    used = used_by_python()

    wrong = [
        f"{module}.{node.name} is a {mark}"
        for module, mark, node in functions()
        if mark and (mark == "kernel") != ((module, node.name) in used)
    ]

    assert not wrong


def test_numba_is_named_in_one_place() -> None:
    named = [path.name for path in KERNELS.glob("*.py") if "numba" in names_in(ast.parse(path.read_text("utf-8")))]
    imported = [path.name for path in KERNELS.glob("*.py") if "numba import" in path.read_text("utf-8")]

    assert not named
    assert imported == ["_compiled.py"]


def test_no_kernel_uses_what_takes_long_to_compile() -> None:
    calls = [
        (module, node.name, call.func)
        for module, mark, node in functions()
        if mark
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
    ]

    wrong = [
        f"{module}.{name}: {ast.unparse(function)}"
        for module, name, function in calls
        if function.attr in (FUNCTIONS_OF_NUMPY if ast.unparse(function.value) == "np" else METHODS_OF_ARRAYS)
    ]

    assert not wrong


def test_attacks_measures_and_audits_have_no_kernels_which_compile_all_would_have_to_use() -> None:
    assert not [path for path in (SOURCE / "evaluation").rglob("*.py") if "_kernels" in path.read_text("utf-8")]


def noted() -> dict[str, list[str]]:
    """What was compiled before the tests; nothing if a kernel was changed since, or was being compiled elsewhere."""
    sources = [*KERNELS.glob("*.py"), COMPILE_ALL]
    if not NOTED.is_file() or NOTED.stat().st_mtime < max(source.stat().st_mtime for source in sources):
        return {}
    found: dict[str, list[str]] = json.loads(NOTED.read_text(encoding="utf-8"))
    return found if are_most(found) else {}


def compiled_now(folder: Path) -> dict[str, list[str]]:
    # Without optimizing, which is half of the work; numba does not keep such kernels.
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "NUMBA_OPT": "0"}
    printed = subprocess.run([sys.executable, COMPILE_ALL], env=environment, capture_output=True, text=True, check=True)
    found: dict[str, list[str]] = json.loads(printed.stdout)
    return found


def are_most(found: dict[str, list[str]]) -> bool:
    """Some kernels need large or odd tables."""
    kernels = {f"ldiversity._kernels.{module}.{node.name}" for module, mark, node in functions() if mark == "kernel"}
    return len(kernels & set(found)) >= 2 / 3 * len(kernels)


@pytest.mark.slow
def test_each_kernel_is_compiled_for_one_signature_and_from_cheap_parts(tmp_path: Path) -> None:
    found = noted() or compiled_now(tmp_path)

    own = {name: signatures for name, signatures in found.items() if name.startswith("ldiversity.")}

    assert are_most(found)
    assert {name: signatures for name, signatures in own.items() if len(signatures) > 1} == {}
    assert {name for name in found if name not in own and name.split(".")[-3] not in CHEAP} == set()
