"""Methods that group records within 500 MB: processor time against all rows in memory, and peak memory.

Usage: LDIVERSITY_DATA=<folder with adult.csv.gz> python benchmarks/run.py grouped_memory
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _measure import Result

import ldiversity as ld

SMALL, LARGE = 5_000_000, 20_000_000
BLOCK = 500_000
CPU_LIMIT, GROWTH_LIMIT, MEMORY = 1.6, 1.2, 500
QUASI = ["age", "fnlwgt", "education-num", "hours-per-week", "marital-status", "race", "sex"]

_CODE = """
import sys, resource, ldiversity as ld
table, folder, method, memory, *quasi = sys.argv[1:]
ld.anonymize(table, quasi=quasi, sensitive="occupation", method=method, output=folder, memory=memory or None)
used = resource.getrusage(resource.RUSAGE_SELF)
high = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(used.ru_utime + used.ru_stime, int(high.split()[1]) * 1024 / 1e6)
"""


def run() -> list[Result]:
    if not os.environ.get("LDIVERSITY_DATA"):
        print("LDIVERSITY_DATA does not name the folder of the public data sets (Adult): no figures.")
        return []
    with tempfile.TemporaryDirectory() as folder:
        small, large = (_table(Path(folder), rows) for rows in (SMALL, LARGE))
        results = []
        for method in ("bsgi:l=4", "anatomy:l=4"):
            whole, _ = _measure(small, method, "")
            cpu, peak = _measure(small, method, f"{MEMORY}MB")
            _, later = _measure(large, method, f"{MEMORY}MB")
            name = method.partition(":")[0]
            results += [
                Result(f"{name}, 5M rows, memory=500MB", cpu / whole, CPU_LIMIT, "x", f"{cpu:.0f} s of {whole:.0f}"),
                Result(f"{name}, 5M rows, peak", peak, MEMORY, "MB"),
                Result(f"{name}, 20M rows, peak", later, MEMORY, "MB"),
                Result(f"{name}, peak of 20M over 5M rows", later / peak, GROWTH_LIMIT, "x"),
            ]
        return results


def _table(folder: Path, n: int) -> Path:
    """Adult drawn with replacement, ages and weights moved a little."""
    adult = ld.datasets.adult().select([*QUASI, "occupation"])
    rng = np.random.default_rng(5)
    file = folder / f"{n}.parquet"
    with pq.ParquetWriter(file, adult.schema) as writer:
        for _ in range(n // BLOCK):
            rows = adult.take(pa.array(rng.integers(0, adult.num_rows, BLOCK)))
            for name, step in (("age", 2), ("fnlwgt", 5000)):
                place = rows.column_names.index(name)
                moved = np.asarray(rows[name]) + rng.integers(-step, step + 1, BLOCK)
                rows = rows.set_column(place, name, pa.array(moved, rows.schema.field(name).type))
            writer.write_table(rows)
    return file


def _measure(table: Path, method: str, memory: str) -> tuple[float, float]:
    """Processor seconds and peak megabytes of a new process that publishes the table."""
    with tempfile.TemporaryDirectory(dir=table.parent) as folder:
        said = [str(table), str(Path(folder) / "release"), method, memory, *QUASI]
        done = subprocess.run([sys.executable, "-c", _CODE, *said], check=True, capture_output=True, text=True)
    cpu, peak = done.stdout.split()[-2:]
    return float(cpu), float(peak)
