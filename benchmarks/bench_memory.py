"""Publishing and auditing within a limit of memory: peak memory at 5 and 20 million rows, and what the limit costs.

Of audits also how their processor time grows: it must do so with the rows, and no faster.

LDIVERSITY_QUICK=1 takes a fiftieth of the rows.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _measure import Result

from ldiversity.datasets import adult

QUICK = bool(os.environ.get("LDIVERSITY_QUICK"))
ROWS = (100_000, 400_000) if QUICK else (5_000_000, 20_000_000)
LIMIT = 500_000_000
GROWTH = 2.0 if QUICK else 1.2  # a small table does not fill the limit
GROWTH_OF_TIME = 5.0
_BLOCK_ROWS = 250_000

_FEW = ["age", "education-num", "hours-per-week", "marital-status", "race", "sex"]
_UNIQUE = [*_FEW, "fnlwgt"]
_RUNS = {
    "randomized addition": "quasi=few, method='randomized-addition:l=3'",
    "the same, nearly all unique": "quasi=unique, method='randomized-addition:l=3'",
    "semantic diversity, people": "quasi=few, method='semantic:l=3,d=2,distance=ordered', person='who'",
    "keyed, nearly all unique": "quasi=unique, method='randomized-addition:l=3', record_id='rid', key=ld.Key.new()",
}
_PUBLISH = """
import resource, sys, warnings
warnings.simplefilter("ignore")
import ldiversity as ld
few, unique = {few}, {unique}
ld.anonymize(sys.argv[1], sensitive="occupation", output=sys.argv[2], {said}, memory={memory})
used = resource.getrusage(resource.RUSAGE_SELF)
peak = [line for line in open("/proc/self/status") if line.startswith("VmHWM")][0].split()[1]
print(used.ru_utime + used.ru_stime, int(peak) * 1024)
"""

_AUDITS = {
    "audit": "quasi=few",
    "audit, nearly all unique": "quasi=unique",
    "audit of people, nearly all unique": "quasi=unique, person='who'",
}
_AUDIT = _PUBLISH.replace("ld.anonymize", "ld.audit").replace("output=sys.argv[2], ", "")


def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        sources = [written(Path(folder), rows) for rows in ROWS]
        published = [_limited(Path(folder), sources, name, said, _PUBLISH, 1.3) for name, said in _RUNS.items()]
        audited = [_limited(Path(folder), sources, name, said, _AUDIT, 1.6) for name, said in _AUDITS.items()]
        return [result for results in (*published, *audited) for result in results]


def _limited(folder: Path, sources: list[Path], name: str, said: str, code: str, limit: float) -> Iterator[Result]:
    cpu, _ = _measured(folder, sources[0], said, None, code)
    bounded, least = _measured(folder, sources[0], said, LIMIT, code)
    yield Result(f"CPU with the limit / without: {name}", bounded / cpu, limit, "x CPU", f"{cpu:.1f} s without")
    longer, most = _measured(folder, sources[1], said, LIMIT, code)
    if code is _AUDIT:
        times = f"{bounded:.1f} s at {ROWS[0]:,} rows, {longer:.1f} s at {ROWS[1]:,}"
        yield Result(f"growth of CPU, rows x 4: {name}", longer / bounded, GROWTH_OF_TIME, "x CPU", times)
    peaks = f"{least / 1e6:.0f} MB at {ROWS[0]:,} rows, {most / 1e6:.0f} MB at {ROWS[1]:,}"
    yield Result(f"peak within 500 MB: {name}", max(least, most) / 1e6, LIMIT / 1e6, "MB", peaks)
    yield Result(f"growth of the peak, rows x 4: {name}", most / least, GROWTH, "x", peaks)


def _measured(folder: Path, source: Path, said: str, memory: int | None, code: str) -> tuple[float, int]:
    """Processor seconds and peak bytes of a process that runs the code."""
    code = code.format(few=_FEW, unique=_UNIQUE, said=said, memory=memory)
    with tempfile.TemporaryDirectory(dir=folder) as target:
        command = [sys.executable, "-c", code, str(source), f"{target}/release"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, peak = done.stdout.split()
    return float(seconds), int(peak)


def written(folder: Path, rows: int) -> Path:
    """Adult, repeated with noise, an id for each record and one for each person, who has two records."""
    people = adult().select([*_UNIQUE, "occupation"])
    rng, file = np.random.default_rng(5), folder / f"{rows}.parquet"
    with pq.ParquetWriter(file, _block(people, 0, 1, rng).schema) as writer:
        for first in range(0, rows, _BLOCK_ROWS):
            writer.write_table(_block(people, first, min(_BLOCK_ROWS, rows - first), rng))
    return file


def _block(people: pa.Table, first: int, n: int, rng: np.random.Generator) -> pa.Table:
    some = people.take(pa.array(rng.integers(people.num_rows, size=n)))
    weight = 50 * some["fnlwgt"].to_numpy() + rng.integers(-500_000, 500_000, n)
    ids = np.arange(first, first + n)
    columns = dict(zip(some.column_names, some.columns, strict=True))
    return pa.table({**columns, "fnlwgt": weight, "rid": ids, "who": rng.permutation(ids // 2)})
