"""Keys and cells stay where they belong: everything that Spark leaves behind is searched for them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldiversity as ld
from ldiversity.engines.spark import SparkEngine
from tests.spark import drivers
from tests.spark.drivers import CELLS, found


@pytest.fixture(scope="module")
def left(engine: SparkEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What a driver with and without a key left behind, while it still runs: folders, and what to look for."""
    del engine  # without Spark this is skipped
    base, private = tmp_path_factory.mktemp("canary"), tmp_path_factory.mktemp("private")
    n_rows = 600
    people = ld.datasets.patients(n_rows, seed=5).to_pydict()
    name, disease = (cell.decode() for cell in CELLS.values())
    people["name"] = [f"{name}-{number}" for number in range(n_rows)]
    people["disease"] = [value if number % 9 else disease for number, value in enumerate(people["disease"])]
    pq.write_table(pa.table(people), private / "people.parquet", row_group_size=100)
    ld.Key.new().save(private / "holder.key")
    process = drivers.start("canaries", private, base, folder=base)
    try:
        drivers.wait_for((base / "ready").exists, process)
        told = json.loads((private / "told.json").read_text())
        keys = {name: bytes.fromhex(text) for name, text in told["keys"].items()}
        yield {"folder": base, "keys": keys, "process": process, **{one: told[one] for one in ("said", "passing")}}
    finally:
        process.kill()
        process.wait()


def test_no_cell_is_left_where_it_must_not_be(left: dict[str, Any]) -> None:
    folder: Path = left["folder"]
    for place in ("events", "local", "plans", "releases", "scratch"):
        assert any((folder / place).iterdir())

    for place in ("events", "plans", "scratch", "driver.log"):
        assert found(folder / place, CELLS) == set()
    # What is counted stands in the files of a session that does not encrypt them until Spark removes it, as the guide
    # says.
    assert found(folder / "local", CELLS) <= {"value"}
    assert found(folder / "releases", CELLS) == {"value"}  # a member of sets, as it should be
    assert len(left["said"]) == 1
    assert not [text for text in left["said"] for cell in CELLS.values() if cell.decode() in text]


def test_no_key_is_left_anywhere_and_one_that_is_spread_would_be_found(left: dict[str, Any]) -> None:
    folder: Path = left["folder"]
    assert set(left["keys"]) > {"holder", "job", "engine"}

    assert set(left["passing"]) <= {"value"}  # what is counted stands on disk for a moment, as the guide says
    assert found(folder, left["keys"]) == set()

    (folder / "spread").touch()
    drivers.wait_for((folder / "was spread").exists, left["process"])
    assert found(folder, left["keys"]) == {"holder"}
