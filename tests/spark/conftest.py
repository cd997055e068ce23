"""One Spark session for all tests of this folder; without Java or pyspark they are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldiversity as ld
from ldiversity.engines.spark import SparkEngine
from ldiversity.errors import UnsupportedError

N_ROWS = 3000


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where tests run in several processes, those of Spark run in one, and so start one Spark."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def local_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where Spark keeps what does not stay in memory."""
    return tmp_path_factory.mktemp("disk")


@pytest.fixture(scope="session")
def engine(local_dir: Path) -> Iterator[SparkEngine]:
    """An engine on two cores of this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_LOCAL_DIRS", str(local_dir))
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYSPARK_SUBMIT_ARGS", "--driver-memory 1g --conf spark.sql.shuffle.partitions=2 pyspark-shell")
        try:
            made = SparkEngine(master="local[2]")
        except UnsupportedError as error:
            pytest.skip(f"the tests of Spark are not run: {error.message}")
    yield made
    made.close()
    made.session.stop()


@pytest.fixture(scope="session")
def spark(engine: SparkEngine) -> Any:
    """The session of the engine."""
    return engine.session


@pytest.fixture(scope="session")
def table() -> pa.Table:
    """A table of people with a number for each row."""
    return ld.datasets.patients(N_ROWS, seed=5).append_column("row", pa.array(range(N_ROWS)))


@pytest.fixture(scope="session")
def one_file(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table as one Parquet file."""
    file = tmp_path_factory.mktemp("one") / "people.parquet"
    pq.write_table(table, file, row_group_size=500)
    return file


@pytest.fixture(scope="session")
def many_files(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table as a folder of five Parquet files."""
    folder = tmp_path_factory.mktemp("many")
    for number in range(5):
        pq.write_table(table.slice(number * 600, 600), folder / f"part-{number}.parquet")
    return folder
