"""Intervals of derived figures hold the truth as often as they say."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from ldiversity.estimation import Estimate, Quantity, estimate
from ldiversity.mechanisms import UniformSelection
from ldiversity.release import SetRelease
from ldiversity.schema import Attribute, Domain, Role, Schema

TIMES, N, F = 200, 400, 8
LEAST, MOST = stats.binom.ppf([1e-5, 1 - 1e-5], TIMES, [0.935, 0.965])
"""Intervals that hold with .935 to .965 do so in fewer or more of the draws with probability 1e-5 each."""

SHARES = np.array([[30, 20, 15, 10, 10, 8, 5, 2], [20, 25, 15, 15, 10, 5, 5, 5]]) / 100
NUMBERS = np.arange(F)


def publish(values: np.ndarray, seed: int) -> Estimate:
    """The estimate for each draw of two groups; `values` has shape (draws, 2, records)."""
    rng, mechanism = np.random.default_rng(seed), UniformSelection(n_values=F, l=3)
    codes = values.reshape(-1).astype(np.int32)
    sets, _ = mechanism.sample(codes, rng.integers(0, 2**64, (len(codes), 40), dtype=np.uint64))
    hidden = Attribute("s", Role.SENSITIVE, "int64", Domain(tuple(range(F)), ordered=True))
    quasi = (Attribute(name, Role.QUASI, "int64") for name in ("draw", "x"))
    draws, groups, each = values.shape
    release = SetRelease.in_memory(
        schema=Schema((*quasi, hidden)),
        columns=pa.table(
            {
                "draw": np.repeat(np.arange(draws), groups * each),
                "x": np.tile(np.repeat(np.arange(groups), each), draws),
            }
        ),
        sets={"s": np.sort(sets, axis=1)},
        mechanisms={"s": mechanism},
    )
    return estimate(release, ["draw", "x"], estimator="linear")


FIGURES: dict[str, tuple[Callable[[Estimate, int, bool], Quantity], float]] = {
    "difference": (lambda e, d, p: e.difference([0, 1], between=((d, 0), (d, 1)), population=p), 0.5 - 0.45),
    "ratio": (lambda e, d, p: e.ratio(7, between=((d, 0), (d, 1)), population=p), 0.02 / 0.05),
    "mean": (lambda e, d, p: e.mean((d, 0), population=p), float(SHARES[0] @ NUMBERS)),
    "difference of means": (
        lambda e, d, p: e.difference(between=((d, 0), (d, 1)), population=p),
        float((SHARES[0] - SHARES[1]) @ NUMBERS),
    ),
}


@pytest.fixture(scope="module")
def estimates() -> dict[bool, Estimate]:
    rng = np.random.default_rng(51)
    fixed = np.stack([np.repeat(NUMBERS, np.rint(N * shares).astype(int)) for shares in SHARES])
    sampled = np.stack([rng.choice(F, (TIMES, N), p=shares) for shares in SHARES], axis=1)
    return {False: publish(np.broadcast_to(fixed, (TIMES, 2, N)), 52), True: publish(sampled, 53)}


@pytest.mark.parametrize("about", ["table", "population"])
@pytest.mark.parametrize("name", FIGURES)
def test_intervals_hold(estimates: dict[bool, Estimate], name: str, about: str) -> None:
    (ask, truth), population = FIGURES[name], about == "population"

    found = [ask(estimates[population], draw, population) for draw in range(TIMES)]

    assert LEAST <= sum(one.low <= truth <= one.high for one in found) <= MOST


def test_intervals_of_quantiles_hold_at_least_as_often(estimates: dict[bool, Estimate]) -> None:
    # Of the first group .3 have 0 and .5 have at most 1. Numbers are whole, so the interval may hold more often.
    found = [estimates[False].quantile(0.4, (draw, 0)) for draw in range(TIMES)]

    assert sum(one.low <= 1 <= one.high for one in found) >= LEAST
    assert np.mean([one.low == one.high for one in found]) > 0.5


def test_intervals_hold_where_nearly_all_records_have_one_value() -> None:
    # Unbiased variances are below zero in about half of such groups; those of shares are at least what sets leave open.
    values = np.zeros((TIMES, 2, 60), dtype=int)
    values[:, :, 0] = 1
    found = publish(values, 54)

    shares = [found.proportion(0, (draw, 0)) for draw in range(TIMES)]
    differences = [found.difference(0, between=((draw, 0), (draw, 1))) for draw in range(TIMES)]

    assert sum(one.low <= 59 / 60 <= one.high for one in shares) >= LEAST
    assert sum(one.low <= 0 <= one.high for one in differences) >= LEAST


def test_intervals_of_few_records_hold() -> None:
    # Five records with two values: sums of so few are far from normal. Hoeffding's intervals hold at least so often.
    values = np.broadcast_to(np.array([0, 0, 0, 1, 1]), (TIMES, 2, 5))
    found = publish(values, 55)

    for value, truth in ((0, 0.6), (1, 0.4), (2, 0.0)):
        shares = [found.proportion(value, (draw, 0)) for draw in range(TIMES)]
        assert sum(one.low <= truth <= one.high for one in shares) >= LEAST
