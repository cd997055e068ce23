"""Methods that group records within 500 MB: peak memory, and processor time against all rows in memory.

Usage: LDIVERSITY_DATA=<folder with adult.csv.gz> python benchmarks/run.py grouped_memory
LDIVERSITY_QUICK=1 takes a fifth of the rows; LDIVERSITY_METHODS=bsgi,anatomy takes these methods alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _measure import Result

import ldiversity as ld

QUICK = bool(os.environ.get("LDIVERSITY_QUICK"))
SMALL, LARGE = (1_000_000, 4_000_000) if QUICK else (5_000_000, 20_000_000)
BLOCK = 500_000
CPU_LIMITS = {"anatomy": 2.5, "bsgi": 1.6}
GROWTH_LIMIT, MEMORY = 1.2, 500
QUASI = ["age", "fnlwgt", "education-num", "hours-per-week", "marital-status", "race", "sex"]
COARSE = ["age", "education-num", "marital-status", "race", "sex"]
"""Incognito must have all combinations of quasi-identifiers in memory."""

METHODS = {
    "anatomy": "anatomy:l=4",
    "le-anatomy": "le-anatomy:l=2,e=1,tree={tree}",
    "llmsu": "llmsu:l=4",
    "mbf": "mbf:l=4",
    "bsgi": "bsgi:l=4,effort=0",
    "mondrian": "mondrian:l=4",
    "tp": "tp:l=4",
    "incognito": "incognito:l=4",
}

_CODE = """
import sys, resource, warnings, ldiversity as ld
warnings.simplefilter("ignore")
table, folder, method, memory, person, *quasi = sys.argv[1:]
said = dict(quasi=quasi, sensitive="occupation", method=method, output=folder)
ld.anonymize(table, **said, memory=memory or None, person=person or None)
used = resource.getrusage(resource.RUSAGE_SELF)
high = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(used.ru_utime + used.ru_stime, int(high.split()[1]) * 1024 / 1e6)
"""


def run() -> list[Result]:
    if not os.environ.get("LDIVERSITY_DATA"):
        print("LDIVERSITY_DATA does not name the folder of the public data sets (Adult): no figures.")
        return []
    chosen = os.environ.get("LDIVERSITY_METHODS", ",".join(METHODS)).split(",")
    with tempfile.TemporaryDirectory() as folder:
        tables = {rows: table_file(Path(folder), rows) for rows in (SMALL, LARGE)}
        return list(_measured(_of_method(name, tables) for name in chosen))


def _measured(parts: Iterable[Iterator[Result]]) -> Iterator[Result]:
    """All results that there are: what cannot be measured is said, and the rest goes on."""
    for results in parts:
        try:
            yield from results
        except subprocess.CalledProcessError as error:
            print(f"This could not be measured: {error.stderr.strip().splitlines()[-1]}", flush=True)


def _of_method(name: str, tables: dict[int, Path]) -> Iterator[Result]:
    """Peaks with and without people, and of more rows; of two methods also what the limit costs."""
    limit, rows = f"{MEMORY}MB", f"{SMALL // 1_000_000}M rows"
    cpu, peak = _measure(tables[SMALL], name, limit)
    yield Result(f"{name}, {rows}, peak", peak, MEMORY, "MB")
    if name != "incognito":
        _, people = _measure(tables[SMALL], name, limit, person="who")
        yield Result(f"{name} of people, {rows}, peak", people, MEMORY, "MB")
    if name in CPU_LIMITS:
        whole, _ = _measure(tables[SMALL], name, "")
        yield Result(
            f"{name}, {rows}, memory=500MB", cpu / whole, CPU_LIMITS[name], "x CPU", f"{cpu:.0f} s of {whole:.0f}"
        )
    _, later = _measure(tables[LARGE], name, limit)
    yield Result(f"{name}, {LARGE // 1_000_000}M rows, peak", later, MEMORY, "MB")
    yield Result(f"{name}, growth of the peak, rows x 4", later / peak, GROWTH_LIMIT, "x")


def table_file(folder: Path, n: int) -> Path:
    """Adult drawn with replacement, ages and weights moved a little; two records for each person."""
    adult = ld.datasets.adult().select([*QUASI, "occupation"])
    jobs = sorted(adult["occupation"].unique().to_pylist())
    ld.Hierarchy.from_rows([(job, f"group {place % 5}") for place, job in enumerate(jobs)]).save(
        folder / "tree.csv", overwrite=True
    )
    rng = np.random.default_rng(5)
    file = folder / f"{n}.parquet"
    with pq.ParquetWriter(file, adult.schema.append(pa.field("who", pa.int64()))) as writer:
        for first in range(0, n, BLOCK):
            rows = adult.take(pa.array(rng.integers(0, adult.num_rows, BLOCK)))
            for name, step in (("age", 2), ("fnlwgt", 5000)):
                place = rows.column_names.index(name)
                moved = np.asarray(rows[name]) + rng.integers(-step, step + 1, BLOCK)
                rows = rows.set_column(place, name, pa.array(moved, rows.schema.field(name).type))
            who = rng.permutation(np.arange(first, first + BLOCK) // 2)
            writer.write_table(rows.append_column("who", pa.array(who)))
    return file


def _measure(table: Path, name: str, memory: str, *, person: str = "") -> tuple[float, float]:
    """Processor seconds and peak megabytes of a new process that publishes the table."""
    method = METHODS[name].format(tree=table.with_name("tree.csv"))
    quasi = COARSE if name == "incognito" else QUASI
    with tempfile.TemporaryDirectory(dir=table.parent) as folder:
        said = [str(table), str(Path(folder) / "release"), method, memory, person, *quasi]
        done = subprocess.run([sys.executable, "-c", _CODE, *said], check=True, capture_output=True, text=True)
    cpu, peak = done.stdout.split()[-2:]
    return float(cpu), float(peak)
