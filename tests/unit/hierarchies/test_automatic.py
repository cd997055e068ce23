"""Hierarchies made from values."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ldiversity.errors import ParameterError, SchemaError
from ldiversity.hierarchies import Hierarchy, automatic_hierarchy
from ldiversity.hierarchies._unambiguous import check_unambiguous

# --- by width --------------------------------------------------------------------------------------------


def test_intervals_of_a_width_start_at_its_multiples() -> None:
    tree = Hierarchy.by_width([17, 20, 29, 30], [10])

    assert [tree.level(value, 1) for value in (17, 20, 29, 30)] == ["[10, 20)", "[20, 30)", "[20, 30)", "[30, 40)"]


def test_negative_numbers_have_intervals_too() -> None:
    assert Hierarchy.by_width([-1, 0], [5]).rows == (("-1", "[-5, 0)", "*"), ("0", "[0, 5)", "*"))


def test_decimal_fractions_fall_into_the_interval_that_their_text_shows() -> None:
    # In binary, 0.3 // 0.1 is 2.
    assert Hierarchy.by_width([0.3, 0.7], [0.1]).rows[0] == ("0.3", "[0.3, 0.4)", "*")


def test_very_large_and_very_small_numbers_are_exact() -> None:
    tree = Hierarchy.by_width([1e100, 5e-324], [1])

    assert tree.level(5e-324, 1) == "[0, 1)"
    assert tree.level(1e100, 1) == f"[1{'0' * 100}, 1{'0' * 99}1)"


def test_a_declared_range_has_all_its_integers_whichever_occur() -> None:
    tree = Hierarchy.by_width([3], [5], low=0, high=9)

    assert tree.leaves == tuple("0123456789")


def test_a_range_can_be_declared_without_values() -> None:
    assert Hierarchy.by_width([], [5, 10], low=0, high=19).labels[2] == ("[0, 10)", "[10, 20)")


def test_of_fractions_only_those_that_occur_are_leaves() -> None:
    assert Hierarchy.by_width([0.5, 2.25], [1], low=0, high=10).leaves == ("0.5", "2.25")


def test_values_outside_a_declared_range_are_counted_not_shown() -> None:
    with pytest.raises(SchemaError, match=r"between low and high, got 2 that do not") as caught:
        Hierarchy.by_width([3, 77, 78], [5], low=0, high=10)

    assert "77" not in str(caught.value)


@pytest.mark.parametrize("widths", [[], [0], [-5], [5, 12], [10, 5], [5, 5], "5", 5])
def test_widths_that_do_not_nest_are_refused(widths: object) -> None:
    with pytest.raises(ParameterError, match="width"):
        Hierarchy.by_width([1, 2], widths)  # type: ignore[arg-type]


@pytest.mark.parametrize("limits", [{"low": 0}, {"high": 9}, {"low": 9, "high": 0}, {"low": 0, "high": 1e9}])
def test_a_range_must_have_two_ends_in_order_and_not_too_many_integers(limits: dict[str, float]) -> None:
    with pytest.raises(ParameterError):
        Hierarchy.by_width([], [5], **limits)


def test_texts_have_no_width() -> None:
    with pytest.raises(SchemaError, match="values must be numbers, got texts"):
        Hierarchy.by_width(["a"], [5])


def test_missing_values_hang_right_under_the_root() -> None:
    assert Hierarchy.by_width([1, None], [5, 10]).path(None) == ("(missing)", "(missing)", "(missing)", "*")


# --- by quantiles ----------------------------------------------------------------------------------------


def test_quantiles_put_equally_many_records_into_each_interval() -> None:
    tree = Hierarchy.by_quantiles(range(100), [4, 2])

    assert tree.count_leaves(1).tolist() == [25, 25, 25, 25]
    assert tree.labels[2] == ("[0, 50)", "[50, 99]")


def test_a_frequent_value_fills_an_interval_alone() -> None:
    assert Hierarchy.by_quantiles([1] * 50 + [2] * 25 + [3] * 25, [2]).labels[1] == ("[1, 2)", "[2, 3]")


def test_counts_weigh_values_that_are_given_once() -> None:
    weighted = Hierarchy.by_quantiles([1, 2, 3], [2], counts=[50, 25, 25])

    assert weighted == Hierarchy.by_quantiles([1] * 50 + [2] * 25 + [3] * 25, [2])


@pytest.mark.parametrize("n_bins", [[], [4, 3], [2, 4], [0], "4"])
def test_numbers_of_intervals_that_do_not_nest_are_refused(n_bins: object) -> None:
    with pytest.raises(ParameterError):
        Hierarchy.by_quantiles([1, 2], n_bins)  # type: ignore[arg-type]


@pytest.mark.parametrize("counts", [[1], [0, 0], [1, -1]])
def test_counts_that_do_not_fit_the_values_are_refused(counts: list[int]) -> None:
    with pytest.raises(ParameterError, match="counts"):
        Hierarchy.by_quantiles([1, 2], [2], counts=counts)


# --- by prefix -------------------------------------------------------------------------------------------


def test_beginnings_lose_one_character_a_level() -> None:
    assert Hierarchy.by_prefix(["130", "145"]).path("130") == ("130", "13*", "1**", "*")


def test_a_shorter_text_stands_for_itself_until_its_beginning_is_reached() -> None:
    tree = Hierarchy.by_prefix(["12", "123", "1245"])

    assert tree.path("12") == ("12", "12", "12**", "1***", "*")
    assert tree.path("123") == ("123", "123*", "12**", "1***", "*")


def test_integers_count_by_their_digits() -> None:
    assert Hierarchy.by_prefix([13053, 13068], [3]).labels[1] == ("130**",)


def test_a_mask_that_occurs_in_a_value_is_refused() -> None:
    with pytest.raises(ParameterError, match="mask must be a character that no value contains"):
        Hierarchy.by_prefix(["1*", "12"])


@pytest.mark.parametrize("lengths", [[2, 3], [3, 3], [9], [0], "3"])
def test_lengths_must_descend_within_the_longest_text(lengths: object) -> None:
    with pytest.raises(ParameterError, match="lengths"):
        Hierarchy.by_prefix(["13053"], lengths)  # type: ignore[arg-type]


# --- by date ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("day", "quarter"), [("2020-01-01", "Q1"), ("2020-06-30", "Q2"), ("2020-12-31", "Q4")])
def test_a_day_has_month_quarter_and_year(day: str, quarter: str) -> None:
    assert Hierarchy.by_date([day]).path(day) == (day, day[:7], f"2020-{quarter}", "2020", "*")


def test_dates_match_as_objects_and_as_texts() -> None:
    assert Hierarchy.by_date([dt.date(2020, 1, 31)]) == Hierarchy.by_date(["2020-01-31"])


def test_instants_are_first_grouped_by_day_and_midnight_is_not_the_whole_day() -> None:
    midnight, morning = dt.datetime(2020, 1, 31), dt.datetime(2020, 1, 31, 8, 30, 0, 500_000)  # noqa: DTZ001 - a column's

    tree = Hierarchy.by_date([midnight, morning])

    assert tree.leaves == ("2020-01-31", "2020-01-31T08:30:00.5")
    assert tree.labels[1] == ("2020-01-31T*",)


def test_a_declared_range_has_all_its_days() -> None:
    assert len(Hierarchy.by_date([], low="2020-02-01", high=dt.date(2020, 3, 1))) == 30


@pytest.mark.parametrize("value", ["2020-02-30", "31.1.2020", 20200131])
def test_what_is_no_date_is_refused_without_being_shown(value: object) -> None:
    with pytest.raises(SchemaError, match="must be dates") as caught:
        Hierarchy.by_date([value])

    assert str(value) not in str(caught.value)


# --- automatic -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [[0.0, 5e-324], [-5e-324, 0.0, 1.5e-323], [1e-310, 7e-310], [0.0, 3e-299]])
def test_numbers_next_to_the_smallest_float_have_a_hierarchy(values: list[float]) -> None:
    tree = automatic_hierarchy(values)

    assert all(tree.path(value)[-1] == "*" for value in values)


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ([17, 25, 90], ("17", "[15, 20)", "[10, 20)", "[0, 20)", "[0, 40)", "*")),
        ([0.1, 0.2], ("0.1", "[0.1, 0.105)", "[0.1, 0.11)", "[0.1, 0.12)", "[0.08, 0.12)", "[0.08, 0.16)", "*")),
        (["13053", "14850"], ("13053", "1305*", "130**", "13***", "1****", "*")),
        (["2020-01-31", "2021-01-31"], ("2020-01-31", "2020-01", "2020-Q1", "2020", "*")),
        (["red", "blue"], ("red", "*")),
        (["7a", "8*"], ("7a", "7#", "*")),
        ([True, False], ("True", "*")),
        ([5, 5], ("5", "[4, 6)", "*")),
        ([-5, 5], ("-5", "[-6, -4)", "[-8, -4)", "[-8, 0)", "*")),
    ],
)
def test_the_kind_of_values_decides(values: list[object], path: tuple[str, ...]) -> None:
    assert automatic_hierarchy(values).path(values[0]) == path  # type: ignore[arg-type]


def test_a_value_that_looks_like_the_root_gets_another_root() -> None:
    assert automatic_hierarchy(["*", "a"]).rows == (("*", "**"), ("a", "**"))


@pytest.mark.parametrize(
    "column",
    [
        pa.array([23, None, 38]),
        pa.chunked_array([[23], [None, 38]]),
        pl.Series([23, None, 38]),
        pd.Series([23, None, 38], dtype="Int64"),
        np.array([23, None, 38], dtype=object),
        iter([23, None, np.int64(38)]),
    ],
)
def test_columns_of_any_frame_are_taken(column: object) -> None:
    assert automatic_hierarchy(column).leaves == ("23", "38", "(missing)")  # type: ignore[arg-type]


def test_whole_numbers_in_a_column_of_fractions_are_written_as_fractions() -> None:
    assert automatic_hierarchy(np.array([1.0, 2.5, np.nan])).leaves == ("1.0", "2.5", "(missing)")


def test_values_of_several_types_are_refused() -> None:
    with pytest.raises(SchemaError, match="all be numbers, all texts, all dates or all booleans"):
        automatic_hierarchy([1, "a"])


def test_no_values_are_refused() -> None:
    with pytest.raises(ParameterError, match="at least one value"):
        automatic_hierarchy([])


def test_texts_have_no_range() -> None:
    with pytest.raises(ParameterError, match="low and high must be left out"):
        automatic_hierarchy(["red"], low=0, high=1)


def test_a_hierarchy_that_misses_values_names_them() -> None:
    with pytest.raises(SchemaError, match="got 2 that are not"):
        automatic_hierarchy([20, 30]).positions([20, 40, 50])


def test_a_label_with_two_meanings_is_found() -> None:
    with pytest.raises(SchemaError, match="'x' names two"):
        check_unambiguous(Hierarchy((("a", "x", "*"), ("b", "x", "*"), ("x", "z", "*"))))


@pytest.mark.parametrize("make", [automatic_hierarchy, lambda values: Hierarchy.by_width(values, [1])])
def test_infinite_numbers_are_refused(make: Callable[[list[float]], Hierarchy]) -> None:
    with pytest.raises(SchemaError, match="finite numbers, got 1 that are not"):
        make([1.5, float("inf")])
