"""Tables that are staged: all rows, or one sentence."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.engines import Secrets
from ldiversity.engines.spark import SparkEngine
from ldiversity.engines.spark._envelope import Envelope
from ldiversity.engines.spark._quiet import quiet
from ldiversity.engines.spark._source import SparkSource
from ldiversity.engines.spark._stage_rows import StageRows
from ldiversity.engines.spark._wire import Piece

N_ROWS = 20


def test_a_file_that_a_worker_wrote_elsewhere_is_missed(spark: Any, tmp_path: Path) -> None:
    """The disk of an executor that does not see the shared folder: what it wrote is not there for this machine."""

    def hide(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if N_ROWS - 1 in batch.column(0).to_pylist():
                done: list[Path] = []
                for _ in range(600):
                    files = [file for file in tmp_path.rglob("part-*.parquet") if file.stat().st_size]
                    done = [file for file in files if "attempt_" not in str(file)]
                    if done:
                        break
                    time.sleep(0.05)
                done[0].unlink()
            yield batch

    frame = spark.range(N_ROWS, numPartitions=2)
    engine = SparkEngine(spark, scratch=tmp_path)

    with quiet():
        hidden = frame.mapInArrow(hide, frame.schema)

    with pytest.raises(ld.StorageError, match="must be there for this machine"):
        engine.open(hidden)

    engine.close()
    assert not list(tmp_path.iterdir())


def test_a_worker_that_does_not_see_the_folder_says_so_and_makes_none(tmp_path: Path) -> None:
    step = StageRows(tmp_path / "shared" / "private" / "inbox", Envelope.of(Secrets()))
    rows = Piece(pa.record_batch({"age": [30, 40]}))

    with pytest.raises(ld.StorageError, match="must be one that this machine and all workers can write") as caught:
        list(step(iter([rows]), "job"))

    assert repr(str(tmp_path / "shared")) in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("fault", [pa.ArrowInvalid("no"), OSError(5, "no"), pa.ArrowNotImplementedError("no")])
def test_rows_that_cannot_be_read_are_no_fault_of_the_folder(tmp_path: Path, fault: Exception) -> None:
    (inbox := tmp_path / "private" / "inbox").mkdir(parents=True)

    def pieces() -> Iterator[Piece]:
        yield Piece(pa.record_batch({"age": [30, 40]}))
        raise fault

    with pytest.raises(type(fault)) as caught:
        list(StageRows(inbox, Envelope.of(Secrets()))(pieces(), "job"))
    assert caught.value is fault


@pytest.mark.parametrize("of", ["spark", "this machine"])
def test_a_folder_that_is_gone_is_named(spark: Any, table: pa.Table, tmp_path: Path, of: str) -> None:
    engine = SparkEngine(spark, scratch=tmp_path)
    private = engine.scratch_folder()
    private.rmdir()

    with pytest.raises(ld.StorageError, match="cannot be written") as caught:
        engine.count(engine.open(spark.range(3).withColumnRenamed("id", "sex") if of == "spark" else table), ["sex"])

    assert repr(str(private)) in str(caught.value)


def test_a_connection_that_is_gone_is_one_sentence(engine: SparkEngine) -> None:
    class Gone:
        def where(self, _: str) -> None:
            raise ConnectionRefusedError(111, "gateway")

    with pytest.raises(ld.LDiversityError) as caught:
        engine.notes_in(Gone())
    assert "gateway" not in str(caught.value)


@pytest.mark.parametrize("n_tasks", [1, 3])
def test_a_frame_without_rows_is_staged(spark: Any, tmp_path: Path, n_tasks: int) -> None:
    engine = SparkEngine(spark, scratch=tmp_path)

    for frame in (
        spark.createDataFrame([], "age int").where("age > 3"),
        spark.range(9, numPartitions=n_tasks).where("id > rand() + 10"),
    ):
        source = engine.open(frame)
        assert isinstance(source, SparkSource)
        assert (source.files, source.n_rows) == (None, 0)
    engine.close()


@pytest.mark.parametrize("reader", ["workers", "java", "staged"])
def test_texts_that_spark_takes_for_equal_are_counted_apart(
    engine: SparkEngine, spark: Any, tmp_path: Path, reader: str
) -> None:
    texts = ["Flu", "flu", "FLU", "cold"] * 5
    frame = spark.createDataFrame(list(enumerate(texts)), "row int, disease string")
    frame.selectExpr("row", "disease collate UTF8_LCASE as disease").write.parquet(str(tmp_path / "table"))
    read = spark.read.parquet(str(tmp_path / "table"))
    assert read.where("disease = 'flu'").count() == 15
    given = {"workers": read, "java": read.withColumnRenamed("row", "number"), "staged": read.where("row >= 0")}

    counted = engine.count(engine.open(given[reader]), ["disease"])

    assert counted is not None
    assert dict(zip(*(column.to_pylist() for column in counted.columns), strict=True)) == dict.fromkeys(set(texts), 5)


def test_a_release_is_read_without_a_folder_for_staged_tables(spark: Any, table: pa.Table, tmp_path: Path) -> None:
    engine = SparkEngine(spark)
    engine._scratch._parent = None  # as on a cluster whose engine got no scratch
    known: dict[str, Any] = {"quasi": "sex", "sensitive": "disease", "method": "randomized-addition:l=3"}
    ld.anonymize(table.select(["sex", "disease"]), **known, output=tmp_path / "release")

    estimate = ld.estimate(tmp_path / "release", by="sex", engine=engine)

    assert round(estimate.count.sum()) == table.num_rows
    assert ld.audit(tmp_path / "release", engine=engine).verdict == ld.audit(tmp_path / "release").verdict
    with pytest.raises(ld.UnsupportedError, match="must be Parquet files"):
        engine.open(spark.range(3))
