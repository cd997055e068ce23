"""One Spark session for all tests of this folder; without Java or pyspark they are skipped."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldiversity as ld
from ldiversity.engines.spark import SparkEngine
from ldiversity.errors import UnsupportedError
from tests.spark import drivers
from tests.spark.canaries import CELLS, found

N_ROWS = 3000
_NOT_RUN = "the tests of Spark are not run"
_SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    # The same Java serves clients of Spark Connect.
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": "0",
}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Without Spark, all skipped tests have one place and one reason, which makes one line of the summary."""
    report = yield
    reason = str(call.excinfo.value) if call.excinfo is not None and report.skipped else ""
    if reason.startswith(_NOT_RUN):
        report.longrepr = (__file__, 1, f"Skipped: {reason}")
    return report


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
        settings = " ".join(f"--conf {name}={value}" for name, value in _SETTINGS.items())
        patch.setenv(
            "PYSPARK_SUBMIT_ARGS",
            f"--driver-memory 1g --driver-java-options '{drivers.QUICK_JAVA}' {settings} pyspark-shell",
        )
        try:
            made = SparkEngine(master="local[2]")
        except UnsupportedError as error:
            pytest.skip(f"{_NOT_RUN}: {error.message}")
    yield made
    made.close()
    made.session.stop()


@pytest.fixture(scope="session")
def spark(engine: SparkEngine) -> Any:
    """The session of the engine."""
    return engine.session


@pytest.fixture(scope="session")
def remote(spark: Any) -> str:
    """The address under which the same Spark serves clients of Spark Connect."""
    service = getattr(spark._jvm.org.apache.spark.sql.connect.service, "SparkConnectService$")
    return f"sc://127.0.0.1:{getattr(service, 'MODULE$').localPort()}"


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


@dataclass(frozen=True)
class Cluster:
    """What a driver left behind, whose cluster was hurt while it worked, and which was killed in the end.

    Attributes
    ----------
    folder
        Where it worked.
    keys, said, passing
        The keys that were used, the errors that were raised, and what Spark's disks held at times, as the driver told.
    n_files
        How many files there were in each folder while the driver still ran, and those that executors had in ``local``.
    cells
        Which cells were in them.
    found, spread
        Which keys were in any file, and which were after one of them was spread on purpose.
    """

    folder: Path
    keys: dict[str, bytes]
    said: list[str]
    passing: list[str]
    n_files: dict[str, int]
    cells: dict[str, set[str]]
    found: set[str]
    spread: set[str]


@pytest.fixture(scope="session")
def cluster(engine: SparkEngine, one_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    """The one cluster of several executors for all tests of this folder; its driver is a process of its own."""
    del engine  # without Spark this is skipped
    folder, private = tmp_path_factory.mktemp("cluster"), tmp_path_factory.mktemp("private")
    _write_canaries(private)
    process = drivers.start("cluster", private, one_file, folder, folder=folder)
    try:
        drivers.wait_for((folder / "ready").exists, process)
        told = json.loads((private / "told.json").read_text())
        keys = {name: bytes.fromhex(text) for name, text in told.pop("keys").items()}
        places = ("events", "local", "plans", "releases", "scratch", "driver.log", "spark")
        n_files = {place: sum(file.is_file() for file in (folder / place).rglob("*")) for place in places}
        n_files["executors"] = sum(file.is_file() for file in (folder / "local").glob("*/executor-*/**/*"))
        cells = {place: found(folder / place, CELLS) for place in places}
        before = found(folder, keys)
        (folder / "spread").touch()
        drivers.wait_for((folder / "was spread").exists, process)
        after = found(folder, keys)
        drivers.wait_for(lambda: drivers.n_begun(folder / "driver" / "release") > 1, process)
    finally:
        process.kill()
        process.wait()
    return Cluster(folder, keys, n_files=n_files, cells=cells, found=before, spread=after, **told)


def _write_canaries(private: Path) -> None:
    """A key, and a table with cells to look for."""
    n_rows = 600
    people = ld.datasets.patients(n_rows, seed=5).to_pydict()
    name, disease = (cell.decode() for cell in CELLS.values())
    del people["zip"], people["job"]
    people["name"] = [f"{name}-{number}" for number in range(n_rows)]
    people["who"] = [f"{name}-of-{number // 2}" for number in range(n_rows)]
    people["disease"] = [value if number % 9 else disease for number, value in enumerate(people["disease"])]
    pq.write_table(pa.table(people), private / "people.parquet", row_group_size=300)
    ld.Key.new().save(private / "holder.key")
