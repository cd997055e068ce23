"""How long the quick rerun of all papers takes. Needs the public tables: LDIVERSITY_DATA."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _measure import Result


def run() -> list[Result]:
    if not os.environ.get("LDIVERSITY_DATA"):
        print("papers: skipped, LDIVERSITY_DATA names no folder with the public tables.")
        return []
    _rerun("001", "002")  # compiles what later runs find compiled, or most of it
    wall, cpu = _rerun("all")
    cores = f"{os.cpu_count()} cores"
    return [
        Result("python -m papers all --quick -o FOLDER, wall", wall, 120.0, "s", cores),
        Result("python -m papers all --quick -o FOLDER, processor", cpu, 150.0, "s CPU", cores),
    ]


def _rerun(*papers: str) -> tuple[float, float]:
    """Wall and processor seconds of a whole rerun with its pictures, in all its processes."""
    with tempfile.TemporaryDirectory() as folder:
        begin, used = time.perf_counter(), _children()
        words = [sys.executable, "-m", "papers", *papers, "--quick", "-o", str(Path(folder) / "rerun")]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, cwd=Path(__file__).parents[1])
        return time.perf_counter() - begin, _children() - used


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
