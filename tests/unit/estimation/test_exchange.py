"""The unbiased estimate from blindly formed classes, against every possible grouping of a tiny table."""

from __future__ import annotations

from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest

from ldiversity.estimation import estimate
from ldiversity.estimation._exchange import Exchange
from ldiversity.models import count_classes
from ldiversity.schema import Domain

# Classes {a, b}, {a, c}, {b, c}, {a, b, c}: three records of each value.
CLASS_OF = np.array([0, 0, 1, 1, 2, 2, 3, 3, 3], dtype=np.int32)
VALUES = np.array([0, 1, 0, 2, 1, 2, 0, 1, 2], dtype=np.int32)
# The cell of the three records with value a, with b and with c.
CELLS = [[0, 0, 1], [0, 1, 1], [1, 1, 1]]
TRUTH = np.array([[2, 1, 0], [1, 2, 3]])
# Classes {a, a, b}, {b, b, c}, {c, c, a}, each twice: six records of each value, little noise.
LARGER = np.array([0, 0, 1, 1, 1, 2, 2, 2, 0] * 2, dtype=np.int32)


@pytest.fixture
def exchange() -> Exchange:
    return Exchange(count_classes(CLASS_OF, VALUES, 4, Domain(("a", "b", "c"))))


@pytest.fixture
def every_grouping(exchange: Exchange) -> Any:
    """The unbiased counts of the first cell under each way to deal the places of each value to its records."""
    shares = exchange.classes.dense() / exchange.classes.sizes[:, None]
    places = [CLASS_OF[value == VALUES] for value in range(3)]
    sums = []
    for dealt in product(*(permutations(range(3)) for _ in range(3))):
        inside = [places[v][slot] for v, slots in enumerate(dealt) for i, slot in enumerate(slots) if CELLS[v][i] == 0]
        sums.append(shares[inside].sum(axis=0))
    return exchange.undo(np.array(sums))


def test_the_mean_over_all_groupings_is_the_truth(every_grouping: Any) -> None:
    np.testing.assert_allclose(every_grouping.mean(axis=0), TRUTH[0], atol=1e-12)


def test_the_covariance_over_all_groupings_is_the_one_given(every_grouping: Any, exchange: Exchange) -> None:
    expected = np.cov(every_grouping.T, bias=True)

    np.testing.assert_allclose(exchange.covariance_at(TRUTH[0].astype(float)), expected, atol=1e-12)


@pytest.fixture
def larger() -> Exchange:
    return Exchange(count_classes(np.repeat(np.arange(6, dtype=np.int32), 3), LARGER, 6, Domain(("a", "b", "c"))))


@pytest.fixture
def every_larger_grouping(larger: Exchange) -> Any:
    """The unbiased counts of a cell with 3 records of a, 2 of b and none of c, wherever they are."""
    shares = larger.classes.dense() / larger.classes.sizes[:, None]
    places = [np.flatnonzero(value == LARGER) // 3 for value in range(3)]
    chosen = product(*(combinations(own, k) for own, k in zip(places, (3, 2, 0), strict=True)))
    return larger.undo(np.array([shares[list(sum(parts, ()))].sum(axis=0) for parts in chosen]))


def test_the_covariance_estimated_from_each_grouping_is_the_true_one_on_average(
    every_larger_grouping: Any, larger: Exchange
) -> None:
    estimated = [larger.covariance(counts, 5.0) for counts in every_larger_grouping]

    np.testing.assert_allclose(np.mean(estimated, axis=0), np.cov(every_larger_grouping.T, bias=True), atol=1e-12)


def test_estimated_counts_in_place_of_true_ones_would_give_too_little(
    every_larger_grouping: Any, larger: Exchange
) -> None:
    naive = np.mean([np.diag(larger.covariance_at(counts)) for counts in every_larger_grouping], axis=0)

    assert (naive < 0.9 * every_larger_grouping.var(axis=0)).all()


def test_standard_errors_are_the_diagonal_of_the_covariance(larger: Exchange) -> None:
    counts = np.array([[1.0, 1.5, 0.5]])

    expected = [np.sqrt(np.diag(larger.covariance(counts[0], 3.0)))]
    np.testing.assert_allclose(larger.standard_errors(counts, np.array([3.0])), expected, atol=1e-12)


def test_standard_errors_are_at_least_those_of_the_nearest_possible_counts(larger: Exchange) -> None:
    errors = larger.standard_errors(np.array([[7.0, -1.0, -1.0]]), np.array([5.0]))

    expected = np.sqrt(np.diag(larger.covariance_at(np.array([5.0, 0, 0]))))
    np.testing.assert_allclose(errors, [expected], atol=1e-12)


def test_standard_errors_are_at_most_those_of_the_noisiest_possible_counts(larger: Exchange) -> None:
    errors = larger.standard_errors(np.array([[3.0, 3.0, 3.0]]), np.array([9.0]))

    np.testing.assert_allclose(errors, [np.sqrt(np.diag(larger.covariance_at(np.full(3, 3.0))))], atol=1e-12)


def test_noise_beyond_all_that_can_be_measured_is_taken_as_the_greatest(exchange: Exchange) -> None:
    errors = exchange.standard_errors(np.array([[2.0, 1.0, 0.0]]), np.array([3.0]))

    np.testing.assert_allclose(errors, [np.sqrt(np.diag(exchange.covariance_at(np.full(3, 1.5))))], atol=1e-12)


def test_a_value_of_one_record_adds_no_noise() -> None:
    exchange = Exchange(count_classes(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 2]), 2, Domain(("a", "b", "c"))))

    np.testing.assert_array_equal(exchange.covariance_at(np.array([0.0, 0.5, 0.5])), np.zeros((3, 3)))


def test_all_records_together_have_no_error(exchange: Exchange) -> None:
    whole = np.array([[3.0, 3.0, 3.0]])

    np.testing.assert_allclose(exchange.undo(whole), whole)
    np.testing.assert_array_equal(exchange.standard_errors(whole, np.array([9.0])), [[0, 0, 0]])


def test_rows_of_the_mixing_are_probabilities(exchange: Exchange) -> None:
    np.testing.assert_allclose(exchange.mixing.sum(axis=1), 1)


def test_the_inverse_undoes_the_mixing(exchange: Exchange) -> None:
    np.testing.assert_allclose(exchange.inverse @ exchange.mixing.T, np.eye(3), atol=1e-12)


def test_values_that_do_not_occur_are_counted_zero() -> None:
    exchange = Exchange(count_classes(CLASS_OF, VALUES, 4, Domain(("a", "b", "c", "d"))))

    np.testing.assert_allclose(exchange.undo(np.array([[3.0, 3.0, 3.0, 0.0]])), [[3, 3, 3, 0]])
    assert np.isfinite(exchange.condition)


def test_classes_with_the_same_values_have_no_condition() -> None:
    exchange = Exchange(count_classes(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), 2, Domain(("a", "b"))))

    assert exchange.condition > 1e10


def test_an_estimate_gives_the_covariance_of_its_cells(bucketize: Any) -> None:
    cells = np.concatenate(CELLS)[np.argsort(np.argsort(VALUES, kind="stable"), kind="stable")]
    release = bucketize({"g": cells}, CLASS_OF, {"why": VALUES}, blind=True)

    result = estimate(release, "g", estimator="linear")

    np.testing.assert_allclose(np.sqrt(np.diag(result.covariance(1))), result.std_error[1], atol=1e-12)


def test_linear_counts_add_up_over_cells_and_values(bucketize: Any) -> None:
    release = bucketize({"g": [0, 1, 2, 0, 1, 2, 0, 1, 2]}, CLASS_OF, {"why": VALUES}, blind=True)

    result = estimate(release, "g", estimator="linear")

    np.testing.assert_allclose(result.count.sum(axis=0), [3, 3, 3])
    np.testing.assert_allclose(result.count.sum(axis=1), result.records)


def test_simplex_gives_possible_counts(bucketize: Any) -> None:
    release = bucketize({"g": [0, 1, 2, 0, 1, 2, 0, 1, 2]}, CLASS_OF, {"why": VALUES}, blind=True)

    result = estimate(release, "g", estimator="simplex")

    assert (result.count >= 0).all()
    np.testing.assert_allclose(result.count.sum(axis=1), 3)
