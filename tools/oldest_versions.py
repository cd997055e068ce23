"""Print the oldest versions that pyproject.toml allows, as constraints for pip.

    python tools/oldest_versions.py test > oldest.txt
    pip install --constraint oldest.txt --editable '.[test]'

The lower bounds stand in pyproject.toml and nowhere else. Of each package that it names, for the project itself or
for the extras given, this asks pip for the releases that have a wheel for this Python, or for all where none has one.
It prints the oldest within the bounds. What those packages need in turn is left to pip.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
SYSTEM = r"sys_platform != '\w+'"  # says nothing about versions
BOUNDS = r"(?:>=(?P<low>[\d.]+))?(?:,<[\d.]+)?"
REQUIREMENT = re.compile(rf"(?P<name>[\w.-]+)(?:\[(?P<extras>[\w,-]+)\])?{BOUNDS}(?:; {SYSTEM})?")


def main() -> None:
    """Print one line for each package."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    bounds = dict(lower_bounds(project, sys.argv[1:]))
    with ThreadPoolExecutor(4) as pool:  # pip spends its time waiting
        listed = pool.map(releases, bounds)
    for (name, low), versions in zip(bounds.items(), listed, strict=True):
        print(f"{name}=={oldest(name, low, versions)}")


def lower_bounds(project: dict[str, Any], extras: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Name every package that the project and these extras ask for, with its lower bound.

    Examples
    --------
    >>> project = {"name": "p", "dependencies": ["a>=1.2"], "optional-dependencies": {"b": ["p[c]"], "c": ["d>=3,<4"]}}
    >>> dict(lower_bounds(project, ["b"]))
    {'a': '1.2', 'd': '3'}
    """
    groups = project["optional-dependencies"]
    asked = [*project["dependencies"], *(text for extra in extras for text in groups[extra])]
    while asked:
        text = asked.pop(0)
        found = REQUIREMENT.fullmatch(text)
        if found and found["name"] == project["name"] and found["extras"]:
            asked += [more for extra in found["extras"].split(",") for more in groups[extra]]
        elif found and found["low"]:
            yield found["name"], found["low"]
        else:
            sys.exit(
                f"pyproject.toml: {text!r} must have the form name>=1.2 or name>=1.2,<3, to have an oldest version."
            )


def releases(name: str) -> list[str]:
    """Ask pip for the releases of a package that have a wheel for this Python, or for all, if none has one.

    pyspark comes as sources alone, and pip builds it. Only an error of ``pip install`` lists just what fits;
    ``pip index versions`` lists all, whatever they are for.
    """
    options = ["--dry-run", "--no-deps", "--ignore-installed"]
    said = ""
    for wheels in (["--only-binary", ":all:"], []):
        command = [sys.executable, "-m", "pip", "install", *options, *wheels, f"{name}<0"]
        said = subprocess.run(command, capture_output=True, text=True, check=False).stderr
        listed = re.search(r"\(from versions: (.*)\)", said)
        found = [] if listed is None else listed[1].split(", ")
        final = [version for version in found if re.fullmatch(r"[\d.]+(\.post\d+)?", version)]
        if final:
            return final
    sys.exit(f"pip lists no release of {name!r} for this Python:\n{said}")


def oldest(name: str, low: str, versions: Iterable[str]) -> str:
    """Choose the oldest of these versions that is not below the bound.

    Examples
    --------
    >>> oldest("numpy", "2.0", ["2.10.0", "2.0.2", "2.0.0", "1.26.4"])
    '2.0.0'
    """
    allowed = [version for version in versions if order(version) >= order(low)]
    if not allowed:
        sys.exit(f"pyproject.toml: {name}>={low} must allow a release that has a wheel for this Python.")
    return min(allowed, key=order)


def order(version: str) -> tuple[int, ...]:
    """Put versions into their order: 2.0 and 2.0.0 are the same, 2.0.post1 comes after them.

    Examples
    --------
    >>> order("2.0") == order("2.0.0") < order("2.0.post1") < order("2.10")
    True
    """
    numbers = [int(part) for part in re.findall(r"\d+", version)]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


if __name__ == "__main__":
    main()
