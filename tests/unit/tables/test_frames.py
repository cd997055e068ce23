"""Every kind of frame is read, and handed back as the same kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ldiversity.errors import ParameterError, SchemaError, UnsupportedError
from ldiversity.tables import Source, open_source, to_native

TABLE = pa.table({"age": [30, 40, 50], "disease": ["flu", None, "かぜ"]})


class Stream:
    """Offers the Arrow stream protocol and nothing else."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return TABLE.__arrow_c_stream__(requested_schema)


FRAMES: dict[str, tuple[Callable[[pa.Table], Any], str]] = {
    "pandas": (lambda table: table.to_pandas(), "pandas"),
    "pandas with an index": (lambda table: table.to_pandas().set_index(pd.Index([7, 8, 9], name="k")), "pandas"),
    "polars": (pl.from_arrow, "polars"),
    "polars lazy": (lambda table: pl.from_arrow(table).lazy(), "polars"),
    "pyarrow table": (lambda table: table, "arrow"),
    "pyarrow batch": (lambda table: table.to_batches()[0], "arrow"),
    "pyarrow reader": (lambda table: table.to_reader(), "arrow"),
    "narwhals": (lambda table: nw.from_native(pl.from_arrow(table)), "polars"),
    "narwhals over pyarrow": (nw.from_native, "arrow"),
    "stream": (lambda _: Stream(), "arrow"),
}


@pytest.mark.parametrize(("make", "kind"), FRAMES.values(), ids=FRAMES.keys())
def test_a_frame_is_read_and_its_kind_kept(make: Callable[[pa.Table], Any], kind: str) -> None:
    source = open_source(make(TABLE))

    read = pa.Table.from_batches(source.batches(chunk_rows=2))

    assert read.to_pydict() == TABLE.to_pydict()
    assert (source.name, source.frame_kind, source.n_rows) == ("table", kind, 3)
    assert source.columns == {"age": pa.int64(), "disease": pa.string()}


@pytest.mark.parametrize(("make", "kind"), FRAMES.values(), ids=FRAMES.keys())
def test_a_one_shot_stream_can_be_read_twice(make: Callable[[pa.Table], Any], kind: str) -> None:
    source = open_source(make(TABLE))

    assert list(source.batches()) == list(source.batches())


@pytest.mark.parametrize(
    ("kind", "frame_type"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("arrow", pa.Table)]
)
def test_a_table_is_handed_back_as_the_kind_that_came(kind: str, frame_type: type) -> None:
    frame = to_native(TABLE, kind)

    assert isinstance(frame, frame_type)
    assert open_source(frame).frame_kind == kind


def test_a_source_is_its_own_source() -> None:
    source = open_source(TABLE)

    assert open_source(source) is source


def test_a_source_takes_no_types_afterwards() -> None:
    source = open_source(TABLE)

    with pytest.raises(ParameterError, match="types must be declared when the table is first opened"):
        open_source(source, types={"age": "text"})


def test_declared_types_are_cast() -> None:
    [batch] = open_source(TABLE, types={"age": "text"}).batches(["age"])

    assert batch.column(0).to_pylist() == ["30", "40", "50"]


def test_a_cast_that_fails_shows_no_cell() -> None:
    source: Source = open_source(pa.table({"a": ["SECRET"]}), types={"a": "integer"})

    with pytest.raises(SchemaError, match="column 'a' must hold values that can be read as integer") as caught:
        list(source.batches())

    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize(
    "array",
    [
        pa.array(["x", "y", None]).dictionary_encode(),
        pa.array(["x", "y", None], pa.large_string()),
        pa.array(["x", "y", None], pa.string_view()),
        pa.compute.run_end_encode(pa.array(["x", "y", None])),
    ],
    ids=["dictionary", "large", "view", "runs"],
)
def test_encodings_are_taken_off(array: pa.Array) -> None:
    source = open_source(pa.table({"a": array}))

    [batch] = source.batches()

    assert source.columns == {"a": pa.string()}
    assert batch.column(0) == pa.array(["x", "y", None])


def test_a_missing_float_of_pandas_is_missing() -> None:
    [batch] = open_source(pd.DataFrame({"a": [1.5, float("nan")]})).batches()

    assert batch.column(0).to_pylist() == [1.5, None]


BAD_FRAMES = {
    "duplicated names": (pd.DataFrame([[1, 2]], columns=["a", "a"]), "got 'a' more than once"),
    "duplicated Arrow names": (pa.table([[1], [2]], names=["a", "a"]), "got 'a' more than once"),
    "names that are numbers": (pd.DataFrame([[1, 2]]), "column names must be texts, got 2 that are not"),
    "empty name": (pa.table({" ": [1]}), "every column must have a name, got none for column 1"),
    "no columns": (pd.DataFrame(), "must have at least one column, got none"),
    "mixed types": (pd.DataFrame({"ok": [1, 2], "b": [1, "SECRET"]}), "column 'b' must hold values of one type"),
}


@pytest.mark.parametrize(("frame", "sentence"), BAD_FRAMES.values(), ids=BAD_FRAMES.keys())
def test_a_bad_frame_is_refused_in_one_sentence(frame: Any, sentence: str) -> None:
    with pytest.raises(SchemaError, match=sentence) as caught:
        open_source(frame)

    assert "SECRET" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize("thing", [{"a": [1]}, [1, 2], 7, None, pd.Series([1]), pl.Series([1])])
def test_what_is_no_table_is_refused(thing: object) -> None:
    with pytest.raises(ParameterError, match="data must be a path or a data frame, got"):
        open_source(thing)


def test_an_unknown_kind_of_frame_is_refused() -> None:
    with pytest.raises(
        ParameterError,
        match=r"frame_kind must be 'arrow', .* narwhals knows, got 'matrix'",
    ):
        to_native(TABLE, "matrix")


def test_a_frame_whose_package_is_not_installed_says_so() -> None:
    with pytest.raises(UnsupportedError, match="needs the package modin, which is not installed"):
        to_native(TABLE, "modin")


@pytest.mark.parametrize("kind", ["Int64", "UInt64", "Int8", "boolean"])
def test_pandas_columns_with_gaps_keep_their_values(kind: str) -> None:
    wide = {"Int64": [2**60 + 1, None, -(2**60) - 1], "UInt64": [2**63 + 1, None, 3]}.get(kind, [1, None, 0])
    frame = pd.DataFrame({"x": pd.array(wide, dtype=kind)})

    (batch,) = open_source(frame).batches()
    returned = to_native(pa.Table.from_batches([batch]), "pandas")

    assert returned["x"].dtype == frame["x"].dtype
    assert returned["x"].equals(frame["x"])


def ends(kind: pa.DataType, *numbers: int | None) -> pa.Table:
    cells = pa.array(numbers, pa.int64()).cast(kind)
    return pa.table({"when": pa.StructArray.from_arrays([cells, cells], names=["low", "high"]), "x": range(len(cells))})


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_instants_in_records_are_those_of_a_pandas_column(unit: str, zone: str | None) -> None:
    table = ends(pa.timestamp(unit, tz=zone), 1_234_567_891, None, -1, -1)
    column = table["when"].combine_chunks().field("low").to_pandas()

    frame = to_native(table, "pandas")

    assert list(frame.columns) == ["when", "x"]
    assert frame["when"][1] == {"low": None, "high": None}
    for row in (0, 2, 3):
        low = frame["when"][row]["low"]
        assert isinstance(low, pd.Timestamp)
        assert (low, low.nanosecond, str(low.tzinfo)) == (column[row], column[row].nanosecond, str(column[row].tzinfo))


def test_instants_in_records_may_lie_beyond_the_years_of_python() -> None:
    assert str(to_native(ends(pa.timestamp("s"), 10**12), "pandas")["when"][0]["low"]).startswith("33658-")


def test_a_table_without_rows_keeps_its_columns_of_records() -> None:
    assert list(to_native(ends(pa.timestamp("ns")), "pandas").columns) == ["when", "x"]
