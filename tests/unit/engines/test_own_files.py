"""Files that workers read themselves: all rows once, and only where Spark would read the same."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ldiversity.engines.spark._own_files import OwnFiles, find_own_files
from ldiversity.engines.spark._paths import state_of
from ldiversity.errors import StorageError

TABLE = pa.table({"row": pa.array(range(1000), pa.int64()), "text": [f"t{i % 7}" for i in range(1000)]})


def written(folder: Path, name: str = "people.parquet", table: pa.Table = TABLE, **how: Any) -> str:
    folder.mkdir(exist_ok=True)
    pq.write_table(table, folder / name, **how)
    return (folder / name).as_uri()


def found(uris: list[str], schema: pa.Schema = TABLE.schema) -> OwnFiles:
    files = find_own_files(uris, schema, workers=2)
    assert files is not None
    return files


def test_cuts_have_every_row_once_with_its_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldiversity.engines.spark._own_files._LEAST_ROWS", 250)
    uris = [written(tmp_path, f"part {n}%.parquet", TABLE.slice(500 * n, 500), row_group_size=100) for n in range(2)]

    files = found(uris)

    assert [(cut.file, cut.first, len(cut.groups)) for cut in files.cuts] == [
        (0, 0, 2),
        (0, 200, 2),
        (0, 400, 1),
        (1, 0, 2),
        (1, 200, 2),
        (1, 400, 1),
    ]
    read = [(cut.file, *one) for cut in files.cuts for one in files.read(cut, ["row"], 70)]
    numbers = [500 * file + first + place for file, first, batch in read for place in range(batch.num_rows)]
    assert numbers == [row for _, _, batch in read for row in batch["row"].to_pylist()] == list(range(1000))
    assert files.n_rows == 1000


def test_categories_are_the_texts_that_spark_reads(tmp_path: Path) -> None:
    coded = TABLE.set_column(1, "text", TABLE["text"].dictionary_encode())

    assert found([written(tmp_path, table=coded)]).n_rows == 1000


def test_what_spark_reads_in_another_way_is_left_to_it(tmp_path: Path) -> None:
    uri = written(tmp_path)
    times = pa.table({"at": pa.array([1], pa.timestamp("us", "UTC"))})
    old = written(tmp_path, "old.parquet", times, use_deprecated_int96_timestamps=True)
    two = written(tmp_path, "two.parquet", pa.table({"Row": [1], "row": [2]}))
    nested = pa.schema([("row", pa.list_(pa.int64()))])
    legacy = TABLE.replace_schema_metadata({"org.apache.spark.legacyDateTime": ""})

    def is_left(uris: list[str], schema: pa.Schema = TABLE.schema) -> bool:
        return find_own_files(uris, schema, workers=2) is None

    assert not is_left([uri])
    assert not is_left([written(tmp_path, "new.parquet", times)], times.schema)
    assert is_left([])
    assert is_left([uri.replace("file:", "hdfs:")])
    assert is_left([written(tmp_path / "text=t1")])  # the folder says the value of a column
    assert is_left([(tmp_path / "nowhere.parquet").as_uri()])
    assert is_left([uri], pa.schema([("row", pa.int32())]))
    assert is_left([uri], pa.schema([("other", pa.int64())]))
    assert is_left([uri], nested)
    assert is_left([old], times.schema)
    assert is_left([two], pa.schema([("row", pa.int64())]))
    assert is_left([written(tmp_path, "legacy.parquet", legacy)])


def test_a_file_that_changed_is_not_read(tmp_path: Path) -> None:
    files = found([written(tmp_path)])
    assert files.is_unchanged()

    written(tmp_path, table=TABLE.slice(1))

    assert not files.is_unchanged()
    with pytest.raises(StorageError, match="stay as they are"):
        list(files.read(files.cuts[0], ["row"], 100))
    (tmp_path / "people.parquet").unlink()
    assert not files.is_unchanged()


def test_a_damaged_file_is_one_sentence_without_cells(tmp_path: Path) -> None:
    files = found([written(tmp_path)])
    path = Path(files.paths[0])
    content = bytearray(path.read_bytes())
    content[4:600] = bytes(596)
    path.write_bytes(content)
    files = replace(files, states=(state_of(str(path)),))

    with pytest.raises(StorageError, match="every worker can read"):
        list(files.read(files.cuts[0], ["row", "text"], 100))


def test_a_file_with_the_size_and_time_of_another_is_not_read(tmp_path: Path) -> None:
    other = TABLE.set_column(0, "row", pa.array(range(1, 1001), pa.int64()))
    files = found([written(tmp_path, compression="none", use_dictionary=False)])
    path, group = Path(files.paths[0]), files.cuts[0]
    before = path.stat()

    written(tmp_path, table=other, compression="none", use_dictionary=False)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert path.stat().st_size == before.st_size
    with pytest.raises(StorageError, match="stay as they are"):
        list(files.read(group, ["row"], 100))


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    files = found([written(tmp_path)])
    rows = files.read(files.cuts[0], ["row"], 10)
    next(rows)

    path = Path(files.paths[0])
    before = path.stat()
    path.write_bytes(path.read_bytes())
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    with pytest.raises(StorageError, match="stay as they are"):
        list(rows)
