"""Numbers are cut into bins exactly."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.base.arrays import FloatArray
from ldiversity.errors import ParameterError, SchemaError
from ldiversity.tables import Bins, Coder, Sensitive, fit_coder, open_source


def fit(cells: Any, **options: Any) -> tuple[Coder, list[int]]:
    coder, counts = fit_coder(open_source(pa.table({"s": cells})), Sensitive("s", **options), 2)
    return coder, counts.tolist()


def test_bins_by_width_lie_at_multiples_of_it() -> None:
    assert Bins(width=10).fit(pa.array([23, 30])) == (20.0, 30.0, 40.0)


def test_bins_by_width_reach_below_zero() -> None:
    assert Bins(width=10).fit(pa.array([-1, 0])) == (-10.0, 0.0, 10.0)


def test_bins_by_width_start_and_end_at_public_bounds() -> None:
    assert Bins(width=10, low=5, high=30).fit(pa.array([7])) == (5.0, 15.0, 25.0, 35.0)


def test_public_bounds_that_fit_the_width_are_kept() -> None:
    assert Bins(width=0.1, low=0, high=0.3).fit(pa.array([0.2])) == (0.0, 0.1, 0.2, 0.3)


def test_edges_of_decimal_widths_are_short_decimals() -> None:
    assert Bins(width=0.1).fit(pa.array([0.0, 0.65])) == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)


def test_a_number_on_an_edge_belongs_to_the_bin_above() -> None:
    assert Bins.assign(pa.array([0.3]), (0.0, 0.1, 0.2, 0.3, 0.4)).tolist() == [3]


def test_the_last_bin_holds_its_upper_edge() -> None:
    assert Bins.assign(pa.array([0, 5, 10]), (0, 5, 10)).tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([5, None, 0]),
        pa.array([5.0, None, 0.0]),
        pa.array([5.0, float("nan"), 0.0]),
        pa.chunked_array([[5], [None, 0]], pa.int16()),
        pa.array([5, None, 0]).dictionary_encode(),
        pa.array([Decimal("5.0"), None, Decimal("0.0")]),
        np.array([5.0, np.nan, 0.0]),
    ],
    ids=["integers", "floats", "NaN", "chunks", "dictionary", "decimals", "numpy"],
)
def test_missing_numbers_have_no_bin(cells: Any) -> None:
    assert Bins.assign(cells, (0, 5, 10)).tolist() == [1, -1, 0]


def test_wide_integers_are_compared_exactly() -> None:
    # As floats, 2**53 + 1 would be 2**53 and fall on the edge.
    with pytest.raises(SchemaError, match="got 1 row outside"):
        Bins.assign(pa.array([2**53 - 1, 2**53, 2**53 + 1]), (0, 2**53))


def test_numbers_outside_the_edges_are_counted() -> None:
    with pytest.raises(SchemaError, match="must lie from 0 to 10, got 2 rows outside"):
        Bins.assign(pa.array([-1, 5, 11, None]), (0, 10))


def test_labels_of_integers_are_short() -> None:
    assert Bins.labels((20.0, 30.0, 45.0)) == ("[20, 30)", "[30, 45]")


def test_labels_of_decimals_are_what_was_written() -> None:
    assert Bins.labels((0.1, 0.25, 1.0)) == ("[0.1, 0.25)", "[0.25, 1]")


def test_middles_lie_between_the_edges() -> None:
    assert Bins.middles((0, 10, 15)) == (5.0, 12.5)


def test_quantiles_hold_equally_many_rows() -> None:
    _, counts = fit(pa.array(np.random.default_rng(0).permutation(1000)), quantiles=4)

    assert counts == [250, 250, 250, 250]


def test_quantiles_of_tied_numbers_are_merged() -> None:
    coder, counts = fit(pa.array([1, 1, 1, 1, 1, 1, 2, 3]), quantiles=4)

    assert (coder.domain.edges, counts) == ((1.0, 2.0, 3.0), [6, 2])


def test_quantiles_of_one_number_are_one_bin() -> None:
    coder, counts = fit(pa.array([7, 7]), quantiles=4)

    assert (coder.domain.values, counts) == (("[7, 8]",), [2])


def test_quantiles_of_one_fraction_do_not_show_it() -> None:
    assert Bins(quantiles=4).fit(pa.array([7.25, 7.25])) == (7.0, 8.0)


FRACTIONS = {
    "normal": np.random.default_rng(1).normal(size=1000),
    "skewed": np.random.default_rng(2).lognormal(10, 2, 1000),
    "one decimal": np.random.default_rng(3).normal(37, 1, 1000).round(1),
    "two decimals": np.random.default_rng(4).lognormal(8, 1, 100_000).round(2),
    "few": np.array([0.1, 0.2, 0.3]),
    "tied": np.array([0.5] * 100 + [1.25, 1.5] + [2.75] * 100),
    "narrow": 1e6 + np.random.default_rng(5).random(1000) * 1e-3,
    "tiny": np.random.default_rng(6).random(1000) * 1e-200,
    "huge": np.append(np.random.default_rng(7).random(1000) * 1e300, 0.5),
}


@pytest.mark.parametrize("name", ["normal", "skewed", "narrow", "tiny"])
def test_no_edge_by_quantiles_is_a_cell_of_many_digits(name: str) -> None:
    assert not np.isin(Bins(quantiles=5).fit(FRACTIONS[name]), FRACTIONS[name]).any()


@pytest.mark.parametrize("quantiles", [2, 5, 100])
@pytest.mark.parametrize("cells", FRACTIONS.values(), ids=FRACTIONS.keys())
def test_every_bin_by_quantiles_holds_a_row(cells: FloatArray, quantiles: int) -> None:
    edges = Bins(quantiles=quantiles).fit(cells)

    assert np.bincount(Bins.assign(cells, edges), minlength=len(edges) - 1).min() > 0


def test_edges_by_quantiles_are_round_numbers() -> None:
    incomes = np.random.default_rng(2).lognormal(10, 1, 1000)

    assert Bins(quantiles=4).fit(incomes) == (0.0, 10000.0, 22000.0, 40000.0, 500000.0)


def test_wide_integers_are_rounded_by_quantiles_too() -> None:
    assert Bins(quantiles=2).fit(pa.array([12_345, 34_567, 52_341, 91_237])) == (10_000.0, 50_000.0, 95_000.0)


def test_integers_close_together_are_their_own_edges() -> None:
    assert Bins(quantiles=2).fit(pa.array([1, 2, 3, 4])) == (1.0, 3.0, 4.0)


def test_whole_floats_are_rounded_like_integers() -> None:
    cells = [12_345, 34_567, 52_341, 91_237]

    assert Bins(quantiles=2).fit(pa.array(cells, pa.float64())) == Bins(quantiles=2).fit(pa.array(cells))


def test_the_greatest_number_is_rounded_by_its_own_distance() -> None:
    cells = pa.array([1.11, 2.22, 3.33, 4.44, 5.55, 48_123.45])

    assert Bins(quantiles=3).fit(cells)[-1] == 50_000.0


def test_rounding_moves_few_rows_between_quantiles() -> None:
    _, counts = fit(pa.array(np.random.default_rng(0).random(10_000)), quantiles=4)

    # Each inner edge moves by at most an eighth of a bin of equal numbers, about 313 rows.
    assert max(abs(count - 2500) for count in counts) <= 625


@pytest.mark.parametrize(
    "cells",
    [[2**53 + 1], [2**62, 2**62 + 1], [-(2**63), 2**63 - 1], [2**53 - 1, 2**53, 2**53 + 1]],
    ids=["one", "near", "all", "limit"],
)
def test_quantiles_hold_integers_that_no_float_can(cells: list[int]) -> None:
    _, counts = fit(pa.array(cells, pa.int64()), quantiles=2)

    assert sum(counts) == len(cells)


def test_quantiles_hold_the_greatest_number() -> None:
    _, counts = fit(pa.array([-1e300, 9.9e299, 1e300]), quantiles=2)

    assert sum(counts) == 3


@pytest.mark.parametrize("width", [0.1, 0.25, 7, 1000])
def test_edges_by_width_do_not_show_the_least_and_the_greatest_cell(width: float) -> None:
    cells = np.random.default_rng(8).normal(0, 100, 1000)

    edges = np.array(Bins(width=width).fit(cells))

    assert edges / width == pytest.approx(np.round(edges / width), abs=1e-6)
    assert edges[0] < cells.min() < edges[1]
    assert edges[-2] < cells.max() < edges[-1]


@pytest.mark.parametrize("options", [{"width": 10}, {"quantiles": 2}, {"edges": [0, 5]}])
def test_infinite_numbers_are_not_binned(options: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match="column 's' must hold finite numbers to be binned"):
        fit(pa.array([1.0, float("inf")]), **options)


def test_infinite_numbers_have_no_range() -> None:
    with pytest.raises(SchemaError, match="must hold finite numbers"):
        Bins(quantiles=2).fit(pa.array([1.0, float("-inf")]))


@pytest.mark.parametrize("number", [1e25, -1e300, 2.0**63])
def test_a_width_below_the_distance_of_floats_is_refused(number: float) -> None:
    with pytest.raises(SchemaError, match="width must be wide enough to separate numbers of this size, got 1"):
        Bins(width=1).fit(pa.array([number]))


def test_quantiles_count_repeated_numbers() -> None:
    weighted = Bins(quantiles=2).fit(pa.array([1, 2, 3]), np.array([1, 1, 8]))

    assert weighted == Bins(quantiles=2).fit(pa.array([1, 2, *[3] * 8]))


def test_a_binned_column_has_labels_middles_and_edges() -> None:
    coder, counts = fit(pa.array([23, 41, 27]), width=10)

    assert coder.domain.values == ("[20, 30)", "[30, 40)", "[40, 50]")
    assert coder.domain.positions == (25.0, 35.0, 45.0)
    assert coder.domain.edges == (20.0, 30.0, 40.0, 50.0)
    assert coder.domain.ordered
    assert counts == [2, 0, 1]


def test_a_grid_grows_in_both_directions() -> None:
    coder, counts = fit(pa.array([50, 51, 99, 98, -3, 0]), width=50)

    assert (coder.domain.edges, counts) == ((-50.0, 0.0, 50.0, 100.0), [1, 1, 4])


def test_declared_edges_may_be_wider_than_the_table() -> None:
    coder, counts = fit(pa.array([3]), edges=[0, 5, 10])

    assert (coder.domain.values, counts) == (("[0, 5)", "[5, 10]"), [1, 0])


def test_rows_outside_declared_edges_are_counted_over_the_table() -> None:
    with pytest.raises(SchemaError, match="column 's' must lie within its declared edges, got 3 rows outside"):
        fit(pa.array([-1, 3, 11, 4, 12]), edges=[0, 5, 10])


def test_codes_of_a_binned_column_are_its_bins() -> None:
    coder, _ = fit(pa.array([23, 41, 27]), width=10)

    assert coder.codes(pa.array([41, 23, 30])).tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    "options", [{"width": 10}, {"edges": [20, 30, 50]}, {"quantiles": 2}], ids=["width", "edges", "quantiles"]
)
def test_missing_numbers_may_be_a_category_beside_the_bins(options: dict[str, Any]) -> None:
    cells = pa.array([23, None, 41])

    coder, counts = fit(cells, missing="category", **options)

    assert coder.domain.values[-1] is None
    assert coder.codes(cells).tolist() == [0, len(coder.domain) - 1, len(coder.domain) - 2]
    assert (counts[-1], sum(counts)) == (1, 3)


def test_missing_numbers_may_be_dropped_beside_the_bins() -> None:
    coder, counts = fit(pa.array([23, None]), missing="drop", width=10)

    assert (coder.codes(pa.array([23, None])).tolist(), counts) == ([0, -1], [1])


def test_missing_numbers_are_refused_beside_the_bins() -> None:
    with pytest.raises(SchemaError, match="got 1 row without"):
        fit(pa.array([23, None]), width=10)


def test_only_missing_numbers_are_one_category() -> None:
    coder, counts = fit(pa.array([None, None], pa.float64()), missing="category", width=10)

    assert (coder.domain.values, counts, coder.codes(pa.array([None], pa.float64())).tolist()) == ((None,), [2], [0])


def test_texts_cannot_be_binned() -> None:
    with pytest.raises(SchemaError, match="column 's' must hold numbers to be binned, got text"):
        fit(pa.array(["a"]), width=10)


def test_texts_cannot_be_assigned() -> None:
    with pytest.raises(SchemaError, match="column must hold numbers, got text"):
        Bins.assign(pa.array(["a"]), (0, 1))


def test_no_number_has_no_range() -> None:
    with pytest.raises(SchemaError, match="must hold at least one number, got none"):
        Bins(width=1).fit(pa.array([None], pa.int64()))


def test_too_many_bins_are_refused() -> None:
    with pytest.raises(SchemaError, match="width must give at most 100000 bins"):
        Bins(width=1e-6).fit(pa.array([0.0, 1.0]))


def test_a_refusal_of_too_many_bins_does_not_tell_the_range() -> None:
    with pytest.raises(SchemaError, match="got more than 100000 bins with 1") as caught:
        Bins(width=1).fit(pa.array([0, 777_123_999]))

    assert "777" not in str(caught.value)


BAD_BINS = {
    "nothing": ({}, "exactly one of width, edges and quantiles must be given, got 0"),
    "zero width": ({"width": 0}, "width must be a number above 0, got 0"),
    "width as text": ({"width": "ten"}, "width must be a finite number of at most 1e\\+300, got 'ten'"),
    "one edge": ({"edges": (1,)}, "edges must be at least two numbers"),
    "falling edges": ({"edges": (1, 1)}, "edges must be strictly increasing"),
    "infinite edge": ({"edges": (0, float("inf"))}, "edges must be a finite number from .* to 1e\\+300, got inf"),
    "many edges": ({"edges": tuple(range(100_002))}, "edges must give at most 100000 bins, got 100001"),
    "one quantile": ({"quantiles": 1}, "quantiles must be an integer from 2 to 100000, got 1"),
    "bounds of edges": ({"edges": (1, 2), "low": 0, "high": 2}, "low and high must be given with width only"),
    "one bound": ({"width": 1, "low": 0}, "low and high must be given together"),
    "bounds reversed": ({"width": 1, "low": 2, "high": 1}, "low must be below high"),
    "bounds too far": ({"width": 1, "low": 0, "high": 1e6}, "width must give at most 100000 bins"),
}


@pytest.mark.parametrize(("options", "sentence"), BAD_BINS.values(), ids=BAD_BINS.keys())
def test_bins_that_make_no_sense_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        Bins(**options)
