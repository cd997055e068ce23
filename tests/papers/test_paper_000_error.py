"""Randomized addition: the exact error and Eq. 19, each for the sampling it describes, by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from ldiversity.mechanisms import UniformSelection

N = 2_000
ROUNDS = 400
CASES = [(20, 2), (20, 5), (6, 4)]


def mean_squared_errors(mechanism: UniformSelection, counts: np.ndarray, truth: np.ndarray, seed: int) -> np.ndarray:
    """One mean squared error of the estimated shares a round; `counts` has one row a round."""
    rng = np.random.default_rng(seed)
    errors = []
    for row in counts:
        codes = np.repeat(np.arange(mechanism.n_values, dtype=np.int32), row)
        words = rng.integers(0, 1 << 64, size=(N, mechanism.words_per_record), dtype=np.uint64)
        sets, _ = mechanism.sample(codes, words)
        published = np.bincount(sets.ravel(), minlength=mechanism.n_values)
        errors.append(np.mean((mechanism.inverse @ published / N - truth) ** 2))
    return np.array(errors)


@pytest.mark.parametrize(("n_values", "l"), CASES)
def test_the_exact_formula_is_the_error_for_fixed_counts(n_values: int, l: int) -> None:
    mechanism = UniformSelection(n_values, l)
    skewed = 1.0 / np.arange(1, n_values + 1)
    counts = np.floor(N * skewed / skewed.sum()).astype(int)
    counts[0] += N - counts.sum()

    errors = mean_squared_errors(mechanism, np.tile(counts, (ROUNDS, 1)), counts / N, seed=1)

    # Five standard errors of the simulated mean: false alarm below 1e-6 a case.
    assert abs(errors.mean() - mechanism.expected_mse(N)) < 5 * errors.std() / np.sqrt(ROUNDS)


@pytest.mark.parametrize(("n_values", "l"), CASES)
def test_equation_19_is_the_error_when_the_records_themselves_are_drawn(n_values: int, l: int) -> None:
    mechanism = UniformSelection(n_values, l)
    shares = np.full(n_values, 1 / n_values)
    counts = np.random.default_rng(2).multinomial(N, shares, size=ROUNDS)

    errors = mean_squared_errors(mechanism, counts, shares, seed=3)

    # Five standard errors of the simulated mean: false alarm below 1e-6 a case.
    assert abs(errors.mean() - mechanism.expected_mse_paper(N)) < 5 * errors.std() / np.sqrt(ROUNDS)


@pytest.mark.parametrize(("n_values", "l"), CASES)
def test_equation_19_adds_the_noise_of_a_uniform_population(n_values: int, l: int) -> None:
    mechanism = UniformSelection(n_values, l)

    added = mechanism.expected_mse_paper(N) - mechanism.expected_mse(N)

    assert added == pytest.approx((n_values - 1) / (N * n_values**2), rel=1e-9)


def test_equation_19_overstates_the_error_of_a_given_table() -> None:
    mechanism = UniformSelection(20, 2)

    assert mechanism.expected_mse_paper(N) / mechanism.expected_mse(N) == pytest.approx(1.9, abs=1e-9)
