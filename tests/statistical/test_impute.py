"""Rubin's rules hold for completed tables: figures are as far from the truth as their combined variance says.

Each figure is measured by its own combined standard error. Sums of squares over independent releases are about
chi-square: too large a sum means intervals that hold too rarely. Seeds are fixed; a new seed fails with a probability
of 1e-5 on each side, where the asymptotics hold, and 20 % of the mean is allowed for finitely many tables and records.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import ldiversity as ld
from ldiversity.mechanisms import UniformSelection
from ldiversity.release import SetRelease
from ldiversity.schema import Attribute, Domain, Role, Schema

F, N, TIMES, M = 4, 1200, 30, 20
MECHANISM = UniformSelection(F, 2)


def publish(
    rng: np.random.Generator, values: np.ndarray, x: np.ndarray, mechanism: UniformSelection = MECHANISM
) -> ld.Release:
    words = rng.integers(0, 2**64, (len(values), mechanism.words_per_record), dtype=np.uint64)
    sets, _ = mechanism.sample(values.astype(np.int32), words)
    domain = Domain(tuple(range(mechanism.n_values)))
    schema = Schema((Attribute("x", Role.QUASI, "int64"), Attribute("v", Role.SENSITIVE, "int64", domain)))
    return SetRelease.in_memory(
        schema=schema, columns=pa.table({"x": x}), sets={"v": sets}, mechanisms={"v": mechanism}
    )


def check_sum(squares: list[float]) -> None:
    low, high = stats.chi2.ppf([1e-5, 1 - 1e-5], len(squares))
    assert low - 0.2 * len(squares) < sum(squares) < high + 0.2 * len(squares)


def test_differences_between_cells_have_the_combined_variance() -> None:
    rng, times = np.random.default_rng(21), 400
    shares = np.array([[0.4, 0.3, 0.2, 0.1], [0.2, 0.3, 0.2, 0.3]])
    # Cells are imputed by themselves: two of them stand for a release.
    draw, x = np.repeat(np.arange(times), N), np.tile(np.repeat([0, 1], N // 2), times)
    values = (shares[x].cumsum(axis=1) < rng.random((len(x), 1))).sum(axis=1)
    release = publish(rng, values, 2 * draw + x)
    zero = np.array(
        [
            np.bincount(2 * draw + x, np.asarray(table["v"]) == 0, minlength=2 * times) / (N // 2)
            for table in release.impute(M, by="x", seed=1)
        ]
    ).reshape(M, times, 2)
    within = (zero * (1 - zero)).sum(axis=2) / (N // 2)

    found = ld.combine(zero[:, :, 1] - zero[:, :, 0], within)

    off = np.square(found.estimate + 0.2)
    check_sum((off / np.square(found.std_error)).tolist())
    # As if one completed table were true, variances leave out what sets hide.
    with pytest.raises(AssertionError):
        check_sum((off / within.mean(axis=0)).tolist())


def test_a_column_that_was_not_named_keeps_only_what_the_sets_show_of_it() -> None:
    rng = np.random.default_rng(25)
    shares = np.array([[0.4, 0.3, 0.2, 0.1], [0.2, 0.3, 0.2, 0.3]])
    without = []
    for seed in range(5):
        x = rng.integers(0, 2, N)
        release = publish(rng, (shares[x].cumsum(axis=1) < rng.random((N, 1))).sum(axis=1), x)
        zero = [np.asarray(table["v"]) == 0 for table in release.impute(M, seed=seed)]
        without.append(np.mean([one[x == 1].mean() - one[x == 0].mean() for one in zero]))

    assert np.mean(without) > -0.16


def test_intervals_of_a_rare_share_hold_where_its_estimate_is_often_zero() -> None:
    rng = np.random.default_rng(23)
    shares, times, records = [0.5, 0.2, 0.15, 0.08, 0.05, 0.02], 100, 600
    mechanism = UniformSelection(len(shares), 2)
    held = 0
    for seed in range(times):
        release = publish(rng, rng.choice(len(shares), records, p=shares), np.zeros(records, dtype=int), mechanism)
        found = [float((np.asarray(table["v"]) == 5).mean()) for table in release.impute(M, seed=seed)]
        both = ld.combine(found, [share * (1 - share) / records for share in found])
        held += bool(both.low[0] <= 0.02 <= both.high[0])

    # Intervals that hold in .93 of the cases or more fail here with probability 1e-5; those that hold in .62, as
    # with a prior that is estimated from the sets, pass with probability 1e-4.
    assert held >= stats.binom.ppf(1e-5, times, 0.93)


def test_intervals_of_shares_hold_with_24_values_also_those_of_small_ones() -> None:
    rng = np.random.default_rng(24)
    n_values, times, records = 24, 400, 500
    shares = 1 / np.arange(1, n_values + 1)
    shares /= shares.sum()
    draw = np.repeat(np.arange(times), records)
    # Cells are imputed by themselves: each stands for a release.
    release = publish(rng, rng.choice(n_values, times * records, p=shares), draw, UniformSelection(n_values, 2))
    tables = [np.asarray(table["v"]) for table in release.impute(M, by="x", seed=1)]
    found = np.array([np.bincount(draw * n_values + each, minlength=times * n_values) / records for each in tables])
    both = ld.combine(found, found * (1 - found) / records, shares=True)
    low, high = both.low.reshape(times, -1), both.high.reshape(times, -1)
    held = (low <= shares) & (shares <= high)

    # Where intervals of every value hold in .93 of the cases or more, this fails with probability 1e-5 at most.
    assert (held.sum(axis=0) >= stats.binom.ppf(1e-5 / n_values, times, 0.93)).all()
    # Releases are independent. Where those of small shares hold in .95 of the cases or more, this fails with
    # probability 1e-5. Without shares=True they hold in .92, and it passes with a probability of 3e-4.
    small = held[:, shares < 0.03].mean(axis=1)
    assert small.mean() >= 0.95 + stats.norm.ppf(1e-5) * small.std(ddof=1) / np.sqrt(times)


def test_slopes_have_the_combined_variance_when_a_regression_draws() -> None:
    rng = np.random.default_rng(22)
    squares = []
    for seed in range(TIMES):
        x = rng.integers(-2, 3, N)
        logits = np.column_stack([0.4 * x, np.zeros(N), -0.2 * x - 0.3, np.full(N, -0.4)])
        chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        values = (chances.cumsum(axis=1) < rng.random((N, 1))).sum(axis=1)
        release = publish(rng, values, x)
        # The line through the chances of value 0 is what least squares estimates.
        design = np.column_stack([np.ones(N), x])
        true = np.linalg.lstsq(design, chances[:, 0], rcond=None)[0][1]

        def slope(table: pa.Table, design: np.ndarray = design) -> tuple[float, float]:
            zero = (np.asarray(table["v"]) == 0).astype(float)
            line = np.linalg.lstsq(design, zero, rcond=None)[0]
            bread = np.linalg.inv(design.T @ design)
            rest = design * (zero - design @ line)[:, None]
            return line[1], (bread @ rest.T @ rest @ bread)[1, 1]

        found = ld.combine(*zip(*map(slope, release.impute(M, formula="v ~ x", seed=seed)), strict=True))
        squares.append(((found.estimate[0] - true) / found.std_error[0]) ** 2)

    check_sum(squares)
