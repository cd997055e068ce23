"""Every kind of file gives the table that was written, in batches of any size."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from ldiversity.errors import SchemaError, UnsupportedError
from ldiversity.tables import FILE_ENDINGS, open_source

TABLE = pa.table(
    {
        "Ålder": pa.array([30, 40, None, 60, -5]),
        "weight": pa.array([50.5, None, 70.25, 80.0, 1e-3]),
        "病名": ["インフルエンザ", "flu, or not", 'say "ah"', None, "🤧"],
        "smokes": [True, False, None, True, True],
        "seen": pa.array([dt.date(2020, 1, 31), None, dt.date(1999, 12, 1), dt.date(2024, 2, 29), dt.date(1950, 5, 5)]),
    }
)


def write_csv(table: pa.Table, path: Path) -> None:
    pacsv.write_csv(table, path)


def write_csv_gz(table: pa.Table, path: Path) -> None:
    with gzip.open(path, "wb") as file:
        pacsv.write_csv(table, file)


def write_tsv(table: pa.Table, path: Path) -> None:
    pacsv.write_csv(table, path, pacsv.WriteOptions(delimiter="\t"))


def write_arrow_stream(table: pa.Table, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


def json_lines(table: pa.Table) -> bytes:
    return "".join(json.dumps(row, default=str) + "\n" for row in table.to_pylist()).encode()


def write_json_lines(table: pa.Table, path: Path) -> None:
    path.write_bytes(json_lines(table))


def write_json_lines_gz(table: pa.Table, path: Path) -> None:
    path.write_bytes(gzip.compress(json_lines(table)))


def write_excel(table: pa.Table, path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(table.column_names)
    for row in table.to_pylist():
        book.active.append(list(row.values()))
    book.save(path)


WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    "t.csv": write_csv,
    "t.CSV": write_csv,
    "my.table.csv.gz": write_csv_gz,
    "t.tsv": write_tsv,
    "t.parquet": lambda table, path: pq.write_table(table, path, row_group_size=2),
    "t.feather": pyarrow.feather.write_feather,
    "t.arrow": write_arrow_stream,
    "t.jsonl": write_json_lines,
    "t.ndjson.gz": write_json_lines_gz,
    "t.xlsx": write_excel,
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("chunk_rows", [1, 2, 100])
def test_a_table_written_to_a_file_is_read_back(name: str, chunk_rows: int, tmp_path: Path) -> None:
    WRITERS[name](TABLE, tmp_path / name)

    source = open_source(tmp_path / name, types={"seen": "date"})
    batches = list(source.batches(chunk_rows=chunk_rows))

    assert pa.Table.from_batches(batches).to_pydict() == TABLE.to_pydict()
    assert list(source.columns.values()) == TABLE.schema.types
    assert source.name == name
    assert source.frame_kind == "arrow"
    assert [batch.num_rows for batch in batches][:-1] == [chunk_rows] * (len(batches) - 1)


@pytest.mark.parametrize("name", WRITERS)
def test_columns_come_in_the_order_asked_for(name: str, tmp_path: Path) -> None:
    WRITERS[name](TABLE, tmp_path / name)

    [batch] = open_source(tmp_path / name).batches(["smokes", "Ålder"])

    assert batch.schema.names == ["smokes", "Ålder"]
    assert batch.to_pydict() == TABLE.select(["smokes", "Ålder"]).to_pydict()


@pytest.mark.parametrize("name", WRITERS)
def test_a_source_can_be_read_twice(name: str, tmp_path: Path) -> None:
    WRITERS[name](TABLE, tmp_path / name)
    source = open_source(tmp_path / name)

    first, second = list(source.batches()), list(source.batches())

    assert first == second


@pytest.mark.parametrize("name", [name for name in WRITERS if name not in {"t.feather", "t.arrow"}])
def test_the_number_of_rows_is_known(name: str, tmp_path: Path) -> None:
    WRITERS[name](TABLE, tmp_path / name)

    assert open_source(str(tmp_path / name)).n_rows == 5


def test_every_known_ending_is_listed_with_its_opener() -> None:
    assert {".csv", ".csv.gz", ".tsv", ".parquet", ".feather", ".arrow", ".jsonl", ".ndjson", ".xlsx"} <= set(
        FILE_ENDINGS
    )


def test_a_one_row_file_is_a_table(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"age,disease\n30,flu\n")

    [batch] = open_source(tmp_path / "t.csv").batches()

    assert batch.to_pylist() == [{"age": 30, "disease": "flu"}]


def test_a_file_with_a_header_only_is_a_table_without_rows(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"age,disease")

    source = open_source(tmp_path / "t.csv")

    assert (source.n_rows, list(source.columns), list(source.batches())) == (0, ["age", "disease"], [])


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbfage,disease\r\n30,flu\r\n")

    assert list(open_source(tmp_path / "t.csv").columns) == ["age", "disease"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_of_a_csv_file_is_found(delimiter: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"age{delimiter}disease\n30{delimiter}flu\n")

    assert list(open_source(tmp_path / "t.csv").columns) == ["age", "disease"]


def test_a_cell_may_span_lines_and_blocks(tmp_path: Path) -> None:
    note = "line\n" * 100_000 + "end"
    (tmp_path / "t.csv").write_text("id,note\n" + f'x,"{note}"\n' * 20)

    cells = [cell for batch in open_source(tmp_path / "t.csv").batches(["note"]) for cell in batch.column(0)]

    assert [cell.as_py() == note for cell in cells] == [True] * 20


def test_empty_cells_are_missing_and_words_for_it_are_words(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('a,b\n,""\nNA,?\n')

    [batch] = open_source(tmp_path / "t.csv").batches()

    assert batch.to_pydict() == {"a": [None, "NA"], "b": [None, "?"]}


def test_types_of_a_file_longer_than_a_block_are_settled_over_all_of_it(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("code,x\n" + "1234567,1\n" * 600_000 + "0000001,1.5\n")

    source = open_source(tmp_path / "t.csv")

    assert source.columns == {"code": pa.string(), "x": pa.float64()}
    assert source.n_rows == 600_001


def test_types_of_json_lines_longer_than_a_block_are_settled_over_all_of_them(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"x": 1, "y": null}\n' * 300_000 + '{"x": 1.5, "y": "late", "z": true}\n')

    source = open_source(tmp_path / "t.jsonl")
    last = list(source.batches())[-1]

    assert source.columns == {"x": pa.float64(), "y": pa.string(), "z": pa.bool_()}
    assert last.to_pylist()[-1] == {"x": 1.5, "y": "late", "z": True}


@pytest.mark.parametrize("block_bytes", [1, 16, 64])
def test_blocks_of_json_lines_do_not_change_the_table(
    block_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ldiversity.tables._jsonl._BLOCK_BYTES", block_bytes)
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n\n\n{"a": 2.5, "b": "é"}\n{"b": "2020-01-01"}\n{"a": null}')

    rows = [row for batch in open_source(tmp_path / "t.jsonl").batches() for row in batch.to_pylist()]

    assert rows == [
        {"a": 1.0, "b": None},
        {"a": 2.5, "b": "é"},
        {"a": None, "b": "2020-01-01"},
        {"a": None, "b": None},
    ]


def test_types_of_json_lines_that_mix_between_blocks_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ldiversity.tables._jsonl._BLOCK_BYTES", 9)
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n{"a": "SECRET"}\n')

    with pytest.raises(SchemaError, match="column 'a' must hold values of one type, got text after integer"):
        open_source(tmp_path / "t.jsonl")


def test_texts_of_json_lines_stay_texts(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"when": "2020-01-01"}\n')

    assert open_source(tmp_path / "t.jsonl").columns == {"when": pa.string()}


def test_a_mixed_excel_column_becomes_text(tmp_path: Path) -> None:
    write_excel(pa.table({"code": ["12a"]}), tmp_path / "t.xlsx")
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    book.active.append([12])
    book.active.append([dt.datetime(2020, 1, 2, 3, 4)])  # noqa: DTZ001 - Excel has no time zones
    book.save(tmp_path / "t.xlsx")

    [batch] = open_source(tmp_path / "t.xlsx").batches()

    assert batch.to_pydict() == {"code": ["12a", "12", "2020-01-02T03:04:00"]}


def test_times_of_day_in_excel_stay_times(tmp_path: Path) -> None:
    write_excel(pa.table({"at": pa.array([dt.datetime(2020, 1, 2, 3, 4)])}), tmp_path / "t.xlsx")  # noqa: DTZ001

    assert open_source(tmp_path / "t.xlsx").columns == {"at": pa.timestamp("us")}


def test_excel_without_its_extra_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.xlsx").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "openpyxl", None)

    with pytest.raises(UnsupportedError, match=r"pip install ldiversity\[excel\]"):
        open_source(tmp_path / "t.xlsx")


def test_categories_of_a_parquet_file_are_decoded(tmp_path: Path) -> None:
    pq.write_table(pa.table({"sex": pa.array(["f", "m"]).dictionary_encode()}), tmp_path / "t.parquet")

    source = open_source(tmp_path / "t.parquet")

    assert source.columns == {"sex": pa.string()}
    assert next(source.batches()).column(0).type == pa.string()


def test_a_text_column_may_arrive_encoded_where_that_is_cheaper(tmp_path: Path) -> None:
    pq.write_table(pa.table({"sex": ["f", "m", "f"]}), tmp_path / "t.parquet")

    [batch] = open_source(tmp_path / "t.parquet").batches(encoded=["sex"])

    assert pa.types.is_dictionary(batch.column(0).type)
    assert batch.column(0).to_pylist() == ["f", "m", "f"]


def test_encoded_parts_with_other_dictionaries_are_joined(tmp_path: Path) -> None:
    table = pa.table({"sex": ["f", "m", "x", "m"]})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=1)

    batches = open_source(tmp_path / "t.parquet").batches(encoded=["sex"], chunk_rows=3)

    assert [batch.column(0).to_pylist() for batch in batches] == [["f", "m", "x"], ["m"]]


def test_streaming_a_parquet_file_does_not_hold_the_table(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    rng = np.random.default_rng(0)
    schema = pa.schema([("a", pa.int64()), ("b", pa.float64())])
    with pq.ParquetWriter(path, schema) as writer:
        for _ in range(40):
            part = pa.table({"a": rng.integers(0, 1 << 40, 50_000), "b": rng.normal(size=50_000)})
            writer.write_table(part)
    before = pa.total_allocated_bytes()

    held = [pa.total_allocated_bytes() - before for _ in open_source(path).batches(chunk_rows=50_000)]

    # The table has 32 MB, a batch 0.8 MB; a batch, its successor and the pages of both may be held.
    assert max(held) < 8_000_000


def test_streaming_a_compressed_csv_file_does_not_hold_the_table(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"123456789,some text\n" * 4_000_000, compresslevel=1))
    before = pa.total_allocated_bytes()

    held = [pa.total_allocated_bytes() - before for _ in open_source(path).batches(chunk_rows=50_000)]

    # The text has 80 MB; Arrow reads up to 32 blocks of 1 MB ahead.
    assert max(held) < 50_000_000
