"""Errors of distributions, on cases that can be checked by hand."""

from __future__ import annotations

from math import inf, log

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.evaluation.measures._samples import bucketized as make_bucketized
from ldiversity.release import ClassRelease, SetRelease


def test_an_exact_estimate_has_no_error(original: pa.Table, bucketized: ClassRelease) -> None:
    assert ld.distribution_mse(original, bucketized, by=()) == pytest.approx(0.0)
    assert ld.kl_divergence(original, bucketized, by=(), epsilon=0) == pytest.approx(0.0)


def test_the_error_per_cell_is_equation_2_of_paper_000(original: pa.Table, bucketized: ClassRelease) -> None:
    # Of zip: 130 has a cold and a flu and is estimated so, 131 a flu, 148 a cold and a flu, 200 a cold.
    found = ld.distribution_mse(original, bucketized, by="zip", estimator="classes")

    assert found == pytest.approx((0 + 0.25 + 0 + 0.25) / 4)


def test_the_error_per_table_is_equation_18_of_paper_004(original: pa.Table, bucketized: ClassRelease) -> None:
    found = ld.distribution_mse(original, bucketized, by="zip", estimator="classes", per="table")

    assert found == pytest.approx(4 * (0.5 / 6) ** 2 / 8)


def test_several_columns_make_joint_cells(original: pa.Table, bucketized: ClassRelease) -> None:
    found = ld.distribution_mse(original, bucketized, by=["zip", "age"], estimator="classes")

    assert found == pytest.approx(0.25)


def test_cells_that_only_the_release_has_count_per_table(original: pa.Table, generalized: ClassRelease) -> None:
    # The class of zip * is spread over five zips, of which 149 does not occur.
    found = ld.distribution_mse(original, generalized, by="zip", estimator="classes", per="table")

    truth = np.array([[1, 1], [0, 1], [1, 1], [0, 0], [1, 0]])
    estimate = np.array([[0.7, 0.7], [0.7, 0.7], [1.2, 1.2], [0.2, 0.2], [0.2, 0.2]])
    assert found == pytest.approx(((truth - estimate) ** 2).sum() / 36 / 10)


def test_divergence_weighs_cells_by_their_records(original: pa.Table, bucketized: ClassRelease) -> None:
    # Two of six records are estimated at 1/2 where the truth is 1.
    assert ld.kl_divergence(original, bucketized, by="zip", epsilon=0, estimator="classes") == pytest.approx(
        2 / 6 * log(2)
    )


def test_no_cells_asked_for_means_each_quasi_identifier_in_turn(original: pa.Table, bucketized: ClassRelease) -> None:
    each = [ld.distribution_mse(original, bucketized, by=name) for name in ("age", "zip", "job")]

    assert ld.distribution_mse(original, bucketized) == pytest.approx(np.mean(each))


def test_bins_make_cells(original: pa.Table, bucketized: ClassRelease) -> None:
    found = ld.distribution_mse(original, bucketized, by=ld.bins("age", width=20), estimator="classes")

    # [20, 40) and [40, 60) and [60, 80) hold a class each.
    assert found == pytest.approx(0.0)


def test_sets_are_estimated_too(whys: pa.Table, sets: SetRelease) -> None:
    # The linear estimate is 2, 2, 0 where the truth is 2, 1, 1.
    assert ld.distribution_mse(whys, sets, by=(), estimator="linear") == pytest.approx(2 / 16 / 3)


def test_a_value_that_the_release_rules_out_makes_the_divergence_infinite(whys: pa.Table, sets: SetRelease) -> None:
    assert ld.kl_divergence(whys, sets, by=(), estimator="linear", epsilon=0) == inf


def test_epsilon_keeps_the_divergence_finite(whys: pa.Table, sets: SetRelease) -> None:
    expected = 0.5 * log(0.5 / (0.4 + 0.2 / 3)) + 0.25 * log(0.25 / (0.4 + 0.2 / 3)) + 0.25 * log(0.25 / (0.2 / 3))

    assert ld.kl_divergence(whys, sets, by=(), estimator="linear", epsilon=0.2) == pytest.approx(expected)


def test_numbers_with_many_values_are_cut_into_twenty_bins() -> None:
    table = pa.table({"age": np.arange(20, 170), "disease": ["d0", "d1", "d1", "d0", "d1", "d0"] * 25})
    release = make_bucketized(np.repeat(np.arange(75), 2).tolist())

    edges = np.linspace(20, 169, 21).tolist()
    assert ld.distribution_mse(table, release) == ld.distribution_mse(table, release, by=ld.bins("age", edges=edges))


def test_per_must_be_a_choice(whys: pa.Table, sets: SetRelease) -> None:
    with pytest.raises(ld.ParameterError, match="per must be one of 'cell', 'table'"):
        ld.distribution_mse(whys, sets, per="row")  # type: ignore[arg-type]
