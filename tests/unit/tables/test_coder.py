"""Cells of a sensitive column become codes of a public domain."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ldiversity.errors import ParameterError, SchemaError
from ldiversity.schema import Domain
from ldiversity.tables import Coder, Sensitive, fit_coder, open_source


def fit(cells: Any, **options: Any) -> tuple[Coder, list[int]]:
    array = cells if isinstance(cells, pa.Array | pa.ChunkedArray) else pa.array(cells)
    coder, counts = fit_coder(open_source(pa.table({"s": array})), Sensitive("s", **options))
    return coder, counts.tolist()


# --- inferred domains ---------------------------------------------------------------------------------

INFERRED = {
    "texts": (pa.array(["flu", "cold", "flu"]), ("cold", "flu"), [1, 2], pa.string()),
    "texts by code point": (pa.array(["é", "z", "Z", "日"]), ("Z", "z", "é", "日"), [1, 1, 1, 1], pa.string()),
    "integers": (pa.array([10, 9, 10], pa.int8()), (9, 10), [1, 2], pa.int64()),
    "wide integers": (pa.array([2**63 - 1, -(2**63)]), (-(2**63), 2**63 - 1), [1, 1], pa.int64()),
    "wider unsigned integers": (
        pa.array([2**64 - 1, 2], pa.uint64()),
        ("18446744073709551615", "2"),
        [1, 1],
        pa.string(),
    ),
    "floats": (pa.array([0.5, -1.0, 0.5]), (-1.0, 0.5), [1, 2], pa.float64()),
    "two zeros": (pa.array([0.0, -0.0]), (0.0,), [2], pa.float64()),
    "booleans": (pa.array([True, False, True]), (False, True), [1, 2], pa.bool_()),
    "dates": (
        pa.array([dt.date(2020, 1, 2), dt.date(2019, 5, 1)]),
        ("2019-05-01", "2020-01-02"),
        [1, 1],
        pa.string(),
    ),
    "times": (pa.array([0, 1], pa.timestamp("s")), ("1970-01-01", "1970-01-01T00:00:01"), [1, 1], pa.string()),
    "money": (pa.array([Decimal("1.50"), Decimal("1.25")]), (1.25, 1.5), [1, 1], pa.float64()),
    "whole decimals": (pa.array([Decimal(7), Decimal(5)]), (5, 7), [1, 1], pa.int64()),
    "long decimals": (
        pa.array([Decimal("1.2345678901234567890")]),
        ("1.2345678901234567890",),
        [1],
        pa.string(),
    ),
    "categories": (
        pa.DictionaryArray.from_arrays([1, 0, 1], ["flu", "cold", "never seen"]),
        ("cold", "flu"),
        [2, 1],
        pa.string(),
    ),
    "one value": (pa.array(["flu"] * 3), ("flu",), [3], pa.string()),
    "one row": (pa.array([7]), (7,), [1], pa.int64()),
}


@pytest.mark.parametrize(("cells", "values", "counts", "kind"), INFERRED.values(), ids=INFERRED.keys())
def test_the_domain_is_what_occurs_sorted(
    cells: pa.Array, values: tuple[Any, ...], counts: list[int], kind: pa.DataType
) -> None:
    coder, counted = fit(cells)

    assert (coder.domain.values, counted, coder.type) == (values, counts, kind)


@pytest.mark.parametrize(("cells", "values", "counts", "kind"), INFERRED.values(), ids=INFERRED.keys())
def test_codes_agree_with_the_counts(
    cells: pa.Array, values: tuple[Any, ...], counts: list[int], kind: pa.DataType
) -> None:
    coder, _ = fit(cells)

    codes = coder.codes(cells)

    assert codes.dtype == np.int32
    assert np.bincount(codes, minlength=len(values)).tolist() == counts


def test_codes_are_positions_in_the_domain() -> None:
    coder, _ = fit(["flu", "cold", "gout"])

    assert coder.codes(pa.chunked_array([["gout"], ["cold", "flu"]])).tolist() == [2, 0, 1]


def test_codes_of_no_rows_are_none() -> None:
    coder, _ = fit(["flu"])

    assert coder.codes(pa.chunked_array([], pa.string())).shape == (0,)


def test_the_domain_does_not_follow_frequency_or_first_occurrence() -> None:
    one, _ = fit(["b", "b", "a"])
    other, _ = fit(["a", "b", "b", "a", "a"])

    assert one.domain == other.domain


@pytest.mark.parametrize(("cells", "ordered"), [(["a"], False), ([1], True), ([1.5], True), ([True], False)])
def test_numbers_are_ordered(cells: list[Any], ordered: bool) -> None:  # noqa: FBT001 - a case
    coder, _ = fit(cells)

    assert coder.domain.ordered is ordered


def test_numbers_are_their_own_positions() -> None:
    coder, _ = fit([5, 2])

    assert coder.domain.positions == (2.0, 5.0)


def test_a_text_column_of_a_parquet_file_is_coded(tmp_path: Path) -> None:
    pq.write_table(pa.table({"s": ["b", "a", "b"], "t": [1, 2, 3]}), tmp_path / "t.parquet", row_group_size=1)
    source = open_source(tmp_path / "t.parquet")

    coder, counts = fit_coder(source, Sensitive("s"), 1)
    codes = [coder.codes(batch.column(0)).tolist() for batch in source.batches(["s"], encoded=["s"], chunk_rows=2)]

    assert (counts.tolist(), codes) == ([1, 2], [[1, 0], [1]])


# --- missing values -----------------------------------------------------------------------------------

MISSING = {
    "texts": pa.array(["flu", None, "cold", None]),
    "floats": pa.array([1.5, None, 0.5, float("nan")]),
    "categories": pa.DictionaryArray.from_arrays([1, None, 2, 0], [None, "flu", "cold"]),
}


@pytest.mark.parametrize("cells", MISSING.values(), ids=MISSING.keys())
def test_missing_values_are_refused_with_their_number_and_the_other_policies(cells: pa.Array) -> None:
    with pytest.raises(SchemaError, match="got 2 rows without") as caught:
        fit(cells)

    assert "missing='category'" in str(caught.value)
    assert "missing='drop'" in str(caught.value)


@pytest.mark.parametrize("cells", MISSING.values(), ids=MISSING.keys())
def test_missing_values_may_be_a_category_that_comes_last(cells: pa.Array) -> None:
    coder, counts = fit(cells, missing="category")

    assert coder.domain.values[-1] is None
    assert (coder.codes(cells).tolist(), counts) == ([1, 2, 0, 2], [1, 1, 2])


@pytest.mark.parametrize("cells", MISSING.values(), ids=MISSING.keys())
def test_rows_of_missing_values_may_be_dropped(cells: pa.Array) -> None:
    coder, counts = fit(cells, missing="drop")

    assert (coder.codes(cells).tolist(), counts) == ([1, -1, 0, -1], [1, 1])


def test_a_category_may_be_kept_for_missing_values_that_do_not_occur() -> None:
    coder, counts = fit(["flu"], missing="category")

    assert (coder.domain.values, counts) == (("flu", None), [1, 0])


def test_the_category_of_missing_numbers_has_no_position() -> None:
    coder, _ = fit([3, None], missing="category")

    assert coder.domain.positions is not None
    assert coder.domain.positions[0] == 3.0
    assert math.isnan(coder.domain.positions[1])


def test_a_later_missing_value_is_refused_by_codes() -> None:
    coder, _ = fit(["flu"])

    with pytest.raises(SchemaError, match="column 's' must have a value in every row, got 1 row without"):
        coder.codes(pa.array(["flu", None]))


@pytest.mark.parametrize("cells", [pa.nulls(3), pa.array([None] * 3, pa.string()), pa.array([None] * 3, pa.int64())])
def test_a_column_without_values_is_one_category(cells: pa.Array) -> None:
    coder, counts = fit(cells, missing="category")

    assert (coder.domain.values, counts, coder.codes(cells).tolist()) == ((None,), [3], [0, 0, 0])


@pytest.mark.parametrize("options", [{}, {"width": 10}, {"domain": [1]}])
def test_a_column_without_values_cannot_be_dropped_to_nothing(options: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match="column 's' must have a value in at least one row, got none"):
        fit(pa.array([None, None], pa.int64()), missing="drop", **options)


@pytest.mark.parametrize("options", [{}, {"width": 10}])
def test_a_table_without_rows_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match="table: the table must have at least one row, got none"):
        fit(pa.array([], pa.int64()), **options)


# --- declared domains ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "way_out"),
    [
        (Domain(("a", "b")), "domain=domain.values"),
        (Domain((0, 1), edges=(0.0, 5.0, 9.0)), "edges=domain.edges"),
        (5, ""),
    ],
)
def test_what_is_no_list_is_refused_with_a_way_out(given: Any, way_out: str) -> None:
    with pytest.raises(ParameterError, match="must be a list of at least one value") as refused:
        Sensitive("s", domain=given)

    assert way_out in str(refused.value)


def test_a_declared_domain_keeps_its_order_and_may_be_wider() -> None:
    coder, counts = fit(["mild", "severe"], domain=["mild", "moderate", "severe"])

    assert (coder.domain.values, coder.domain.ordered, counts) == (("mild", "moderate", "severe"), True, [1, 0, 1])


DECLARED = {
    "texts for integers": (pa.array([1, 2]), ["2", "1"], (2, 1)),
    "floats for integers": (pa.array([1, 2]), [1.0, 2.0], (1, 2)),
    "numpy integers": (pa.array([1, 2]), list(np.array([1, 2])), (1, 2)),
    "integers for texts": (pa.array(["1", "2"]), [1, 2], ("1", "2")),
    "integers for floats": (pa.array([1.0, 2.5]), [1, "2.5"], (1.0, 2.5)),
    "words for booleans": (pa.array([True]), ["true", "False"], (True, False)),
    "booleans": (pa.array([True]), [True, False], (True, False)),
    "dates": (pa.array([dt.date(2020, 1, 2)]), [dt.date(2020, 1, 2), "2020-01-03"], ("2020-01-02", "2020-01-03")),
}


@pytest.mark.parametrize(("cells", "declared", "values"), DECLARED.values(), ids=DECLARED.keys())
def test_declared_values_take_the_type_of_the_column(
    cells: pa.Array, declared: list[Any], values: tuple[Any, ...]
) -> None:
    coder, counts = fit(cells, domain=declared)

    assert coder.domain.values == values
    assert [type(value) for value in coder.domain.values] == [type(value) for value in values]
    assert sum(counts) == len(cells)


STRANGE = {
    "text for integers": (pa.array([1]), [1, "one"], "'one'"),
    "fraction for integers": (pa.array([1]), [1, 1.5], "1.5"),
    "too wide": (pa.array([1]), [1, 2**70], str(2**70)),
    "too wide for Python to write": (pa.array([1]), [1, 10**5000], "'an integer far beyond 64 bits'"),
    "too wide for a float": (pa.array([1.5]), [1.5, 10**400], "'an integer far beyond 64 bits'"),
    "infinite": (pa.array([1.0]), [1.0, math.inf], "inf"),
    "boolean for texts": (pa.array(["a"]), ["a", True], "True"),
    "integer for booleans": (pa.array([True]), [True, 2], "2"),
    "list": (pa.array(["a"]), ["a", ["b"]], r"\['b'\]"),
}


@pytest.mark.parametrize(("cells", "declared", "named"), STRANGE.values(), ids=STRANGE.keys())
def test_declared_values_of_another_type_are_named(cells: pa.Array, declared: list[Any], named: str) -> None:
    with pytest.raises(SchemaError, match=rf"must hold values of the column's type, .*, got {named}\."):
        fit(cells, domain=declared)


def test_values_outside_a_declared_domain_are_counted_and_not_shown() -> None:
    with pytest.raises(SchemaError, match="got 3 rows with 2 others") as caught:
        fit(["flu", "SECRET1", "SECRET2", "SECRET1"], domain=["flu", "cold"])

    assert "SECRET" not in str(caught.value)


def test_later_values_outside_the_domain_are_counted_and_not_shown() -> None:
    coder, _ = fit(["flu"])

    with pytest.raises(SchemaError, match="got 2 rows with 1 other") as caught:
        coder.codes(pa.array(["flu", "SECRET", "SECRET"]))

    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("cells", [pa.array(["SECRET"]), pa.array([["SECRET"]])], ids=["text", "list"])
def test_later_cells_of_another_type_are_refused_and_not_shown(cells: pa.Array) -> None:
    coder, _ = fit([1, 2])

    with pytest.raises(SchemaError, match="column 's' must hold values of the type integer, got") as caught:
        coder.codes(cells)

    assert "SECRET" not in str(caught.value)


def test_categories_that_no_row_has_may_lie_outside_the_domain() -> None:
    coder, _ = fit(["flu"])

    assert coder.codes(pa.DictionaryArray.from_arrays([0, 0], ["flu", "other"])).tolist() == [0, 0]


def test_the_place_of_missing_values_may_be_declared() -> None:
    coder, counts = fit(["flu", None], domain=[None, "flu"], missing="category")

    assert (coder.domain.values, counts) == ((None, "flu"), [1, 1])


def test_a_column_without_values_takes_the_declared_domain() -> None:
    coder, counts = fit(pa.array([None], pa.int64()), domain=[1, 2], missing="category")

    assert (coder.domain.values, counts, coder.type) == ((1, 2, None), [0, 0, 1], pa.int64())


def test_a_domain_with_repeated_values_is_refused() -> None:
    with pytest.raises(SchemaError, match="values must be distinct"):
        fit([1], domain=[1, "1"])


# --- limits -------------------------------------------------------------------------------------------


def test_too_many_values_are_refused_with_a_hint_to_bin() -> None:
    with pytest.raises(SchemaError, match=r"(?s)got more than 100000.*Bin numbers"):
        fit(pa.array(np.arange(100_001)))


def test_too_many_values_are_refused_however_the_table_is_cut() -> None:
    source = open_source(pa.table({"s": np.arange(100_001)}))

    with pytest.raises(SchemaError, match="got more than 100000"):
        fit_coder(source, Sensitive("s"), 20_000)


def test_as_many_values_as_allowed_are_a_domain() -> None:
    coder, _ = fit(pa.array(np.arange(100_000)))

    assert len(coder.domain) == 100_000


def test_measurements_are_refused_with_a_hint_to_bin() -> None:
    with pytest.raises(SchemaError, match=r"(?s)got 1001 different decimal numbers.*Bin numbers"):
        fit(pa.array(np.arange(1001) / 7))


def test_measurements_may_have_a_declared_domain() -> None:
    numbers = np.arange(1001) / 7

    coder, _ = fit(pa.array(numbers), domain=numbers.tolist())

    assert len(coder.domain) == 1001


@pytest.mark.parametrize(
    "cells", [pa.array([[1]]), pa.array([{"a": 1}]), pa.array([b"x"]), pa.array([1], pa.duration("s"))]
)
def test_what_cannot_be_coded_is_refused_by_its_type(cells: pa.Array) -> None:
    with pytest.raises(
        SchemaError, match="column 's' must hold texts, numbers, booleans or dates to be sensitive, got"
    ):
        fit(cells)


def test_an_unknown_sensitive_column_suggests_the_nearest() -> None:
    with pytest.raises(SchemaError, match=r"(?s)column 'diseases' does not exist.*Did you mean 'disease'"):
        fit_coder(open_source(pa.table({"disease": ["flu"]})), Sensitive("diseases"))


# --- what a holder may say ----------------------------------------------------------------------------

CONTRADICTIONS = {
    "unknown policy": ({"missing": "ignore"}, "missing must be one of 'refuse', 'category', 'drop', got 'ignore'"),
    "empty domain": ({"domain": []}, "domain must be a list of at least one value"),
    "a text as domain": ({"domain": "flu"}, "domain must be a list of at least one value"),
    "domain and bins": ({"domain": [1], "width": 2}, "domain must be left out when 's' is binned"),
    "two ways to bin": ({"width": 2, "quantiles": 4}, "exactly one of width, edges and quantiles"),
    "bounds alone": ({"low": 0, "high": 2}, "exactly one of width, edges and quantiles must be given, got 0"),
    "None without its policy": ({"domain": ["a", None]}, "missing must be 'category' when the domain holds None"),
}


@pytest.mark.parametrize(("options", "sentence"), CONTRADICTIONS.values(), ids=CONTRADICTIONS.keys())
def test_contradictions_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        Sensitive("s", **options)


def test_a_coder_needs_no_table() -> None:
    coder = Coder("s", Domain(("b", "a")), pa.string())

    assert coder.codes(pa.array(["a", "b"])).tolist() == [1, 0]
