"""File to file: costs against pyarrow's reading and writing of the same table, and memory that does not grow.

Every run writes something new, because a release that replaces another reads that one first, to warn.
"""

from __future__ import annotations

import tempfile
from itertools import count
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
from _measure import Result, cost_of, peak_memory_of

import ldiversity as ld

ROWS = 5_000_000
CSV_ROWS = 2_000_000

_PUBLISH = """
import sys
import ldiversity as ld
from ldiversity.engines import LocalEngine
ld.anonymize(sys.argv[1], quasi=["age", "sex", "zip", "job"], plain=["weight"], sensitive="disease",
             method=ld.RandomizedAddition(l=3), output=sys.argv[2], engine=LocalEngine(chunk_rows=int(sys.argv[3])))
"""


def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        return _run(Path(folder))


def _run(folder: Path) -> list[Result]:
    source = folder / "source.parquet"
    pq.write_table(table_of(ROWS), source)

    numbers = count()

    def copy() -> None:
        pq.write_table(pq.read_table(source), folder / f"copy{next(numbers)}.parquet")

    def publish() -> None:
        _publish(source, folder / f"release{next(numbers)}")

    ld.anonymize(table_of(1000), quasi="age", sensitive="disease", method=ld.RandomizedAddition(l=3))
    floor, ours = cost_of(copy), cost_of(publish)
    pq.write_table(table_of(ROWS // 10), source)
    tenth = cost_of(publish)
    detail = f"{ours.wall:.1f} s against {floor.wall:.1f} s"
    return [
        Result("anonymize 5M x 6 Parquet / pyarrow read + write", ours.wall / floor.wall, 1.7, "x wall", detail),
        Result("growth: CPU at 5M rows / at 500k rows", ours.cpu / tenth.cpu, 13, "x CPU", f"{tenth.cpu:.2f} s"),
        _csv(folder),
        *_memory(folder),
    ]


def _publish(source: Path, target: Path) -> None:
    ld.anonymize(
        source,
        quasi=["age", "sex", "zip", "job"],
        plain=["weight"],
        sensitive="disease",
        method=ld.RandomizedAddition(l=3),
        output=target,
    )


def _csv(folder: Path) -> Result:
    source = folder / "source.csv"
    pacsv.write_csv(table_of(CSV_ROWS), source)
    numbers = count()
    floor = cost_of(lambda: pacsv.write_csv(pacsv.read_csv(source), folder / f"copy{next(numbers)}.csv"), repeat=7)
    ours = cost_of(lambda: _publish(source, folder / f"release_csv{next(numbers)}"), repeat=7)
    detail = f"{ours.cpu:.1f} s against {floor.cpu:.1f} s"
    return Result("anonymize 2M x 6 CSV / pyarrow read + write", ours.cpu / floor.cpu, 2.5, "x CPU", detail)


def _memory(folder: Path) -> list[Result]:
    chunk = 200_000
    peaks = {}
    for times in (3, 10, 30):
        source = folder / f"{times}.parquet"
        pq.write_table(table_of(chunk * times), source, row_group_size=chunk)
        peaks[times] = peak_memory_of(_PUBLISH, str(source), str(folder / f"release_of_{times}"), str(chunk))
    return [
        Result(
            f"peak memory, file of {times} chunks / file of 3 chunks",
            peaks[times] / peaks[3],
            1.15,
            "x",
            f"{peaks[times] / 2**20:.0f} MiB against {peaks[3] / 2**20:.0f} MiB",
        )
        for times in (10, 30)
    ]


def table_of(rows: int) -> pa.Table:
    """A table like a hospital's: numbers, texts of several lengths, fifty diseases."""
    rng = np.random.default_rng(0)

    def texts(form: str, kinds: int) -> pa.Array:
        return pa.array([form.format(i) for i in range(kinds)]).take(pa.array(rng.integers(0, kinds, rows)))

    return pa.table(
        {
            "age": rng.integers(0, 100, rows),
            "sex": texts("{}", 2),
            "zip": texts("{:05d}", 1000),
            "job": texts("occupation {}", 30),
            "weight": rng.normal(70, 12, rows),
            "disease": texts("disease {}", 50),
        }
    )
