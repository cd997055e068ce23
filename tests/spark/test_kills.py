"""Executors, workers and drivers are killed while they publish: every row once, with its one set, or no release."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldiversity as ld
from ldiversity.base.randomness import Key, KeyedWords, row_identities
from ldiversity.engines import LocalEngine
from ldiversity.engines.spark import SparkEngine
from tests.spark.conftest import Cluster
from tests.spark.drivers import HOW, N_FILES, N_ROWS, SEED


@pytest.fixture(scope="module")
def expected(one_file: Path) -> dict[int, list[str]]:
    """The one set of each row, by the engine of one machine under the same key of the job."""
    release = ld.anonymize(one_file, **HOW, engine=LocalEngine(), insecure_seed=SEED)
    return dict(zip(release.table["row"].to_pylist(), map(sorted, release.table["disease"].to_pylist()), strict=True))


def told(cluster: Cluster, name: str) -> dict[str, Any]:
    """What the driver told about a job: whether the fault happened, the error, and signals that would have ended it."""
    found: dict[str, Any] = json.loads((cluster.folder / f"{name}.json").read_text())
    return found


def written(folder: Path) -> tuple[list[int], list[list[str]]]:
    """Rows and sets of the files that tasks returned, one file after the other."""
    tables = [pq.read_table(file) for file in sorted((folder / "written").iterdir())]
    whole = pa.concat_tables(tables)
    return whole["row"].to_pylist(), [sorted(members) for members in whole["disease"].to_pylist()]


@pytest.mark.parametrize("name", ["executor", "worker", "speculation"])
def test_every_row_is_there_once_with_its_one_set(cluster: Cluster, expected: dict[int, list[str]], name: str) -> None:
    """After an executor or a worker is killed, and where two attempts of a task write at the same time."""
    assert told(cluster, name) == {"happened": True, "error": None, "signals": []}
    folder = cluster.folder / name

    rows, sets = written(folder)

    assert len(list((folder / "written").iterdir())) == N_FILES
    words = KeyedWords(Key.from_insecure_seed(SEED), b"", "order").for_records(row_identities(0, 0, N_ROWS), 2)
    keys = [pair.astype("<u8").tobytes() for pair in words]
    assert rows == sorted(range(N_ROWS), key=keys.__getitem__)
    assert sets == [expected[row] for row in rows]
    release = ld.load_release(folder / "release")
    release.verify()
    assert release.table["row"].to_pylist() == rows
    assert left_in(folder) == ["release", "written"]


def left_in(folder: Path) -> list[str]:
    """What is in a folder beside the signs that slow tasks gave."""
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith(("draws-", "tries-")))


def test_fresh_randomness_loses_rows_publishes_others_twice_and_is_refused(
    cluster: Cluster, expected: dict[int, list[str]]
) -> None:
    """The same fault with the same settings: the tests above would see it, and Spark itself does not prevent it."""
    error = told(cluster, "fresh")["error"]

    rows, sets = written(cluster.folder / "fresh")

    assert told(cluster, "fresh")["happened"]
    assert sets != [expected[row] for row in rows]
    times = np.bincount(rows, minlength=N_ROWS)
    assert (times == 0).any()
    assert (times > 1).any()
    assert error is not None or len(rows) == N_ROWS  # which is how many there should be
    assert (cluster.folder / "fresh" / "release").exists() == (error is None)


def test_a_killed_driver_leaves_no_release_and_the_next_run_removes_what_it_leaves(
    cluster: Cluster, one_file: Path
) -> None:
    folder = cluster.folder / "driver"
    left = [path for path in folder.iterdir() if path.name.startswith(".")]
    assert not (folder / "release").exists()
    assert [path.stat().st_mode & 0o077 for path in left] == [0]

    ld.anonymize(one_file, **HOW, engine=LocalEngine(), output=folder / "release")

    assert left_in(folder) == ["release"]


def test_a_driver_that_is_asked_to_end_leaves_nothing_and_ends(cluster: Cluster) -> None:
    assert told(cluster, "ended") == {"happened": True, "error": None, "signals": [signal.SIGTERM]}
    assert left_in(cluster.folder / "ended") == []


def test_spark_compares_what_is_computed_again_only_where_it_is_the_users(
    engine: SparkEngine, spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sealed rows always differ, and must not end a job; a frame that draws must not be staged from two evaluations."""
    name = "spark.sql.shuffle.orderIndependentChecksum.enabled"
    before, seen, run = spark.conf.get(name, None), [], SparkEngine.run

    def watched(self: SparkEngine, action: Any, **how: Any) -> Any:
        return run(self, lambda: (seen.append(spark.conf.get(name, None)), action())[1], **how)

    monkeypatch.setattr(SparkEngine, "run", watched)
    engine.open(spark.range(5).selectExpr("id", "rand() as drawn"))

    assert seen == [before, "false"]  # it is staged, and then counted
    assert spark.conf.get(name, None) == before
