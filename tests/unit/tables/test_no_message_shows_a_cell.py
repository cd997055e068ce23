"""Whatever is wrong with a table, no message shows a cell of it, and no exception of another package gets out."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from ldiversity.errors import LDiversityError, SchemaError
from ldiversity.tables import Sensitive, Source, check_roles, fit_coder, open_source, summarize_columns

CELL = "SECRETcell"
ROWS = [{"name": CELL, "age": 30, "s": CELL}, {"name": "x", "age": 40, "s": "y"}]
TABLE = pa.Table.from_pylist(ROWS)
NO_NAMES = [[CELL, "flu"], ["x", "cold"]]


def _broken_text() -> pa.Array:
    text = CELL.encode() + b"\xff"
    offsets = pa.py_buffer(np.array([0, len(text)], dtype=np.int32).tobytes())
    return pa.Array.from_buffers(pa.string(), 1, [None, offsets, pa.py_buffer(text)])


BROKEN = pa.table({"s": _broken_text()})


def _save_excel(path: Path, rows: list[list[Any]]) -> None:
    book = openpyxl.Workbook()
    for row in rows:
        book.worksheets[0].append(row)
    book.save(path)


def _save_stream(path: Path, table: pa.Table) -> None:
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


CSV = "".join(",".join(map(str, row)) + "\n" for row in [ROWS[0], *(row.values() for row in ROWS)])
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)

FILES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "CSV": ("t.csv", lambda path: path.write_text(CSV)),
    "CSV, gzip": ("t.csv.gz", lambda path: path.write_bytes(gzip.compress(CSV.encode()))),
    "TSV": ("t.tsv", lambda path: path.write_text(CSV.replace(",", "\t"))),
    "JSON lines": ("t.jsonl", lambda path: path.write_text(LINES)),
    "JSON lines, gzip": ("t.jsonl.gz", lambda path: path.write_bytes(gzip.compress(LINES.encode()))),
    "Parquet": ("t.parquet", lambda path: pq.write_table(TABLE, path)),
    "Feather": ("t.feather", lambda path: pyarrow.feather.write_feather(TABLE, path)),
    "Arrow stream": ("t.arrow", lambda path: _save_stream(path, TABLE)),
    "Excel": ("t.xlsx", lambda path: _save_excel(path, [list(ROWS[0]), *(list(row.values()) for row in ROWS)])),
}

FRAMES: dict[str, Callable[[], Any]] = {
    "pandas": TABLE.to_pandas,
    "polars": lambda: pl.from_arrow(TABLE),
    "polars, lazy": lambda: pl.DataFrame(ROWS).lazy(),
    "pyarrow": lambda: TABLE,
    "reader": TABLE.to_reader,
    "narwhals": lambda: nw.from_native(pl.DataFrame(ROWS)),
}

FAULTS: dict[str, Callable[[Any], object]] = {
    "unknown column": lambda data: open_source(data).batches(["zzz"]),
    "unknown type": lambda data: open_source(data, types={"s": "varchar"}),
    "type of an unknown column": lambda data: open_source(data, types={"zzz": "text"}),
    "text as integer": lambda data: list(open_source(data, types={"s": "integer"}).batches()),
    "text as number": lambda data: list(open_source(data, types={"s": "number"}).batches()),
    "text as date": lambda data: list(open_source(data, types={"s": "date"}).batches()),
    "text as boolean": lambda data: list(open_source(data, types={"s": "boolean"}).batches()),
    "unknown sensitive column": lambda data: fit_coder(open_source(data), Sensitive("zzz")),
    "unknown role": lambda data: check_roles(open_source(data), sensitive=["zzz"]),
    "two roles": lambda data: check_roles(open_source(data), sensitive=["s"], quasi=["s"]),
    "outside the domain": lambda data: fit_coder(open_source(data), Sensitive("s", domain=["y"])),
    "domain of another type": lambda data: fit_coder(open_source(data), Sensitive("age", domain=["old"])),
    "bins of texts": lambda data: fit_coder(open_source(data), Sensitive("s", width=1)),
    "outside the edges": lambda data: fit_coder(open_source(data), Sensitive("age", edges=[0, 35])),
    "another column coded": lambda data: fit_coder(open_source(data), Sensitive("age"))[0].codes(TABLE.column("s")),
}


def _told(fault: Callable[[], object]) -> LDiversityError:
    with pytest.raises(LDiversityError) as caught:
        fault()
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert "\n" not in caught.value.message
    return caught.value


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
@pytest.mark.parametrize(("name", "write"), FILES.values(), ids=FILES.keys())
def test_no_fault_shows_a_cell_of_a_file(
    name: str, write: Callable[[Path], object], fault: Callable[[Any], object], tmp_path: Path
) -> None:
    write(tmp_path / name)

    assert CELL not in str(_told(lambda: fault(tmp_path / name)))


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES.keys())
def test_no_fault_shows_a_cell_of_a_frame(make: Callable[[], Any], fault: Callable[[Any], object]) -> None:
    assert CELL not in str(_told(lambda: fault(make())))


def _text_file(*rows: list[str]) -> Callable[[Path], object]:
    return lambda path: path.write_text("".join(",".join(row) + "\n" for row in rows))


NAMELESS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "CSV": ("t.csv", _text_file(*NO_NAMES)),
    "Excel": ("t.xlsx", lambda path: _save_excel(path, NO_NAMES)),
    "Parquet": ("t.parquet", lambda path: pq.write_table(pa.table({CELL: ["x"], "flu": ["cold"]}), path)),
    "Arrow": ("t.arrow", lambda path: _save_stream(path, pa.table({CELL: ["x"], "flu": ["cold"]}))),
    "JSON lines": ("t.jsonl", lambda path: path.write_text(json.dumps({CELL: "x", "flu": "cold"}))),
}

NAME_FAULTS = ["unknown column", "type of an unknown column", "unknown sensitive column", "unknown role"]


@pytest.mark.parametrize("fault", [FAULTS[name] for name in NAME_FAULTS], ids=NAME_FAULTS)
@pytest.mark.parametrize(("name", "write"), NAMELESS.values(), ids=NAMELESS.keys())
def test_a_first_row_that_may_be_a_person_is_not_shown(
    name: str, write: Callable[[Path], object], fault: Callable[[Any], object], tmp_path: Path
) -> None:
    write(tmp_path / name)

    told = _told(lambda: fault(tmp_path / name))

    assert CELL not in str(told)
    assert f"run: ldiversity describe {name}" in str(told)


def test_a_name_that_was_nearly_typed_is_shown(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("disease,age\nflu,3\n")

    assert "Did you mean 'disease'?" in str(_told(lambda: open_source(tmp_path / "t.csv").batches(["diseases"])))


REPEATED: dict[str, tuple[str, Callable[[Path], object]]] = {
    "CSV": ("t.csv", _text_file(["a", CELL, "b", CELL], ["1", "2", "3", "4"])),
    "Excel": ("t.xlsx", lambda path: _save_excel(path, [["a", CELL, "b", CELL], [1, 2, 3, 4]])),
    "Parquet": ("t.parquet", lambda path: pq.write_table(_repeated(), path)),
    "Arrow": ("t.arrow", lambda path: _save_stream(path, _repeated())),
}


def _repeated() -> pa.Table:
    return pa.table([[1], [2], [3], [4]], names=["a", CELL, "b", CELL])


@pytest.mark.parametrize(("name", "write"), REPEATED.values(), ids=REPEATED.keys())
def test_repeated_names_of_a_file_are_told_by_their_places(
    name: str, write: Callable[[Path], object], tmp_path: Path
) -> None:
    write(tmp_path / name)

    told = _told(lambda: open_source(tmp_path / name))

    assert CELL not in str(told)
    assert "columns 2 and 4 have the same name" in told.message


def test_many_repeated_names_are_counted(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(",".join(["a"] * 13) + "\n")

    assert (
        "columns 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 3 more have"
        in _told(lambda: open_source(tmp_path / "t.csv")).message
    )


def test_an_excel_sheet_without_names_is_refused(tmp_path: Path) -> None:
    _save_excel(tmp_path / "t.xlsx", [[30, 1234], [40, 5678]])

    assert "got numbers only" in _told(lambda: open_source(tmp_path / "t.xlsx")).message


BROKEN_FILES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "Parquet": ("t.parquet", lambda path: pq.write_table(BROKEN, path)),
    "Feather": ("t.feather", lambda path: pyarrow.feather.write_feather(BROKEN, path)),
    "Arrow stream": ("t.arrow", lambda path: _save_stream(path, BROKEN)),
}

READERS: dict[str, Callable[[Source], object]] = {
    "read": lambda source: list(source.batches()),
    "fitted": lambda source: fit_coder(source, Sensitive("s")),
    "described": summarize_columns,
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS.keys())
@pytest.mark.parametrize(("name", "write"), BROKEN_FILES.values(), ids=BROKEN_FILES.keys())
def test_text_that_is_not_utf8_is_refused_in_any_file(
    name: str, write: Callable[[Path], object], read: Callable[[Source], object], tmp_path: Path
) -> None:
    write(tmp_path / name)

    told = _told(lambda: read(open_source(tmp_path / name)))

    assert told.message == f"{name}: column 's' must hold well-formed cells and texts in UTF-8, got others."


@pytest.mark.parametrize(
    "cells",
    [
        _broken_text(),
        pa.DictionaryArray.from_arrays(pa.array([0]), _broken_text()),
        _broken_text().view(pa.binary()).cast(pa.large_binary()).view(pa.large_string()),
        pa.DictionaryArray.from_arrays(pa.array([7]), pa.array([CELL]), safe=False),
    ],
    ids=["text", "dictionary", "large text", "index outside its dictionary"],
)
@pytest.mark.parametrize("read", READERS.values(), ids=READERS.keys())
def test_cells_that_are_damaged_are_refused_in_a_frame(cells: pa.Array, read: Callable[[Source], object]) -> None:
    told = _told(lambda: read(open_source(pa.table({"s": cells}))))

    assert told.message == "table: column 's' must hold well-formed cells and texts in UTF-8, got others."


def test_days_with_a_time_of_day_are_read() -> None:
    [batch] = open_source(pa.table({"s": pa.array([86_400_001], pa.date64())})).batches()

    assert batch.num_rows == 1


class FailingStream:
    """Offers an Arrow stream that breaks, and nothing else."""

    def __init__(self, make: Callable[[], object]) -> None:
        self._make = make

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._make()


def _fail() -> object:
    raise KeyError(CELL)


def _failing_reader() -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(pa.schema([("s", pa.string())]), _failing_batches())


def _failing_batches() -> Iterator[pa.RecordBatch]:
    yield pa.record_batch({"s": [CELL]})
    raise ValueError(CELL)


def _read(cell: str) -> int:
    return int(cell)


class Unprintable:
    """Raises when it is shown."""

    def __repr__(self) -> str:
        raise RuntimeError(CELL)


BAD_FRAMES: dict[str, Callable[[], Any]] = {
    "lazy cast": lambda: pl.LazyFrame({"s": [CELL]}).with_columns(pl.col("s").cast(pl.Int64)),
    "lazy function": lambda: pl.LazyFrame({"s": [CELL]}).with_columns(
        pl.col("s").map_elements(_read, return_dtype=pl.Int64)
    ),
    "lazy column": lambda: pl.LazyFrame({CELL: [1]}).select("zzz"),
    "lazy names": lambda: pl.LazyFrame({CELL: [1]}).select(pl.col(CELL), pl.col(CELL)),
    "lazy file": lambda: pl.scan_csv("none.csv"),
    "lazy narwhals": lambda: nw.from_native(pl.LazyFrame({"s": [CELL]})).select(nw.col("s").cast(nw.Int64)),
    "reader that fails": _failing_reader,
    "stream that fails": lambda: FailingStream(lambda: _failing_reader().__arrow_c_stream__()),
    "stream that does not start": lambda: FailingStream(_fail),
    "stream that is none": lambda: FailingStream(lambda: CELL),
    "mixed types": lambda: pd.DataFrame({"s": [1, CELL]}),
    "mixed types late": lambda: pd.DataFrame({"s": [1.5] * 1000 + [CELL]}),
    "mixed categories": lambda: pd.DataFrame({"s": pd.Categorical([1, CELL])}),
    "mixed records": lambda: pd.DataFrame({"s": [{"a": 1}, {"a": CELL}]}),
    "mixed dates": lambda: pd.DataFrame({"s": [dt.date(2020, 1, 1), CELL]}),
    "wide integers": lambda: pd.DataFrame({"s": [1, 10**30]}),
    "half a character": lambda: pd.DataFrame({"s": pd.Series([f"{CELL}\ud800"], dtype=object)}),
    "sparse": lambda: pd.DataFrame({"s": pd.arrays.SparseArray([0, 1])}),
    "complex": lambda: pd.DataFrame({"s": [1j]}),
    "unprintable": lambda: pd.DataFrame({"s": [Unprintable()]}),
}


@pytest.mark.parametrize("make", BAD_FRAMES.values(), ids=BAD_FRAMES.keys())
def test_a_frame_that_cannot_be_read_is_refused_without_its_cells(make: Callable[[], Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pl.exceptions.PolarsInefficientMapWarning)
        frame = make()

    told = _told(lambda: open_source(frame))

    assert isinstance(told, SchemaError)
    assert CELL not in str(told)


def test_a_frame_that_cannot_be_read_names_its_column() -> None:
    told = _told(lambda: open_source(pd.DataFrame({"ok": [1, 2], "s": [1, 10**30]})))

    assert told.message == "table: column 's' must hold values of one type that Arrow knows, got others."


BAD_TEXTS = {
    "CSV, cell too many": ("t.csv", f"a,b\n1,2\n{CELL},{CELL},{CELL}\n".encode()),
    "CSV, open quote": ("t.csv", f'a,b\n1,"{CELL}\n'.encode()),
    "CSV, not UTF-8": ("t.csv", f"a,b\n1,{CELL}".encode() + b"\xff\n"),
    "CSV, cut": ("t.csv.gz", gzip.compress(f"a,b\n1,{CELL}\n".encode() * 1000)[:-20]),
    "JSON, open": ("t.jsonl", f'{{"a": "{CELL}\n'.encode()),
    "JSON, two types": ("t.jsonl", f'{{"a": 1}}\n{{"a": "{CELL}"}}\n'.encode()),
    "JSON, types inside": ("t.jsonl", f'{{"a": {{"b": 1}}}}\n{{"a": {{"b": "{CELL}"}}}}\n'.encode()),
    "JSON, not UTF-8": ("t.jsonl", f'{{"a": "{CELL}'.encode() + b'\xff"}\n'),
    "JSON, half a character": ("t.jsonl", f'{{"a": "{CELL}\\ud800"}}\n'.encode()),
    "JSON, wide integer": ("t.jsonl", b'{"a": 123456789012345678901234567890}\n'),
    "JSON, wide number": ("t.jsonl", f'{{"a": 1}}\n{{"a": 1e999, "b": "{CELL}"}}\n{{"a": [1]}}\n'.encode()),
    "Excel": ("t.xlsx", CELL.encode()),
    "Parquet": ("t.parquet", CELL.encode()),
    "Arrow": ("t.arrow", CELL.encode()),
}


@pytest.mark.parametrize(("name", "content"), BAD_TEXTS.values(), ids=BAD_TEXTS.keys())
def test_a_file_that_cannot_be_read_is_refused_without_its_cells(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)

    told = _told(lambda: open_source(tmp_path / name))

    assert isinstance(told, SchemaError)
    assert CELL not in str(told)


def test_a_file_cut_after_opening_is_refused_without_its_cells(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(LINES)
    source = open_source(path)
    path.write_text(f'{{"s": {CELL}')

    assert CELL not in str(_told(lambda: list(source.batches())))


def test_a_file_gone_after_opening_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(TABLE, path)
    source = open_source(path)
    path.unlink()

    assert isinstance(_told(lambda: list(source.batches())), SchemaError)


def test_a_day_far_away_in_excel_warns_of_no_cell(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.worksheets[0].append(["s"])
    book.worksheets[0].append([99_999_999_999])
    book.worksheets[0]["A2"].number_format = "yyyy-mm-dd"
    book.save(tmp_path / "t.xlsx")

    [batch] = open_source(tmp_path / "t.xlsx").batches()  # a warning would be an error

    assert batch.num_rows == 1


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([2**62], pa.timestamp("us")),
        pa.array([2**30], pa.date32()),
        pa.array([1], pa.timestamp("s", "No/Where")),
    ],
    ids=["time", "day", "zone"],
)
def test_times_that_python_does_not_know_are_described(cells: pa.Array) -> None:
    [summary] = summarize_columns(open_source(pa.table({"s": cells})))

    assert summary.n_distinct == 1


def test_times_of_an_unknown_zone_are_no_values() -> None:
    source = open_source(pa.table({"s": pa.array([1], pa.timestamp("s", "No/Where"))}))

    assert (
        "column 's' must hold cells that can be published as values"
        in _told(lambda: fit_coder(source, Sensitive("s"))).message
    )
