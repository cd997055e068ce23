"""What the first use of a command costs on a new machine, with everything that it compiles.

Each command runs in a process of its own, with an empty folder for compiled loops, and once more with what the first
run left there. Figures are seconds of the processor in the program itself (user time), with the start of Python. They
are the least of several runs, and still grow on a busy machine, by more than a half where threads share cores.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from _measure import Result

from ldiversity.catalog import CATALOG, MethodEntry
from ldiversity.datasets import write_patients

ROWS = 6000
RUNS = 2
LIMIT = 5
LIMITS = {"anonymize, bsgi": 15}
ROLES = ("--quasi", "age,sex,zip", "--sensitive", "disease")
ESTIMATORS = {"sets": ("linear", "mle", "auto"), "classes": ("auto",)}
PROGRAM = "from ldiversity.faces.cli import main; main()"


@dataclass(frozen=True)
class Command:
    """A command of the command line, which can be run again."""

    name: str
    words: tuple[str, ...]


def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, tree = write_patients(folder, n=ROWS, seed=1)
        publishing = [_publish(entry, table, tree, folder) for entry in CATALOG.values()]
        found = [_measure(command, folder) for command in publishing]
        return [*found, *(_measure(command, folder) for command in _uses(table, folder))]


def _publish(entry: MethodEntry, table: Path, tree: Path, folder: Path) -> Command:
    """Publish with a method and the options without which it does not run."""
    needed = {"d": "-d 2", "distance": f"--distance tree:{tree}", "e": "-e 1", "tree": f"--tree {tree}"}
    options = [word for option, words in needed.items() if option in entry.options for word in words.split()]
    words = ("anonymize", str(table), *ROLES, "--drop", "name", "--method", entry.name, "-l", "2", *options)
    return Command(f"anonymize, {entry.name}", (*words, "--overwrite", "-o", str(folder / entry.name)))


def _uses(table: Path, folder: Path) -> list[Command]:
    """What is done with a release of each family and layout; they were published before."""
    released = {name: str(folder / name) for name in ("randomized-addition", "semantic", "bsgi", "anatomy")}
    by = ("--by", "sex,age:10")
    estimates = [
        Command(f"estimate {estimator}, {name}", ("estimate", where, *by, "--estimator", estimator))
        for name, where in released.items()
        for estimator in ESTIMATORS[CATALOG[name].family]
    ]
    return [
        *estimates,
        Command("audit of a table", ("audit", str(table), *ROLES)),
        *(Command(f"audit, {name}", ("audit", where)) for name, where in released.items()),
        *(Command(f"attack, {name}", ("attack", where, "--original", str(table))) for name, where in released.items()),
        *(
            Command(f"report, {name}", ("report", where, "-o", str(folder / f"{name}.html")))
            for name, where in released.items()
        ),
    ]


def _measure(command: Command, folder: Path) -> Result:
    first, later = [], []
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory(dir=folder) as cache:
            first.append(_seconds(command, cache))
            later.append(_seconds(command, cache))
    detail = f"{min(later):.1f} s later"
    return Result(f"first use: {command.name}", min(first), LIMITS.get(command.name, LIMIT), "s user", detail)


def _seconds(command: Command, cache: str) -> float:
    """Processor seconds of a whole process; a verdict of 1 is as good as 0."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *command.words],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode > 1:
        raise RuntimeError(f"{' '.join(command.words)}: {done.stderr}")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
