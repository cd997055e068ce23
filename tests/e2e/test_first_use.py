"""The first use on a new machine: where compiled loops are kept, and what happens when several begin at once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ldiversity as ld

PROGRAM = """
import hashlib
from numba.core.event import Listener, register
import ldiversity as ld

class Counter(Listener):
    compiled = 0
    def on_start(self, event):
        self.compiled += 1
    def on_end(self, event):
        pass

counter = Counter()
register("numba:compile", counter)
people = ld.datasets.patients(400, seed=1)
release = ld.anonymize(
    people, quasi=["age", "sex"], drop=["name", "zip"], sensitive="disease", method=ld.Anatomy(l=2), insecure_seed=1
)
print(hashlib.sha256(repr(release.table.to_pylist()).encode()).hexdigest(), counter.compiled > 0)
"""


def begin(**environment: str) -> subprocess.Popen[str]:
    """Publish in a new process; it prints a digest of the release, and whether something was compiled."""
    given = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"} | environment
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM], env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def end(process: subprocess.Popen[str]) -> tuple[str, bool]:
    printed, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    digest, compiled = printed.split()
    return digest, compiled == "True"


@pytest.fixture
def sealed(tmp_path: Path) -> Path:
    """A copy of the package beside whose kernels nothing can be written, whoever the user is."""
    home = Path(ld.__file__).parent
    shutil.copytree(home, tmp_path / "sealed" / "ldiversity", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "sealed" / "ldiversity" / "_kernels" / "__pycache__").write_text("in the place of the folder")
    return tmp_path / "sealed"


def test_two_processes_may_be_the_first(tmp_path: Path) -> None:
    together = [end(process) for process in [begin(NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2)]]
    later = end(begin(NUMBA_CACHE_DIR=str(tmp_path)))

    assert {digest for digest, _ in together} == {later[0]}
    assert not later[1]


def test_the_folder_of_the_user_is_taken_where_the_package_cannot_be_written(sealed: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    places = {
        "PYTHONPATH": str(sealed),
        "XDG_CACHE_HOME": str(cache),
        "HOME": str(tmp_path),
        "LOCALAPPDATA": str(cache),
    }

    first, later = end(begin(**places)), end(begin(**places))

    assert (first[1], later[1]) == (True, False)
    assert list(tmp_path.rglob("anatomy.*.nbc"))


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="needs a place that nobody can write to")
def test_every_process_compiles_anew_where_nothing_can_be_written(sealed: Path) -> None:
    places = {"PYTHONPATH": str(sealed), "XDG_CACHE_HOME": "/dev/null/cache", "HOME": "/dev/null"}

    first, later = end(begin(**places)), end(begin(**places))

    assert first == later == (first[0], True)
