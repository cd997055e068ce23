"""Distances that need no file: discrete, ordered, cyclic, numeric."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from ldiversity.distances import CyclicDistance, DiscreteDistance, NumericDistance, OrderedDistance
from ldiversity.errors import LDiversityWarning, ParameterError, SchemaError
from ldiversity.schema import Domain


def test_discrete_distances_are_one_between_different_values() -> None:
    assert DiscreteDistance().matrix(Domain(("a", None))).tolist() == [[0, 1], [1, 0]]


def test_ordered_distances_are_differences_of_places() -> None:
    matrix = OrderedDistance().matrix(Domain(("low", "middle", "high"), ordered=True))

    assert matrix.tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]


def test_cyclic_distances_go_around_the_shorter_way() -> None:
    week = Domain(("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"), ordered=True)

    matrix = CyclicDistance().matrix(week)

    assert matrix[0].tolist() == [0, 1, 2, 3, 3, 2, 1]
    assert all((np.roll(matrix, (1, 1), (0, 1)) == matrix).ravel())  # every day is like every other


def test_a_circle_needs_an_order_and_says_so_under_its_own_name() -> None:
    with pytest.warns(LDiversityWarning, match=r"CyclicDistance.*alphabetical because none was declared"):
        CyclicDistance().matrix(Domain(("Mo", "Tu", "We")))


def test_a_published_circle_stays_a_circle() -> None:
    domain = Domain(("a", "b", "c", "d"))
    read = CyclicDistance.from_dict(CyclicDistance().to_dict(domain), domain)

    assert (read, read.matrix(domain)[0].tolist()) == (CyclicDistance(), [0, 1, 2, 1])
    assert read != OrderedDistance()


def test_a_missing_value_stands_in_the_order_where_the_domain_lists_it() -> None:
    matrix = OrderedDistance().matrix(Domain(("low", "high", None), ordered=True))

    assert matrix[2].tolist() == [2, 1, 0]


def test_a_domain_without_order_warns_and_says_how_to_declare_one() -> None:
    with pytest.warns(LDiversityWarning, match=r"alphabetical because none was declared; .* ordered=True"):
        OrderedDistance().matrix(Domain(("high", "low")))


def test_the_alphabetical_order_is_told_once_for_a_domain() -> None:
    distance, domain = OrderedDistance(), Domain(("a", "b", "c"))

    with pytest.warns(LDiversityWarning, match="alphabetical"):
        distance.matrix(domain)

    assert distance.matrix(domain).shape == (3, 3)  # a second warning would be an error


def test_a_published_order_warns_no_more() -> None:
    domain = Domain(("high", "low"))
    read = OrderedDistance.from_dict(OrderedDistance().to_dict(domain), domain)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        matrix = read.matrix(domain)

    assert matrix.tolist() == [[0, 1], [1, 0]]


def test_numeric_distances_are_differences_in_units() -> None:
    domain = Domain((10, 20, 45), ordered=True, positions=(10, 20, 45))

    assert NumericDistance(unit=10).matrix(domain)[0].tolist() == [0, 1, 3.5]


def test_tenths_that_have_no_exact_binary_form_count_whole() -> None:
    positions = tuple(i / 10 for i in range(50))
    domain = Domain(positions, ordered=True, positions=positions)

    matrix = NumericDistance(unit=0.1).matrix(domain)

    np.testing.assert_array_equal(matrix, np.abs(np.subtract.outer(np.arange(50), np.arange(50))))


def test_a_value_without_position_is_at_the_greatest_distance() -> None:
    domain = Domain((1, 2, 5, None), positions=(1, 2, 5, math.nan))

    assert NumericDistance().matrix(domain)[3].tolist() == [4, 4, 4, 0]


def test_values_without_position_are_apart_even_where_nothing_else_is() -> None:
    domain = Domain(("a", None), positions=(1, math.nan))

    assert NumericDistance().matrix(domain).tolist() == [[0, 1], [1, 0]]


def test_a_domain_without_positions_is_refused() -> None:
    with pytest.raises(SchemaError, match="must be numbers or bins of numbers"):
        NumericDistance().matrix(Domain(("a", "b")))


def test_an_infinite_position_is_refused_by_name() -> None:
    with pytest.raises(SchemaError, match="positions must be finite, got 1 that are not"):
        NumericDistance().matrix(Domain(("less", "100K and more"), positions=(1, math.inf)))


def test_distances_that_overflow_are_refused() -> None:
    with pytest.raises(SchemaError, match="overflow"):
        NumericDistance(1e-10).matrix(Domain((1, 2), positions=(-1e300, 1e300)))


@pytest.mark.parametrize("unit", [0, -1])
def test_a_unit_must_be_positive(unit: float) -> None:
    with pytest.raises(ParameterError, match=f"unit must be greater than 0, got {unit}"):
        NumericDistance(unit)


@pytest.mark.parametrize("unit", [math.nan, math.inf, "1", None, True])
def test_a_unit_must_be_a_finite_number(unit: object) -> None:
    with pytest.raises(ParameterError, match="unit must be a finite number"):
        NumericDistance(unit)  # type: ignore[arg-type]
