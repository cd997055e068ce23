"""Each operation of the engine on Spark gives what the engine of one machine gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from ldiversity.base.randomness import FreshWords
from ldiversity.engines import LocalEngine, NumberedBatch, Part, PartFunction, Rows, Secrets
from ldiversity.engines.spark import SparkEngine, SparkSource
from ldiversity.engines.spark._files import InputFiles
from ldiversity.engines.spark._own_files import OwnFiles
from ldiversity.engines.spark._wire import _hashed, targets
from ldiversity.tables import COUNT, open_source, with_values

N_ROWS = 3000
KEY = "key"


@dataclass(frozen=True)
class Keyed:
    """Gives rows a part number and a key that both follow from their number."""

    n_parts: int

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([("row", pa.int64()), ("part", pa.int32()), (KEY, pa.binary(16))])

    def __call__(self, _: Secrets, /) -> Callable[[NumberedBatch], pa.RecordBatch]:
        words = FreshWords.from_insecure_seed(1).draw(N_ROWS, 2).astype(">u8")

        def run(rows: NumberedBatch) -> pa.RecordBatch:
            numbers = rows.cells["row"].to_numpy()
            keys = pa.array([words[number].tobytes() for number in numbers], pa.binary(16))
            parts = pa.array((numbers % self.n_parts).astype(np.int32))
            return pa.RecordBatch.from_arrays([rows.cells["row"], parts, keys], schema=self.schema)

        return run


@dataclass(frozen=True)
class Summed:
    """Adds up the numbers of the rows of each part."""

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([("part", pa.int64()), ("total", pa.int64())])

    def __call__(self, _: Secrets, /) -> PartFunction:
        return _summed


def _summed(part: Part) -> tuple[pa.Table, bytes]:
    total = int(np.sum(part.rows["row"].to_numpy()))
    return pa.table({"part": [part.number], "total": [total]}), f"part {part.number}".encode()


def read(rows: Rows) -> pa.Table:
    return pa.Table.from_batches(iter(rows), rows.schema)


def test_files_are_read_where_they_are_and_other_frames_are_staged(
    engine: SparkEngine, spark: Any, one_file: Path, many_files: Path
) -> None:
    frame = spark.read.parquet(str(many_files))

    opened = {
        "file": engine.open(one_file),
        "folder": engine.open(many_files),
        "columns": engine.open(frame.select("row", "age")),
        "renamed": engine.open(frame.withColumnRenamed("age", "sex_").select("row", "sex_")),
        "filter": engine.open(frame.filter("row >= 0")),
        "joined": engine.open(frame.select("row").join(spark.range(1))),
        "drawn": engine.open(frame.selectExpr("row", "rand() as drawn")),
    }

    assert all(isinstance(source, SparkSource) and source.n_rows == N_ROWS for source in opened.values())
    files = {name: type(source.files) for name, source in opened.items() if isinstance(source, SparkSource)}
    none = type(None)
    assert files == {
        **dict.fromkeys(["file", "folder", "columns"], OwnFiles),
        "renamed": InputFiles,  # Java reads it
        **dict.fromkeys(["filter", "joined", "drawn"], none),
    }


def test_a_staged_table_is_the_same_each_time(engine: SparkEngine, spark: Any) -> None:
    source = engine.open(spark.range(500).selectExpr("id", "rand() as drawn").repartition(7))

    first, second = (pa.Table.from_batches(source.batches()).sort_by("id") for _ in range(2))

    assert first.equals(second)
    assert first["id"].to_pylist() == list(range(500))


@pytest.mark.parametrize("reader", ["workers", "java"])
@pytest.mark.parametrize("several", ["one", "many"])
def test_rows_have_an_identity_of_their_own(
    engine: SparkEngine, spark: Any, one_file: Path, many_files: Path, several: str, reader: str
) -> None:
    path = many_files if several == "many" else one_file
    renamed = spark.read.parquet(str(path)).withColumnRenamed("age", "years")
    source = engine.open(renamed if reader == "java" else path)

    seen = list(engine.rows(source, ["row"]))

    identities = np.concatenate([batch.identities for batch in seen])
    rows = np.concatenate([batch.cells["row"].to_numpy() for batch in seen])
    assert len(np.unique(identities, axis=0)) == N_ROWS
    assert sorted(rows) == list(range(N_ROWS))
    assert not (identities[:, 1] & np.uint64(2**32 - 1)).any()  # left for counting words
    if several == "one":
        assert (identities[:, 0] == rows.astype(np.uint64)).all()
        assert not identities[:, 1].any()


@pytest.mark.parametrize("by", [["sex"], ["sex", "job", "age"]])
def test_rows_are_counted(engine: SparkEngine, one_file: Path, table: pa.Table, by: list[str]) -> None:
    expected = table.group_by(by).aggregate([([], "count_all")]).rename_columns([*by, COUNT])
    source = engine.open(one_file)
    mapped = engine.map(Keyed(7), source, ["row"], secrets=Secrets())

    for counted in (engine.count(source, by), engine.count(open_source(table), by)):
        assert counted is not None
        assert sorted(map(repr, counted.to_pylist())) == sorted(map(repr, expected.to_pylist()))
    assert engine.count(source, by, most=expected.num_rows - 1) is None
    parts = engine.count(mapped, ["part"], most=7)
    assert parts is not None
    assert sum(parts[COUNT].to_pylist()) == N_ROWS
    assert engine.count(mapped, ["part"], most=6) is None
    times = engine.count(source, ["sex"], times="age")
    assert times is not None
    ages = table.group_by("sex").aggregate([("age", "sum")]).rename_columns(["sex", COUNT])
    assert sorted(map(repr, times.to_pylist())) == sorted(map(repr, ages.to_pylist()))


@pytest.mark.parametrize(
    "kind",
    [
        pa.timestamp("ns"),
        pa.timestamp("ns", "Asia/Tokyo"),
        pa.timestamp("s", "Asia/Tokyo"),
        pa.time32("ms"),
        pa.time64("ns"),
        pa.date64(),
        pa.duration("s"),
        pa.uint64(),
        pa.decimal256(60, 2),
    ],
    ids=str,
)
def test_values_that_spark_has_no_type_for_are_counted_as_they_are(engine: SparkEngine, kind: pa.DataType) -> None:
    day = 86_400_000
    days = pa.array([1, 3, 1, None, 2], pa.int64() if kind.bit_width > 32 else pa.int32())
    cells = pc.multiply(days, day).cast(kind) if kind == pa.date64() else days.cast(kind)
    table = open_source(pa.table({"at": cells}))

    counted, expected = engine.count(table, ["at"]), LocalEngine().count(table, ["at"])

    assert counted is not None
    assert expected is not None
    assert counted.schema == expected.schema
    assert sorted(map(str, counted.to_pylist())) == sorted(map(str, expected.to_pylist()))


def test_a_sample_is_that_of_the_local_engine(engine: SparkEngine, one_file: Path) -> None:
    secrets = Secrets()

    sampled = engine.sample(engine.open(one_file), ["row", "age"], 100, secrets=secrets)

    assert sampled.equals(LocalEngine().sample(open_source(one_file), ["row", "age"], 100, secrets=secrets))
    assert engine.sample(engine.open(one_file), ["row"], 9999, secrets=secrets).num_rows == N_ROWS


def test_rows_are_put_in_the_order_of_their_keys(engine: SparkEngine, many_files: Path) -> None:
    mapped = engine.map(Keyed(7), engine.open(many_files), ["row"], secrets=Secrets())

    ordered = read(SparkEngine(engine.session, file_rows=500).order(mapped, n_rows=N_ROWS, scratch=None, by=KEY))

    words = FreshWords.from_insecure_seed(1).draw(N_ROWS, 2)
    assert ordered["row"].to_pylist() == np.lexsort((words[:, 1], words[:, 0])).tolist()
    assert KEY not in ordered.column_names


def test_parts_are_whole_and_have_their_notes(engine: SparkEngine, one_file: Path) -> None:
    mapped = engine.map(Keyed(7), engine.open(one_file), ["row"], secrets=Secrets())

    kept = engine.keep(
        engine.partition(Summed(), mapped, by="part", n_parts=9, secrets=Secrets(), scratch=None), scratch=None
    )

    assert kept.notes() == [f"part {number}".encode() for number in range(7)]
    expected = [sum(range(number, N_ROWS, 7)) for number in range(7)]
    for _ in range(2):
        assert read(kept).sort_by("part")["total"].to_pylist() == expected


@pytest.mark.parametrize("n_parts", [1, 2, 7, 64, 1000])
def test_every_part_goes_to_a_partition_of_its_own(spark: Any, n_parts: int) -> None:
    numbers = targets(n_parts)

    assert (_hashed(numbers.astype(np.uint32)) % n_parts).tolist() == list(range(n_parts))
    if n_parts == 7:
        frame = spark.createDataFrame([(int(number),) for number in numbers], "goal int").repartition(7, "goal")
        assert sorted(row.asDict()["place"] for row in frame.selectExpr("spark_partition_id() as place").collect()) == [
            *range(7)
        ]


def test_rows_without_a_value_are_left_out_where_they_are(engine: SparkEngine, tmp_path: Path) -> None:
    table = pa.table({"row": range(900), "value": [None if row % 7 == 3 else row % 5 for row in range(900)]})
    pq.write_table(table, tmp_path / "gaps.parquet", row_group_size=100)
    whole = [row for row in range(900) if row % 7 != 3]
    file, secrets = engine.open(tmp_path / "gaps.parquet"), Secrets()

    for source in (file, engine.open(table)):
        some, missing = with_values(source, ["value"])
        found = [row for rows in engine.rows(some, ["row"]) for row in rows.cells["row"].to_pylist()]
        assert missing.n_whole == some.n_rows == len(whole)
        assert sorted(found) == whole

    some, _ = with_values(file, ["value"])
    drawn = engine.sample(some, ["row"], 50, secrets=secrets)["row"].to_pylist()
    every = engine.sample(file, ["row"], 900, secrets=secrets)["row"].to_pylist()
    assert drawn == [row for row in every if row % 7 != 3][:50]  # rows kept their identities
