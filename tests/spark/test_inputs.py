"""Tables that stand out: whatever columns, paths or cells they have, their rows are the ones that are published."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import ldiversity as ld
from ldiversity.engines.spark import SparkEngine, SparkSource
from ldiversity.engines.spark._files import InputFiles
from ldiversity.tables import COUNT, Source

N_ROWS = 60
HOW: dict[str, Any] = {"quasi": "age", "sensitive": "disease", "method": "randomized-addition:l=2"}


@pytest.fixture(scope="module")
def people() -> pa.Table:
    """A small table, with a number for each row."""
    rows = np.arange(N_ROWS)
    return pa.table({"row": rows, "age": rows % 7, "disease": [f"d{row % 5}" for row in rows]})


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """A folder whose name Spark could take for a pattern or for an encoded one."""
    folder = tmp_path / "my scr%20atch [ä] {a,b}*?#;"
    folder.mkdir()
    return folder


@pytest.fixture
def elsewhere(engine: SparkEngine, scratch: Path) -> Iterator[SparkEngine]:
    """An engine that stages tables there."""
    made = SparkEngine(engine.session, scratch=scratch)
    yield made
    made.close()


def identities(engine: SparkEngine, source: Source) -> tuple[list[int], int]:
    """The rows of a table in order, and how many identities they have."""
    seen = list(engine.rows(source, ["row"]))
    rows = sorted(row for batch in seen for row in batch.cells["row"].to_pylist())
    return rows, len(np.unique(np.concatenate([batch.identities for batch in seen]), axis=0))


def counted(engine: SparkEngine, source: Source, column: str) -> dict[Any, int]:
    found = engine.count(source, [column])
    assert found is not None
    values = dict(zip(found[column].to_pylist(), found[COUNT].to_pylist(), strict=True))
    assert len(values) == found.num_rows
    return values


def hive(table: pa.Table, folder: Path) -> Path:
    """The table in a folder that stands for a value, which Java reads."""
    (folder / "year=2020").mkdir(parents=True)
    pq.write_table(table, folder / "year=2020" / "people.parquet", compression="none", use_dictionary=False)
    return folder


@pytest.mark.parametrize("name", ["_metadata", "_METADATA"])
def test_a_column_with_the_name_of_sparks_facts_stands_for_none_of_them(
    engine: SparkEngine, people: pa.Table, tmp_path: Path, name: str
) -> None:
    same = {"row_index": 0, "file_path": "a", "file_size": 1, "file_modification_time": None}
    kind = pa.struct(
        [
            ("row_index", pa.int64()),
            ("file_path", pa.string()),
            ("file_size", pa.int64()),
            ("file_modification_time", pa.timestamp("us")),
        ]
    )
    folder = hive(people.append_column(name, pa.array([same] * N_ROWS, kind)), tmp_path)

    source = engine.open(folder)

    assert isinstance(source, SparkSource)
    assert isinstance(source.files, InputFiles)
    assert source.n_rows == N_ROWS
    assert identities(engine, source) == (list(range(N_ROWS)), N_ROWS)
    source.check_unchanged()


@pytest.mark.parametrize("reader", ["workers", "java"])
def test_a_file_that_a_frame_reads_twice_gives_twice_the_rows(
    engine: SparkEngine, spark: Any, people: pa.Table, tmp_path: Path, reader: str
) -> None:
    pq.write_table(people, tmp_path / "people.parquet")
    frame = spark.read.parquet(str(tmp_path), str(tmp_path / "people.parquet"))

    source = engine.open(frame if reader == "workers" else frame.withColumnRenamed("age", "years"))

    assert source.n_rows == frame.count() == 2 * N_ROWS
    assert identities(engine, source) == (sorted([*range(N_ROWS)] * 2), 2 * N_ROWS)


def test_a_path_may_have_any_letters(
    elsewhere: SparkEngine, spark: Any, people: pa.Table, scratch: Path, tmp_path: Path
) -> None:
    folder = hive(people, tmp_path / "{in} put%20[ä]*?#;\\")
    file = tmp_path / "{in} put*.parquet"
    pq.write_table(people, file)

    for path in (folder, folder / "year=2020" / "people.parquet", file):
        source = elsewhere.open(path)
        assert identities(elsewhere, source) == (list(range(N_ROWS)), N_ROWS)
        assert isinstance(source, SparkSource)
        source.check_unchanged()
    before = set(tmp_path.iterdir())
    staged = elsewhere.open(spark.createDataFrame(people.to_pylist()))

    assert identities(elsewhere, staged) == (list(range(N_ROWS)), N_ROWS)
    (private,) = scratch.iterdir()
    assert private.stat().st_mode & 0o077 == 0
    assert list(private.rglob("*.parquet"))
    elsewhere.close()
    assert not list(scratch.iterdir())
    assert set(tmp_path.iterdir()) == before


def test_a_frame_that_is_cached_is_read_and_counted_from_the_same_files(
    engine: SparkEngine, spark: Any, people: pa.Table, tmp_path: Path
) -> None:
    gone = people.set_column(2, "disease", pa.array(["gone", *people["disease"].to_pylist()[1:]]))
    folder = hive(gone, tmp_path)
    frame = spark.read.parquet(str(folder)).cache()
    try:
        assert frame.count() == N_ROWS
        pq.write_table(people, folder / "year=2020" / "people.parquet", compression="none", use_dictionary=False)

        source = engine.open(frame)

        assert isinstance(source, SparkSource)
        assert isinstance(source.files, InputFiles)
        assert source.files.paths
        assert counted(engine, source, "disease") == {f"d{value}": N_ROWS // 5 for value in range(5)}
        read = [cell for batch in engine.rows(source, ["disease"]) for cell in batch.cells["disease"].to_pylist()]
        assert sorted(read) == sorted(people["disease"].to_pylist())
    finally:
        frame.unpersist()
    kept = spark.read.parquet(str(folder)).select("row", "_metadata").cache()
    try:
        assert kept.count() == N_ROWS
        source = engine.open(kept)
        assert isinstance(source, SparkSource)
        assert source.files is None  # what Spark keeps may go, and come again from other files
        assert source.n_rows == N_ROWS
    finally:
        kept.unpersist()


@pytest.mark.parametrize(("reader", "written"), [("workers", False), ("java", False), ("java", True)])
def test_files_that_are_replaced_meanwhile_are_refused(
    engine: SparkEngine, people: pa.Table, tmp_path: Path, reader: str, *, written: bool
) -> None:
    folder = hive(people, tmp_path / "table") if reader == "java" else tmp_path
    file = next(folder.rglob("*.parquet")) if reader == "java" else folder / "people.parquet"
    pq.write_table(people, file, compression="none", use_dictionary=False)
    other = tmp_path / "other"
    turned = people.set_column(2, "disease", pa.array(people["disease"].to_pylist()[::-1]))
    pq.write_table(turned, other, compression="none", use_dictionary=False)
    before, done = file.stat(), list[str]()
    assert other.stat().st_size == before.st_size

    def replace(_: float, word: str) -> None:
        if word == "screening" and not done:
            done.append(word)
            shutil.copyfile(other, file)
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    with pytest.raises(ld.SchemaError, match="must stay as they are while they are read"):
        ld.anonymize(
            folder if reader == "java" else file,
            **HOW,
            drop=["row", *(["year"] if reader == "java" else [])],
            engine=engine,
            progress=replace,
            output=tmp_path / "release" if written else None,
        )
    assert done
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize("reader", ["workers", "java", "staged"])
def test_what_is_no_number_is_missing(engine: SparkEngine, spark: Any, tmp_path: Path, reader: str) -> None:
    cells = pa.array([np.nan, None, 1.5, 2.5, 3.5, np.nan] * 4, from_pandas=False)
    table = pa.table({"age": range(24), "value": cells, "other": pc.cast(cells, pa.float32())})
    folder = hive(table, tmp_path / "table") if reader == "java" else tmp_path
    if reader != "java":
        pq.write_table(table, folder / "people.parquet")
    source = engine.open(spark.read.parquet(str(folder)).where("age >= 0") if reader == "staged" else folder)

    assert counted(engine, source, "value") == counted(engine, source, "other") == {None: 12, 1.5: 4, 2.5: 4, 3.5: 4}
    assert engine.count(source, ["value"], most=4) is not None
    assert engine.count(source, ["value"], most=3) is None
    if reader == "java":
        release = ld.anonymize(
            folder,
            quasi="age",
            drop=["other", "year"],
            sensitive=ld.Sensitive("value", missing="drop"),
            method="randomized-addition:l=2",
            engine=engine,
        )
        assert release.table.num_rows == 12


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (
            {"when": pa.array([1], pa.timestamp("ns"))},
            r"column 'when' must have a type that Spark reads, got timestamp\[ns\]",
        ),
        ({"inside": pa.array([[1]], pa.list_(pa.time64("us")))}, "column 'inside' must have a type that Spark reads"),
        ({"age": [1], "Age": [2]}, "names of columns must differ in more than .* letters, got 'age', 'Age'"),
        (None, "'?no.parquet'?: must be whole Parquet files that Spark can read"),
    ],
)
def test_files_that_spark_does_not_read_are_refused_by_what_is_wrong(
    engine: SparkEngine, tmp_path: Path, columns: dict[str, Any] | None, said: str
) -> None:
    file = tmp_path / "no.parquet"
    if columns is None:
        file.write_bytes(b"PAR1 no")
    else:
        pq.write_table(pa.table(columns), file)

    for path in (file, *([] if columns is None else [tmp_path])):
        with pytest.raises(ld.SchemaError, match=said):
            engine.open(path)


def test_a_file_that_lost_all_its_bytes_is_not_passed_over(
    engine: SparkEngine, spark: Any, people: pa.Table, tmp_path: Path
) -> None:
    pq.write_table(people, tmp_path / "one.parquet")
    pq.write_table(people.slice(0, 0), tmp_path / "no rows.parquet")
    assert engine.open(tmp_path).n_rows == N_ROWS
    (tmp_path / "lost.parquet").touch()

    refused = r"file 'lost\.parquet' must be a whole Parquet file"
    with pytest.raises(ld.SchemaError, match=refused):
        engine.open(tmp_path)
    try:
        frame = spark.read.parquet(str(tmp_path))
    except Exception as error:  # noqa: BLE001 - Spark 4.0 looks into the file itself, and makes no frame
        assert "lost.parquet" in str(error)  # noqa: PT017 - newer versions raise nothing here
    else:
        with pytest.raises(ld.SchemaError, match=refused):
            engine.open(frame)


def test_a_type_that_arrow_does_not_have_is_refused_by_its_column(engine: SparkEngine, spark: Any) -> None:
    frame = spark.range(5).selectExpr("id", "make_interval(1) as stay")

    with pytest.raises(ld.SchemaError, match="column 'stay' must have a type that Arrow has, too, got interval"):
        engine.open(frame)


def test_an_error_in_a_frame_logs_no_cell(engine: SparkEngine, spark: Any) -> None:
    from pyspark.logger import PySparkLogger

    heard: list[logging.LogRecord] = []
    handler, logger = logging.Handler(), PySparkLogger.getLogger("DataFrameQueryContextLogger")
    handler.emit = heard.append  # type: ignore[method-assign]
    logger.addHandler(handler)
    frame = spark.createDataFrame([("SECRET",), ("5",)], ["age"])
    wrong = frame.select(frame["age"].cast("int").alias("age"))
    try:
        with pytest.raises(ld.LDiversityError, match="a job failed") as caught:
            engine.open(wrong)
        assert "SECRET" not in str(caught.value)
        assert not heard
        with pytest.raises(Exception, match="SECRET"):  # the user's own errors are logged as always
            wrong.collect()
        assert heard
    finally:
        logger.removeHandler(handler)


def test_long_whole_numbers_are_the_ids_that_they_are_on_one_machine(
    engine: SparkEngine, people: pa.Table, tmp_path: Path
) -> None:
    ids = pa.array([2**63 + 5 + row if row % 2 else row for row in range(N_ROWS)], pa.uint64())
    pq.write_table(people.append_column("id", ids), tmp_path / "people.parquet")
    ld.Key.new().save(tmp_path / "holder.key")
    how: dict[str, Any] = HOW | {
        "sensitive": ld.Sensitive("disease", domain=[f"d{value}" for value in range(5)]),
        "plain": "row",
        "confirm": ["row"],
        "record_id": "id",
        "key": str(tmp_path / "holder.key"),
    }

    here, there = (
        ld.anonymize(tmp_path / "people.parquet", **how, engine=one, output=tmp_path / f"release {place}")
        for place, one in enumerate(("local", engine))
    )

    sets = [
        dict(zip(one.table["row"].to_pylist(), map(set, one.sets("disease").tolist()), strict=True))
        for one in (here, there)
    ]
    assert sets[0] == sets[1]
    assert len(sets[0]) == N_ROWS
