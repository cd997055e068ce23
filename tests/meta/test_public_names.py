"""Programs beside the library use its public names alone, as those of strangers do."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("papers", "examples", "docs/pictures", "tests/contract/toys")
LIBRARY = "ldiversity"


def violations(source: str) -> list[str]:
    """Names of the library that a program uses and that no public module gives out."""
    tree = ast.parse(source)
    wrong = [name for node in ast.walk(tree) for name in imported(node) if not is_public(*name)]
    modules = dict(aliases(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            used = (modules[node.value.id], node.attr)
            wrong += [] if is_public(*used) else [used]
    return sorted({".".join(filter(None, name)) for name in wrong})


def imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Modules of the library that a statement imports, each with a name from it, or with none."""
    if isinstance(node, ast.ImportFrom) and is_ours(node.module or ""):
        yield from ((str(node.module), alias.name) for alias in node.names)
    elif isinstance(node, ast.Import):
        yield from ((alias.name, "") for alias in node.names if is_ours(alias.name))


def aliases(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Local names of modules of the library."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or LIBRARY, alias.name) for alias in node.names if is_ours(alias.name))
        elif isinstance(node, ast.ImportFrom) and is_ours(node.module or ""):
            named = ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)
            yield from ((local, module) for local, module in named if is_module(module))


def is_ours(module: str) -> bool:
    return module.split(".", maxsplit=1)[0] == LIBRARY


def is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # its parent is no package
        return False


def is_public(module: str, name: str) -> bool:
    """Whether no part of the module is private, and the module lists the name or is the package around it."""
    if any(part.startswith("_") for part in module.split(".")):
        return False
    if not name or name in import_module(module).__all__:
        return True
    return not name.startswith("_") and is_module(f"{module}.{name}")


PROGRAMS = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_program_uses_public_names_alone(program: Path) -> None:
    assert violations(program.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_has_programs(folder: str) -> None:
    assert [path for path in PROGRAMS if path.is_relative_to(ROOT / folder)]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from ldiversity._version import __version__", ["ldiversity._version.__version__"]),
        ("from ldiversity.release._staging import staging_folder", ["ldiversity.release._staging.staging_folder"]),
        ("from ldiversity.release import _staging", ["ldiversity.release._staging"]),
        ("def f():\n    import ldiversity._kernels.compiling", ["ldiversity._kernels.compiling"]),
        ("from ldiversity.methods import secret_helper", ["ldiversity.methods.secret_helper"]),
        ("import ldiversity as ld\nld._HOMES", ["ldiversity._HOMES"]),
        ("import ldiversity as ld\nld.secret_helper()", ["ldiversity.secret_helper"]),
        ("from ldiversity import datasets\ndatasets._income", ["ldiversity.datasets._income"]),
        ("from ldiversity import *", ["ldiversity.*"]),
    ],
)
def test_a_private_name_is_found(source: str, found: list[str]) -> None:
    assert violations(source) == found


@pytest.mark.parametrize(
    "source",
    [
        "import ldiversity as ld\nld.anonymize, ld.datasets.patients, ld.__version__",
        "from ldiversity.pictures import save_figure",
        "from ldiversity import datasets\ndatasets.patients",
        "import numpy as np\nnp._private",
    ],
)
def test_a_public_name_is_allowed(source: str) -> None:
    assert violations(source) == []


def imports_papers(source: str) -> bool:
    modules = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    return "papers" in modules


def test_the_library_does_not_import_the_papers() -> None:
    sources = (ROOT / "src").rglob("*.py")

    assert [str(path) for path in sources if imports_papers(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("source", ["import papers.run", "from papers.run import rerun", "def f():\n    import papers"])
def test_an_import_of_the_papers_is_found(source: str) -> None:
    assert imports_papers(source)


def test_the_wheel_holds_the_library_alone() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

    assert settings["tool"]["hatch"]["build"]["targets"]["wheel"] == {"packages": ["src/ldiversity"]}
