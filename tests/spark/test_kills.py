"""Executors, workers and drivers are killed while they publish: every row once, with its one set, or no release."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
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
from tests.spark import drivers
from tests.spark.drivers import HOW, N_FILES, N_ROWS, SEED


@pytest.fixture(scope="module")
def people(engine: SparkEngine, table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table in pieces, so that several tasks draw."""
    del engine  # without Spark this is skipped
    file = tmp_path_factory.mktemp("people") / "people.parquet"
    pq.write_table(table, file, row_group_size=500)
    return file


@pytest.fixture(scope="module")
def expected(people: Path) -> dict[int, list[str]]:
    """The one set of each row, by the engine of one machine under the same key of the job."""
    release = ld.anonymize(people, **HOW, engine=LocalEngine(), insecure_seed=SEED)
    return dict(zip(release.table["row"].to_pylist(), map(sorted, release.table["disease"].to_pylist()), strict=True))


@pytest.fixture(scope="module")
def killed(people: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What was published while processes were killed; at last the driver is killed, too."""
    folder = tmp_path_factory.mktemp("killed")
    process = drivers.start("cluster", people, folder, folder=folder)
    try:
        drivers.wait_for(lambda: drivers.n_begun(folder / "driver" / "release") > 1, process)
        process.kill()
        process.wait()
        yield folder
    finally:
        process.kill()
        process.wait()


def written(folder: Path) -> tuple[list[int], list[list[str]]]:
    """Rows and sets of the files that tasks returned, one file after the other."""
    tables = [pq.read_table(file) for file in sorted((folder / "written").iterdir())]
    whole = pa.concat_tables(tables)
    return whole["row"].to_pylist(), [sorted(members) for members in whole["disease"].to_pylist()]


@pytest.mark.parametrize("name", ["executor", "worker"])
def test_every_row_is_there_once_with_its_one_set(killed: Path, expected: dict[int, list[str]], name: str) -> None:
    assert json.loads((killed / name / "told.json").read_text()) == {"killed": True, "error": None}

    rows, sets = written(killed / name)

    assert len(list((killed / name / "written").iterdir())) == N_FILES
    words = KeyedWords(Key.from_insecure_seed(SEED), b"", "order").for_records(row_identities(0, 0, N_ROWS), 2)
    keys = [pair.astype("<u8").tobytes() for pair in words]
    assert rows == sorted(range(N_ROWS), key=keys.__getitem__)
    assert sets == [expected[row] for row in rows]
    release = ld.load_release(killed / name / "release")
    release.verify()
    assert release.table["row"].to_pylist() == rows
    assert sorted(path.name for path in (killed / name).iterdir() if not path.name.startswith("draws-")) == [
        "release",
        "told.json",
        "written",
    ]


def test_fresh_randomness_loses_rows_publishes_others_twice_and_is_refused(
    killed: Path, expected: dict[int, list[str]]
) -> None:
    """The same fault with the same settings: the tests above would see it, and Spark itself does not prevent it."""
    told = json.loads((killed / "fresh" / "told.json").read_text())

    rows, sets = written(killed / "fresh")

    assert told["killed"]
    assert sets != [expected[row] for row in rows]
    times = np.bincount(rows, minlength=N_ROWS)
    assert (times == 0).any()
    assert (times > 1).any()
    assert told["error"] is not None or len(rows) == N_ROWS  # which is how many there should be
    assert (killed / "fresh" / "release").exists() == (told["error"] is None)


def test_a_killed_driver_leaves_no_release_and_the_next_run_removes_what_it_leaves(killed: Path, people: Path) -> None:
    folder = killed / "driver"
    left = [path for path in folder.iterdir() if path.name.startswith(".")]
    assert not (folder / "release").exists()
    assert [path.stat().st_mode & 0o077 for path in left] == [0]

    ld.anonymize(people, **HOW, engine=LocalEngine(), output=folder / "release")

    assert [path.name for path in folder.iterdir() if not path.name.startswith("draws-")] == ["release"]


def test_a_driver_that_is_asked_to_end_leaves_nothing(people: Path, tmp_path: Path) -> None:
    folder = tmp_path / "alone"
    folder.mkdir()
    process = drivers.start("alone", people, folder, folder=tmp_path)
    try:
        drivers.wait_for(lambda: drivers.n_begun(folder / "release") > 1, process)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) != 0
    finally:
        process.kill()
        process.wait()

    assert [path.name for path in folder.iterdir() if not path.name.startswith("draws-")] == []


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
