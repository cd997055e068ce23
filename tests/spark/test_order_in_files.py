"""The order of a release of many files says nothing about the table: not which file, and not which place in it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray
from scipy import stats

import ldiversity as ld
from ldiversity.engines.spark import SparkEngine
from tests.spark.drivers import HOW

N_JOBS: Final = 3
N_GROUPS: Final = 10
FALSE_ALARMS: Final = 1e-6


def independence(jobs: list[list[NDArray[np.int64]]], n_rows: int) -> dict[str, float]:
    """The p-values of no relation between where a row was and its file, and between that and its place in the file.

    Where it was is one of ten groups of neighboring rows; so is its place within the file. Under a uniform order both
    tables have the chi-square distribution of tables of given margins.
    """
    n_files = len(jobs[0])
    by_file, by_place = np.zeros((N_GROUPS, n_files)), np.zeros((N_GROUPS, N_GROUPS))
    for files in jobs:
        for number, rows in enumerate(files):
            before = rows * N_GROUPS // n_rows
            np.add.at(by_file, (before, number), 1)
            np.add.at(by_place, (before, np.arange(len(rows)) * N_GROUPS // len(rows)), 1)
    return {
        "file": float(stats.chi2_contingency(by_file).pvalue),
        "place": float(stats.chi2_contingency(by_place).pvalue),
    }


def published(engine: SparkEngine, table: Path, folder: Path) -> list[NDArray[np.int64]]:
    """The rows of each file of a release, as they stand there."""
    release = ld.anonymize(table, **HOW, engine=SparkEngine(engine.session, file_rows=750), output=folder)
    files = sorted(folder.glob("data*.parquet"))
    rows = [pq.read_table(file)["row"].to_numpy() for file in files]
    assert len(files) == 4
    assert np.array_equal(np.concatenate(rows), release.table["row"].to_numpy())
    return rows


def test_files_and_places_are_independent_of_the_table(engine: SparkEngine, many_files: Path, tmp_path: Path) -> None:
    """False alarm rate 2e-6."""
    jobs = [published(engine, many_files, tmp_path / str(number)) for number in range(N_JOBS)]

    found = independence(jobs, 3000)

    assert min(found.values()) > FALSE_ALARMS
    assert len({tuple(np.concatenate(rows)) for rows in jobs}) == N_JOBS  # every job has an order of its own


@pytest.mark.parametrize("way", ["file", "place"])
def test_an_order_that_follows_the_table_is_noticed(way: str) -> None:
    """Rows that stay in their file, in a random order; and rows that go to any file, but stay in their order."""
    rng = np.random.default_rng(4)
    jobs = []
    for _ in range(N_JOBS):
        if way == "file":
            jobs.append([rng.permutation(rows) for rows in np.split(np.arange(3000), 4)])
        else:
            jobs.append([np.sort(rows) for rows in np.split(rng.permutation(3000), 4)])

    assert independence(jobs, 3000)[way] < FALSE_ALARMS
