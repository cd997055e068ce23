"""Generalized releases: classes spread over their regions, by hand."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.errors import ParameterError, ReleaseFormatError, SchemaError, UnsupportedError
from ldiversity.estimation import Estimate, bins, estimate, groups
from ldiversity.hierarchies import Hierarchy
from ldiversity.release import Form, Marginal

AGES = [{"low": 20, "high": 29}, {"low": 25, "high": 34}]
CODES = {"why": [0, 1, 0, 2]}
TREE = Hierarchy.from_rows([("n1", "north", "*"), ("n2", "north", "*"), ("s1", "south", "*"), ("s2", "south", "*")])
ONE = {"why": [0, 1]}


@pytest.fixture
def ages(generalize: Any) -> Any:
    def make(regions: list[Any] = AGES, kind: str = "int64", **form: Any) -> Any:
        given = {"low": 20, "high": 39, **form}
        codes = CODES if len(regions) > 1 else ONE
        return generalize(
            {"age": pa.array(regions)},
            np.repeat(np.arange(len(regions)), 2),
            codes,
            kinds={"age": kind},
            forms={"age": Form("interval", **given)},
        )

    return make


@pytest.fixture
def zips(generalize: Any) -> Any:
    def make(regions: Any, kind: str = "string", **form: Any) -> Any:
        published = "node" if form.get("hierarchy") else "values"
        given = {"kind": published, "labels": ("n1", "n2", "s1", "s2"), **form}
        class_of = np.repeat(np.arange(len(regions)), 2)
        codes = CODES if len(regions) > 1 else ONE
        return generalize({"zip": regions}, class_of, codes, kinds={"zip": kind}, forms={"zip": Form(**given)})

    return make


def labels(result: Estimate) -> list[Any]:
    return result.labels.column(0).to_pylist()  # type: ignore[no-any-return]


# --- numbers ---------------------------------------------------------------------------------------


def test_integers_are_spread_evenly(ages: Any) -> None:
    result = estimate(ages(), bins("age", width=10))

    # Of 25..34 five are below 30.
    np.testing.assert_allclose(result.count, [[1.5, 1, 0.5], [0.5, 0, 0.5]])
    np.testing.assert_allclose(result.records, [3, 1])


def test_standard_errors_are_left_empty_unless_classes_leave_no_choice(ages: Any) -> None:
    result = estimate(ages(), bins("age", width=10))

    np.testing.assert_array_equal(result.std_error, [[np.nan, 0, np.nan]] * 2)


def test_limits_hold_wherever_the_records_lie(ages: Any) -> None:
    result = estimate(ages(), bins("age", width=10))

    np.testing.assert_array_equal(result.low, [[1, 1, 0], [0, 0, 0]])
    np.testing.assert_array_equal(result.high, [[2, 1, 1], [1, 0, 1]])


def test_every_integer_can_be_a_cell(ages: Any) -> None:
    result = estimate(ages(), "age")

    assert labels(result) == list(range(20, 35))
    np.testing.assert_allclose(result.records[[0, 5, 14]], [0.2, 0.4, 0.2])


def test_cells_add_up_to_the_whole(ages: Any) -> None:
    np.testing.assert_allclose(estimate(ages(), "age").count.sum(axis=0), [2, 1, 1])


def test_one_number_is_where_it_is(ages: Any) -> None:
    result = estimate(ages([{"low": 20, "high": 20}, {"low": 33, "high": 33}]), bins("age", width=10))

    np.testing.assert_array_equal(result.count, [[1, 1, 0], [1, 0, 1]])
    np.testing.assert_array_equal(result.std_error, np.zeros((2, 3)))
    np.testing.assert_array_equal(result.low, result.high)


@pytest.mark.parametrize(
    ("where", "records"),
    [
        ("age < 25", 1.0),
        ("age between 25 and 29", 2.0),
        ("age in 20,21,34", 0.6),
        ("age not in 20", 3.8),
        ("age starts with 3", 1.0),
        ("age is not missing", 4.0),
        (["age >= 25", "age <= 26"], 0.8),
    ],
)
def test_filters_take_their_share_of_a_region(ages: Any, where: Any, records: float) -> None:
    assert estimate(ages(), where=where).records == pytest.approx([records])


def test_cells_and_filters_of_one_column_go_together(ages: Any) -> None:
    result = estimate(ages(), bins("age", width=10), where="age >= 25")

    np.testing.assert_allclose(result.records, [2, 1])


def test_a_filter_beyond_every_region_is_named(ages: Any) -> None:
    with pytest.raises(ParameterError, match="No record matches 'age > 36' alone"):
        estimate(ages(), where="age > 36")


def test_no_number_is_missing_where_none_may_be(ages: Any) -> None:
    with pytest.raises(ParameterError, match="age is missing"):
        estimate(ages(), where="age is missing")


def test_fractions_are_spread_by_length(ages: Any) -> None:
    result = estimate(ages([{"low": 20.0, "high": 32.5}], "double"), bins("age", edges=[20, 25, 30, 40]))

    np.testing.assert_allclose(result.records, [0.8, 0.8, 0.4])


def test_fractions_need_bins(ages: Any) -> None:
    with pytest.raises(UnsupportedError, match=r"(?s)too many values.*bins\('age', width=10\)"):
        estimate(ages([{"low": 20.0, "high": 32.5}], "double"), "age")


def test_dates_in_bins_name_a_way_out(ages: Any) -> None:
    days = {"low": date(2020, 1, 1), "high": date(2020, 1, 10)}
    release = ages([days], "date32[day]", low=18262, high=18271)

    with pytest.raises(SchemaError, match=r"(?s)must hold numbers, got date.*groups\('age', 'month'\)"):
        estimate(release, bins("age", width=30))


@pytest.mark.parametrize("where", ["age = 25", "age != 25"])
def test_single_fractions_have_no_share(ages: Any, where: str) -> None:
    with pytest.raises(UnsupportedError, match="no share at single numbers"):
        estimate(ages([{"low": 20.0, "high": 32.5}], "double"), where=where)


def test_fractions_without_spread_can_be_selected(ages: Any) -> None:
    release = ages([{"low": 20.5, "high": 20.5}, {"low": 30.5, "high": 30.5}], "double")

    assert estimate(release, where="age = 30.5").records.tolist() == [2]


@pytest.mark.parametrize(("where", "records"), [("age < 25", 1.0), ("age between 22.5 and 27.5", 1.0)])
def test_filters_take_their_share_of_a_length(ages: Any, where: str, records: float) -> None:
    assert estimate(ages([{"low": 20.0, "high": 30.0}], "double"), where=where).records == pytest.approx([records])


def test_an_interval_that_ends_at_an_edge_is_not_certain_to_be_below_it(ages: Any) -> None:
    result = estimate(ages([{"low": 20.0, "high": 30.0}, {"low": 30.0, "high": 30.0}], "double"), bins("age", width=10))

    np.testing.assert_array_equal(result.low, [[0, 0, 0], [1, 0, 1]])
    np.testing.assert_array_equal(result.high, [[1, 1, 0], [2, 1, 1]])


def test_an_interval_that_begins_at_an_edge_is_certain_to_be_above_it(ages: Any) -> None:
    result = estimate(ages([{"low": 20.0, "high": 29.5}, {"low": 9.0, "high": 9.0}], "double"), bins("age", width=10))

    np.testing.assert_array_equal(result.low, result.high)


def test_long_ranges_of_integers_are_spread_by_length(ages: Any) -> None:
    release = ages([{"low": 0, "high": 10**10}], low=0, high=10**10)

    assert estimate(release, where="age < 2500000000").records == pytest.approx([0.5])


def test_quantiles_are_of_expected_records(ages: Any) -> None:
    result = estimate(ages([{"low": 20, "high": 23}, {"low": 20, "high": 39}]), bins("age", quantiles=2))

    # 20..23 hold 2 + 0.4 of 4 records.
    assert result.records[0] == pytest.approx(2.0, abs=0.61)


def test_quantiles_of_lengths_are_of_expected_records(ages: Any) -> None:
    release = ages([{"low": 0.0, "high": 1.0}, {"low": 1.0, "high": 3.0}], "double", low=0, high=3)

    # Edges are rounded to a quarter of the distance between them.
    np.testing.assert_allclose(estimate(release, bins("age", quantiles=2)).records, [2, 2], atol=0.7)


def test_days_are_counted(ages: Any) -> None:
    days = {"low": date(2020, 1, 1), "high": date(2020, 1, 10)}
    release = ages([days], "date32[day]", low=18262, high=18271)

    assert estimate(release, where="age < 2020-01-06").records == pytest.approx([1.0])
    assert labels(estimate(release, "age"))[0] == date(2020, 1, 1)


def test_instants_are_spread_by_length(ages: Any) -> None:
    day = {"low": datetime(2020, 1, 1), "high": datetime(2020, 1, 2)}  # noqa: DTZ001 - of no time zone
    start = 1_577_836_800_000_000
    release = ages([day], "timestamp[us]", low=start, high=start + 86_400_000_000)

    assert estimate(release, where="age < 2020-01-01 06:00:00").records == pytest.approx([0.5])


@pytest.mark.parametrize(("high", "error"), [(10**10, "too many values"), (32.5, "texts or integers")])
def test_long_ranges_have_no_beginnings(ages: Any, high: float, error: str) -> None:
    release = ages([{"low": type(high)(0), "high": high}], "int64" if high > 100 else "double", low=0, high=high)

    with pytest.raises(ParameterError, match=error):
        estimate(release, where="age starts with 1")


def test_a_column_without_numbers_is_missing(ages: Any) -> None:
    nothing = pa.array([{"low": None, "high": None}], pa.struct({"low": pa.int64(), "high": pa.int64()}))

    assert labels(estimate(ages(nothing, low=None, high=None), "age")) == [None]


def test_a_class_that_says_nothing_is_spread_over_the_public_range(ages: Any) -> None:
    release = ages([*AGES[:1], {"low": None, "high": None}])

    result = estimate(release, bins("age", width=10))

    np.testing.assert_allclose(result.records, [3, 1])
    assert any("say nothing about 'age'" in caveat for caveat in result.caveats)


def test_a_class_that_says_nothing_is_nowhere_for_certain(ages: Any) -> None:
    result = estimate(ages([*AGES[:1], {"low": None, "high": None}]), where="age >= 20")

    np.testing.assert_array_equal(result.low, [[1, 1, 0]])


# --- published frequencies ---------------------------------------------------------------------------


@pytest.fixture
def weighted(ages: Any) -> Any:
    return ages(marginal=Marginal(np.array([20, 25, 30]), np.array([1, 2, 2])))


def test_frequencies_are_followed_where_they_are_published(weighted: Any) -> None:
    result = estimate(weighted, "age")

    # Four records as 1 to 2 to 2.
    np.testing.assert_allclose(result.records, [0.8, 1.6, 1.6], rtol=1e-5)


def test_uniform_spread_can_be_asked_for(weighted: Any) -> None:
    assert estimate(weighted, "age", spread="uniform").n_cells == 15


def test_frequencies_that_are_not_published_cannot_be_followed(ages: Any) -> None:
    with pytest.raises(UnsupportedError, match="does not publish"):
        estimate(ages(), "age", spread="marginal")


NOTHING = {"low": None, "high": None}


def test_missing_numbers_are_all_in_classes_that_say_nothing(ages: Any) -> None:
    release = ages([*AGES[:1], NOTHING], marginal=Marginal(np.array([20, 30]), np.array([2, 1]), missing=1))

    result = estimate(release, "age")

    assert labels(result) == [20, 30, None]
    np.testing.assert_allclose(result.records, [2, 1, 1])


@pytest.mark.parametrize(("where", "records"), [("age is missing", 1), ("age is not missing", 3), ("age >= 0", 3)])
def test_filters_find_as_many_missing_numbers_as_are_published(ages: Any, where: str, records: int) -> None:
    release = ages([*AGES[:1], NOTHING], marginal=Marginal(np.array([20, 30]), np.array([2, 1]), missing=1))

    assert estimate(release, where=where).records == pytest.approx([records])


def test_classes_that_say_nothing_get_what_the_others_leave(ages: Any) -> None:
    release = ages([*AGES[:1], NOTHING], marginal=Marginal(np.array([20, 25, 30]), np.array([1, 1, 2])))

    np.testing.assert_allclose(estimate(release, "age").records, [1, 1, 2])


def test_limits_allow_what_is_not_expected(ages: Any) -> None:
    release = ages([*AGES[:1], NOTHING], marginal=Marginal(np.array([20, 25, 30]), np.array([1, 1, 2])))

    result = estimate(release, "age")

    np.testing.assert_array_equal(result.low, np.zeros((3, 3)))
    np.testing.assert_array_equal(result.high, [[2, 1, 1], [2, 1, 1], [1, 0, 1]])


def test_quantiles_count_classes_that_say_nothing(ages: Any) -> None:
    release = ages([*AGES[:1], NOTHING], marginal=Marginal(np.array([20, 25, 30, 35]), np.ones(4, dtype=np.int64)))

    np.testing.assert_allclose(estimate(release, bins("age", quantiles=2)).records, [2, 2])


@pytest.mark.parametrize("where", [["age is missing"], ["age is missing", "age >= 20"]])
def test_missing_numbers_are_not_known_without_frequencies(ages: Any, where: list[str]) -> None:
    with pytest.raises(UnsupportedError, match=r"(?s)'age' is generalized, and its classes do not say.*marginals=True"):
        estimate(ages([*AGES[:1], NOTHING]), where=where)


def test_a_uniform_spread_knows_of_no_missing_numbers(ages: Any) -> None:
    release = ages([*AGES[:1], NOTHING], marginal=Marginal(np.array([20]), np.array([3]), missing=1))

    with pytest.raises(UnsupportedError, match="Leave out spread='uniform'"):
        estimate(release, where="age is missing", spread="uniform")


def test_a_region_without_a_value_that_occurs_is_damage(ages: Any) -> None:
    with pytest.raises(ReleaseFormatError, match="must hold a value that occurs"):
        estimate(ages(marginal=Marginal(np.array([20]), np.array([4]))), "age")


def test_frequencies_of_categories_are_followed(zips: Any) -> None:
    release = zips(pa.array([["n1", "n2"]]), marginal=Marginal(np.array([0, 1, 2]), np.array([3, 1, 5])))

    np.testing.assert_allclose(estimate(release, "zip").records, [1.5, 0.5])


# --- categories --------------------------------------------------------------------------------------


def test_lists_are_spread_evenly_over_their_values(zips: Any) -> None:
    result = estimate(zips(pa.array([["n1", "n2"], ["n2"]])), "zip")

    assert labels(result) == ["n1", "n2"]
    np.testing.assert_allclose(result.count, [[0.5, 0.5, 0], [1.5, 0.5, 1]])


def test_nodes_are_spread_evenly_over_their_leaves(zips: Any) -> None:
    result = estimate(zips(pa.array(["north", "*"]), hierarchy=TREE), "zip")

    np.testing.assert_allclose(result.records, [1.5, 1.5, 0.5, 0.5])


def test_groups_of_leaves_can_make_a_node_certain(zips: Any) -> None:
    release = zips(pa.array(["north", "s1"]), hierarchy=TREE)

    result = estimate(release, groups("zip", TREE, level=1))

    assert labels(result) == ["north", "south"]
    np.testing.assert_array_equal(result.std_error, np.zeros((2, 3)))
    np.testing.assert_array_equal(result.low, result.high)


def test_filters_look_at_leaves(zips: Any) -> None:
    result = estimate(zips(pa.array(["north", "*"]), hierarchy=TREE), where="zip starts with n")

    np.testing.assert_allclose(result.records, [3])


def test_missing_categories_are_cells_of_their_own(zips: Any) -> None:
    release = zips(pa.array([["1", "(missing)"]]), kind="int64", labels=("1", "(missing)"))

    assert labels(estimate(release, "zip")) == [1, None]


@pytest.mark.parametrize(
    ("regions", "hierarchy"), [(pa.array(["east"]), TREE), (pa.array([["n1", "x"]]), None), (pa.array(["n1"]), None)]
)
def test_regions_outside_of_the_public_values_are_damage(zips: Any, regions: Any, hierarchy: Any) -> None:
    release = zips(regions, kind="string", hierarchy=hierarchy)

    with pytest.raises(ReleaseFormatError, match="column 'zip' must"):
        estimate(release, "zip")


def test_intervals_upside_down_are_damage(ages: Any) -> None:
    with pytest.raises(ReleaseFormatError, match="not above"):
        estimate(ages([{"low": 29, "high": 20}]), "age")


# --- several columns ---------------------------------------------------------------------------------


def test_columns_are_spread_independently(generalize: Any) -> None:
    release = generalize(
        {"age": pa.array([{"low": 28, "high": 31}]), "zip": pa.array([["n1", "n2"]])},
        [0, 0],
        ONE,
        kinds={"age": "int64", "zip": "string"},
        forms={"age": Form("interval", low=20, high=40), "zip": Form("values", labels=("n1", "n2"))},
    )

    result = estimate(release, ["zip", bins("age", width=10)])

    np.testing.assert_allclose(result.count, np.full((4, 2), 0.25))
    assert result.labels.column("zip").to_pylist() == ["n1", "n1", "n2", "n2"]


def test_exact_columns_divide_the_records_of_a_class(generalize: Any) -> None:
    release = generalize(
        {"age": pa.array([{"low": 28, "high": 31}])},
        [0, 0, 0],
        {"why": [0, 1, 1]},
        columns=pa.table({"sex": ["F", "M", "M"]}),
        kinds={"age": "int64"},
        forms={"age": Form("interval", low=20, high=40)},
    )

    result = estimate(release, [bins("age", width=10), "sex"])

    np.testing.assert_allclose(result.records, [0.5, 1, 0.5, 1])
    np.testing.assert_allclose(result.count[1], [1 / 3, 2 / 3])


def test_the_caveat_says_what_spreading_assumes(ages: Any) -> None:
    caveats = estimate(ages(), "age").caveats

    assert any("as good as the assumption" in caveat for caveat in caveats)
    assert any("hold for certain" in caveat for caveat in caveats)


def test_too_many_cells_are_refused(ages: Any) -> None:
    wide = {"low": 0, "high": 4_000_000}

    with pytest.raises(UnsupportedError, match="cells times values"):
        estimate(ages([wide, wide], low=0, high=4_000_000), "age")
