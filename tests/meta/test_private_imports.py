"""The contract on private modules finds what it must: a room that reaches into another."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SETTINGS = """
[tool.importlinter]
root_package = "house"
contract_types = ["private: tools.private_imports.PrivateImports"]

[[tool.importlinter.contracts]]
name = "private"
type = "private"
"""


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("from house.cellar import wine", True),
        ("from house.cellar import _shelf", False),
        ("from house.cellar._shelf import wine", False),
        ("def later():\n    from house.cellar._shelf import wine", False),
    ],
)
def test_a_private_module_is_imported_within_its_room_alone(tmp_path: Path, line: str, *, kept: bool) -> None:
    for room, content in {"cellar": "from house.cellar._shelf import wine", "kitchen": line}.items():
        (tmp_path / "house" / room).mkdir(parents=True)
        (tmp_path / "house" / room / "__init__.py").write_text(f"{content}\n")
    (tmp_path / "house" / "__init__.py").touch()
    (tmp_path / "house" / "cellar" / "_shelf.py").write_text("wine = 1\n")
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    (tmp_path / "tools").symlink_to(ROOT / "tools")
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"]

    done = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True, text=True)

    assert (done.returncode == 0) is kept, done.stdout
    assert kept or "house.kitchen must import from house.cellar" in done.stdout
