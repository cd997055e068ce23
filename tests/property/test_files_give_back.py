"""Every value that is published is read back as it was, or refused before a folder gets a name."""

from __future__ import annotations

import datetime as dt
import tempfile
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ldiversity as ld
from ldiversity.errors import LDiversityError, SchemaError
from ldiversity.release import Format
from ldiversity.release._survival import Content

FORMATS: list[Format] = ["csv", "parquet"]
YEAR_0, YEAR_10000, FAR = -62_167_219_201, 253_402_300_800, 10**12
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
ZONES = [None, "UTC", "Europe/Berlin", "+05:30"]
FAR_ZONES = [None, "Europe/Berlin"]
"""Where instants far away are tried: without a zone, and with one whose offset changes."""


def whole(kind: pa.DataType, *values: int | None) -> pa.Array:
    """Cells of a type of days, times or instants, from integers of its unit."""
    return pa.array(values, pa.int32() if kind.bit_width == 32 else pa.int64()).cast(kind)


def instants() -> dict[str, pa.Array]:
    made = {}
    for unit, each in UNITS.items():
        for zone in ZONES:
            kind = pa.timestamp(unit, zone)
            made[f"{kind}"] = whole(kind, 0, 1_577_836_800 * each + (unit != "s"), -86_400 * each, None)
            if zone not in FAR_ZONES:
                continue
            far = [2**63 - 1, -(2**63) + 1] if unit == "ns" else [YEAR_0 * each, YEAR_10000 * each, FAR * each]
            made |= {f"{kind} {number}": whole(kind, value, 0, 1, 2) for number, value in enumerate(far)}
    return made


COLUMNS: dict[str, pa.Array] = {
    "zero byte": pa.array(["a\0b", "x", None, ""]),
    "line ends": pa.array(["a\r\nb", "x\n", "\ry", "\n"]),
    "blanks": pa.array([" a", "b ", " ", ""]),
    "quotes": pa.array(['"a"', 'b""', '""', ",;\t'"]),
    "marks": pa.array(["\ufeffa", "b", "\u2028", "\x85"]),
    "words for nothing": pa.array(["NULL", "NA", "nan", None]),
    "texts of numbers": pa.array(["01", "1.0", "1e5", "true"]),
    "empty and missing": pa.array(["", None, "", None]),
    "large texts": pa.array(["a", "b", None, "c"], pa.large_string()),
    "views": pa.array(["a", "b", None, "a text that is longer than twelve bytes"], pa.string_view()),
    "bytes": pa.array([b"\xff", b"a", b"", None]),
    "no number": pa.array([float("nan"), 1.5, -0.0, None]),
    "infinite": pa.array([float("inf"), float("-inf"), 0.0, None]),
    "doubles": pa.array([0.1, 1 / 3, 5e-324, 1.7976931348623157e308]),
    "large doubles": pa.array([1e22, 123456789012345678.0, -1e-7, 2.0**53 + 2]),
    "floats": pa.array([0.1, 3.4e38, -0.0, 1e-45], pa.float32()),
    "half floats": pa.array(np.array([0.1, 65504, np.nan, -0.0], np.float16)),
    "int64": pa.array([-(2**63), 2**63 - 1, 0, None]),
    "uint64": pa.array([2**64 - 1, 0, 2**63, None], pa.uint64()),
    "uint32": pa.array([2**32 - 1, 0, 1, None], pa.uint32()),
    "int8": pa.array([-128, 127, 0, None], pa.int8()),
    "truth": pa.array([True, False, None, True]),
    "nothing": pa.nulls(4),
    "decimals": pa.array([Decimal("1.10"), Decimal("-0.01"), None, Decimal("12345.00")], pa.decimal128(20, 2)),
    "wide decimals": pa.array([Decimal("1e30"), Decimal(-1), None, Decimal(3)], pa.decimal256(50, 2)),
    "days": pa.array([dt.date(1, 1, 1), dt.date(9999, 12, 31), None, dt.date(2020, 2, 29)]),
    "days far away": whole(pa.date32(), -(2**31), 2**31 - 1, -719_529, 2_932_897),
    "date64": whole(pa.date64(), 0, 86_400_000, -86_400_000, None),
    "time32": whole(pa.time32("s"), 0, 1, 86_399, None),
    "time64": whole(pa.time64("ns"), 0, 1, 86_399_999_999_999, None),
    "durations": whole(pa.duration("s"), 0, 1, -1, None),
    "lists": pa.array([[1], [2], None, []]),
    "records": pa.array([{"a": 1}] * 4),
    "categories": pa.array(["a", "b", None, "a"]).dictionary_encode(),
    "categories of numbers": pa.array([3, 1, None, 2]).dictionary_encode(),
} | instants()

RELEASES: dict[str, dict[str, Any]] = {
    "sets, quasi": {"method": ld.RandomizedAddition(l=2), "quasi": ["x", "row"]},
    "sets, plain": {"method": ld.RandomizedAddition(l=2), "plain": ["x", "row"]},
    "exploded, plain": {"method": ld.RandomizedAddition(l=2), "plain": ["x", "row"], "layout": "exploded"},
    "buckets, quasi": {"method": ld.Anatomy(l=2), "quasi": ["x", "row"]},
    "buckets, plain": {"method": ld.Anatomy(l=2), "plain": ["x", "row"], "quasi": ["one"]},
    "regions, quasi": {"method": ld.Mondrian(l=2), "quasi": ["x"]},
    "regions, plain": {"method": ld.Mondrian(l=2), "plain": ["x", "row"], "quasi": ["one"]},
    "sets, sensitive": {"method": ld.RandomizedAddition(l=2), "sensitive": ld.Sensitive("x", missing="category")},
    "buckets, sensitive": {
        "method": ld.Anatomy(l=2), "quasi": ["row"], "sensitive": ld.Sensitive("x", missing="category")
    },
}  # fmt: skip


def table_with(column: pa.Array) -> pa.Table:
    cells = pa.chunked_array([column, column, column])
    n = len(cells)
    return pa.table({"x": cells, "row": np.arange(n), "one": ["all"] * n, "s": [f"value {i % 5}" for i in range(n)]})


def told(column: pa.ChunkedArray) -> list[str]:
    """Cells as texts that differ whenever the cells do; times as integers, as Python knows no year 10,000."""
    if pa.types.is_date32(column.type):
        column = column.cast(pa.int32())
    elif pa.types.is_temporal(column.type):
        column = column.cast(pa.int64())
    return [repr(cell) for cell in column.to_pylist()]


def refusal(work: Callable[[], object]) -> str:
    """What is said where it is refused; nothing where it is done."""
    try:
        work()
    except LDiversityError as error:
        return error.message
    return ""


@pytest.mark.parametrize("column", COLUMNS)
def test_every_type_in_every_role_is_given_back_or_refused(tmp_path: Path, column: str) -> None:
    table = table_with(COLUMNS[column])
    for name, choices in RELEASES.items():
        published: list[ld.Release] = []
        said = [refusal(lambda: published.append(ld.anonymize(table, **({"sensitive": "s"} | choices))))]  # noqa: B023
        for release, data_format in product(published, FORMATS):
            folder = tmp_path / f"{name}, {data_format}"
            said.append(refusal(partial(release.save, folder, data_format=data_format)))
            if said[-1]:
                assert not folder.exists()
                assert not list(tmp_path.glob(".*"))
                continue
            loaded = ld.load_release(folder)
            loaded.verify()
            if {"x", "row"} <= {*choices.get("quasi", ()), *choices.get("plain", ())}:
                meant, read = (one.columns(["x", "row"]).sort_by("row") for one in (release, loaded))
                assert told(meant["x"]) == told(read["x"]), folder.name
        assert [text for text in said if text and "'x'" not in text and "x:" not in text] == [], name


@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("name", ["sets, quasi", "buckets, plain", "regions, quasi"])
def test_the_advice_can_be_followed(tmp_path: Path, name: str, number: int) -> None:
    table = table_with(COLUMNS[f"timestamp[s] {number}"])
    choices = {"sensitive": "s"} | RELEASES[name]
    with pytest.raises(SchemaError, match="'x' must hold values that CSV gives back as they are"):
        ld.anonymize(table, **choices, output=tmp_path / "r", data_format="csv")

    ld.anonymize(table, **choices, output=tmp_path / "as Parquet")
    ld.anonymize(table, **choices, output=tmp_path / "as text", data_format="csv", types={"x": "text"})


@given(cells=st.lists(st.text(max_size=8) | st.none(), min_size=3, max_size=12))
@settings(deadline=None, max_examples=40)
def test_any_text_is_given_back_by_csv(cells: list[str | None]) -> None:
    n = len(cells)
    table = pa.table({"x": pa.array(cells, pa.string()), "row": np.arange(n), "s": [f"{i % 3}" for i in range(n)]})
    with tempfile.TemporaryDirectory() as folder:
        release = ld.anonymize(
            table, quasi=["x", "row"], sensitive=ld.Sensitive("s", domain=["0", "1", "2"]),
            method=ld.RandomizedAddition(l=2), output=Path(folder) / "r", data_format="csv",
        )  # fmt: skip
        assert release.columns(["x", "row"]).sort_by("row")["x"].to_pylist() == cells


# --- the comparison itself -----------------------------------------------------------------------------


NEVER_WRITTEN = {"views", "bytes", "nothing", "decimals", "wide decimals"}
"""Types that are refused, or published as texts."""


@pytest.mark.parametrize("column", [name for name in COLUMNS if name not in NEVER_WRITTEN])
def test_content_does_not_depend_on_batches(column: str) -> None:
    whole_column = pa.chunked_array([COLUMNS[column]])
    once, parts = Content(), Content()
    once.add(pa.table({"x": whole_column}))
    for start in range(len(whole_column)):
        parts.add(pa.table({"x": whole_column.slice(start, 1)}))

    assert once.differences(parts) == []


@given(st.lists(st.none() | st.text(max_size=2), max_size=4), st.lists(st.none() | st.text(max_size=2), max_size=4))
def test_content_is_the_same_for_the_same_cells_only(one: list[str | None], other: list[str | None]) -> None:
    contents = []
    for cells in (one, other):
        contents.append(Content())
        contents[-1].add(pa.table({"x": pa.array(cells, pa.string())}))

    assert (contents[0].differences(contents[1]) == []) == (one == other)


@given(st.lists(st.none() | st.text(max_size=2), max_size=6), st.lists(st.none() | st.text(max_size=2), max_size=6))
def test_content_of_texts_does_not_depend_on_how_they_come(one: list[str | None], other: list[str | None]) -> None:
    first = pa.array(one, pa.string())
    coded = first.dictionary_encode()
    more = pa.concat_arrays([coded.dictionary, pa.array(["never shown"])])
    forms = [first, coded, first.cast(pa.large_string()), pa.DictionaryArray.from_arrays(coded.indices, more)]
    contents = [Content() for _ in (*forms, other)]
    for content, cells in zip(contents, [*forms, pa.array(other, pa.string()).dictionary_encode()], strict=True):
        content.add(pa.table({"x": cells}))

    assert all(contents[0].differences(content) == [] for content in contents[:-1])
    assert (contents[0].differences(contents[-1]) == []) == (one == other)


@given(st.lists(st.none() | st.integers(-3, 3), max_size=4), st.lists(st.none() | st.integers(-3, 3), max_size=4))
def test_content_of_numbers_is_the_same_for_the_same_cells_only(one: list[int | None], other: list[int | None]) -> None:
    for kind in (pa.int64(), pa.int8(), pa.float64()):
        contents = [Content(), Content()]
        for content, cells in zip(contents, (one, other), strict=True):
            content.add(pa.table({"x": pa.array(cells, kind)}))

        assert (contents[0].differences(contents[1]) == []) == (one == other)


@pytest.mark.parametrize("change", ["highest bit", "lowest bit", "two change places", "two far apart change places"])
def test_content_of_many_rows_notices_one_change(change: str) -> None:
    # A sum misses a change with a probability of 2 ** -33 at most.
    cells = np.random.default_rng(3).integers(0, 1 << 62, 40_000).astype(np.uint64)
    other = cells.copy()
    if "bit" in change:
        other[20_001] ^= np.uint64(1 << 63 if change == "highest bit" else 1)
    else:
        places = [7, 8] if change == "two change places" else [7, 7 + 2 * (1 << 14)]
        other[places] = cells[places[::-1]]
    contents = [Content(), Content()]
    for content, values in zip(contents, (cells, other), strict=True):
        content.add(pa.table({"x": values, "text": pa.array((values % 1000).astype(str)).dictionary_encode()}))

    different = ["x"] if change == "highest bit" and (cells % 1000 == other % 1000).all() else ["x", "text"]
    assert contents[0].differences(contents[1]) == different
