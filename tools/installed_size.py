"""Say what `pip install ldiversity` puts on a disk, package by package, and which steps of a first release load it.

    python tools/installed_size.py                    what is installed without an extra
    python tools/installed_size.py collect spark      what each extra adds to it

docs/guides/installing.md has both tables.

Run it with the Python of an environment that has the package. Sizes are those of the files that are installed there,
with the modules that pip compiled (`make setup` tells it not to). A step loads a package if a process of its own, which
does nothing else, imports it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import Distribution
from pathlib import Path
from typing import Final

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tools.sbom import needed_packages  # noqa: E402 - the repository is not installed

__all__ = ["STEPS", "base_table", "extras_table", "in_megabytes", "loaded_by"]

STEPS: Final = {
    "anonymize": "ld.anonymize(ld.datasets.patients(500), quasi='age', sensitive='disease', drop=['name'], "
    "method=ld.RandomizedAddition(l=3), output='release')",
    "estimate": "str(ld.estimate('release', by='age:10'))",
    "a picture": "ld.estimate('release').figure().savefig('picture.png')",
}
"""A first release in Python, each step as it is run in a process of its own, in this order."""

_SMALL: Final = 3
"""Packages below so many megabytes are counted together."""


def in_megabytes(found: Distribution) -> float:
    """Give the size of all files of an installed package."""
    files = (Path(str(found.locate_file(file))) for file in found.files or ())
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6


def loaded_by(step: str, folder: Path) -> set[str]:
    """Run a step in a folder, and give the names of the modules outside the standard library that it imported."""
    end = "print(' '.join({name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names))"
    program = f"import sys, ldiversity as ld\n{STEPS[step]}\n{end}"
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, check=True, capture_output=True, text=True)
    return set(done.stdout.splitlines()[-1].split())


def _modules(found: Distribution) -> set[str]:
    """The importable names that a package brings."""
    return {file.parts[0].removesuffix(".py") for file in found.files or () if file.suffix in {".py", ".so"}}


def base_table() -> list[str]:
    """The table of all that is installed without an extra, the largest first."""
    needed = needed_packages()
    sizes = {name: in_megabytes(found) for name, found in needed.items()}
    large = sorted((name for name in needed if sizes[name] >= _SMALL), key=sizes.__getitem__, reverse=True)
    with tempfile.TemporaryDirectory() as folder:
        loads = {step: loaded_by(step, Path(folder)) for step in STEPS}
    rows = [[name, f"{sizes[name]:.0f}", *_marks(loads, _modules(needed[name]))] for name in large]
    small = [name for name in needed if sizes[name] < _SMALL]
    rows.append([f"{len(small)} others", f"{sum(sizes[name] for name in small):.0f}", *[""] * len(loads)])
    rows.append(["all", f"{sum(sizes.values()):.0f}", *[""] * len(loads)])
    return [_line(["package", "MB", *loads]), _line(["---", "---:", *["---"] * len(loads)]), *map(_line, rows)]


def extras_table(extras: Sequence[str]) -> list[str]:
    """The table of what each extra adds, with its largest package."""
    base, rows = needed_packages(), []
    for extra in extras:
        sizes = {name: in_megabytes(one) for name, one in needed_packages([extra]).items() if name not in base}
        largest = max(sizes, key=sizes.__getitem__, default="nothing that is installed here")
        rows.append([f"`{extra}`", f"{sum(sizes.values()):.0f}", largest])
    return [_line(["extra", "MB", "largest package"]), _line(["---", "---:", "---"]), *map(_line, rows)]


def _marks(loads: dict[str, set[str]], modules: set[str]) -> list[str]:
    return ["loaded" if modules & loaded else "" for loaded in loads.values()]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    print("\n".join(extras_table(sys.argv[1:]) if sys.argv[1:] else base_table()))
