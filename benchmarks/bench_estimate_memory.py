"""Estimating within a limit of memory: peak memory at 5 and 20 million rows, and what the limit costs.

LDIVERSITY_QUICK=1 takes a tenth of the rows.
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

QUICK = bool(os.environ.get("LDIVERSITY_QUICK"))
ROWS = (500_000, 2_000_000) if QUICK else (5_000_000, 20_000_000)
LIMIT = 500_000_000
_BLOCK_ROWS = 250_000
_VALUES = 14
_METHODS: dict[str, ld.Method] = {"sets": ld.RandomizedAddition(l=3), "classes": ld.Anatomy(l=4)}
_ESTIMATE = """
import resource, sys
import ldiversity as ld
ld.estimate(sys.argv[1], by=["age", "sex"], memory=None if sys.argv[2] == "None" else int(sys.argv[2]))
used = resource.getrusage(resource.RUSAGE_SELF)
peak = [line for line in open("/proc/self/status") if line.startswith("VmHWM")][0].split()[1]
print(used.ru_utime + used.ru_stime, int(peak) * 1024)
"""


def run() -> list[Result]:
    results = []
    with tempfile.TemporaryDirectory() as folder:
        tables = [_written(Path(folder), rows) for rows in ROWS]
        for name, method in _METHODS.items():
            releases = [table.with_suffix(f".{name}") for table in tables]
            for table, release in zip(tables, releases, strict=True):
                ld.anonymize(table, quasi=["age", "sex"], sensitive="job", method=method, output=release)
            _estimated(releases[0], None)  # compiles what a first use compiles
            (cpu, _), (bounded, least) = _estimated(releases[0], None), _estimated(releases[0], LIMIT)
            beside = f"{cpu:.1f} s without"
            results.append(Result(f"CPU with the limit / without: {name}", bounded / cpu, 1.3, "x CPU", beside))
            _, most = _estimated(releases[1], LIMIT)
            peaks = f"{least / 1e6:.0f} MB at {ROWS[0]:,} rows, {most / 1e6:.0f} MB at {ROWS[1]:,}"
            results += [
                Result(f"peak within 500 MB: {name} by 2 columns", max(least, most) / 1e6, LIMIT / 1e6, "MB", peaks),
                Result(f"growth of the peak, rows x 4: {name}", most / least, 1.2, "x", peaks),
            ]
    return results


def _estimated(release: Path, memory: int | None) -> tuple[float, int]:
    """Processor seconds and peak bytes of a process that estimates."""
    done = subprocess.run(
        [sys.executable, "-c", _ESTIMATE, str(release), str(memory)], check=True, capture_output=True, text=True
    )
    cpu, peak = done.stdout.split()
    return float(cpu), int(peak)


def _written(folder: Path, rows: int) -> Path:
    """A table of people with skewed jobs."""
    rng = np.random.default_rng(rows)
    shares = 1 / np.arange(3, _VALUES + 3)
    file, kinds = folder / f"{rows}.parquet", pa.array(["female", "male"])
    schema = pa.schema([("age", pa.int64()), ("sex", pa.string()), ("job", pa.int64())])
    with pq.ParquetWriter(file, schema) as sink:
        for start in range(0, rows, _BLOCK_ROWS):
            n = min(_BLOCK_ROWS, rows - start)
            columns = [
                pa.array(rng.integers(17, 91, n)),
                kinds.take(pa.array(rng.integers(0, 2, n))),
                pa.array(rng.choice(_VALUES, n, p=shares / shares.sum())),
            ]
            sink.write_table(pa.Table.from_arrays(columns, schema=schema))
    return file
