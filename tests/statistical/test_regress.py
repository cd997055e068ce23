"""Coefficients from sets are right on average, and their covariance says how far off they are.

The squared distance of a fit from the truth, measured by its own covariance, is about chi-square with as many degrees
of freedom as there are coefficients. Sums over independent fits are chi-square, too: too large a sum means intervals
that hold too rarely, too small a sum intervals that are too wide. Seeds are fixed; a new seed fails with a probability
of 1e-5 on each side, where the asymptotics hold, and 15 % of the mean is allowed for a finite number of records.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import ldiversity as ld
from ldiversity.distances import OrderedDistance
from ldiversity.mechanisms import BalancedSelection, SetMechanism, SimpleSelection, UniformSelection
from ldiversity.release import SetRelease
from ldiversity.schema import Attribute, Domain, Role, Schema

F, N, TIMES = 5, 2000, 12
LINE = Domain(tuple(range(F)), ordered=True, positions=tuple(map(float, range(F))))
TRUE = np.array([[0, 0, 0], [0.2, 0.6, -0.3], [-0.2, -0.5, 0.4], [0.1, 0.3, 0.3], [-0.3, 0.2, -0.6]])
THREE = Attribute("v", Role.SENSITIVE, "int64", Domain((0, 1, 2)))
MECHANISMS: dict[str, SetMechanism] = {
    "uniform": UniformSelection(F, 2),
    "balanced": BalancedSelection.fit(LINE, OrderedDistance(), l=2, d=2),
    "simple, not flat": SimpleSelection.fit(LINE, OrderedDistance(), l=2, d=2),
}


def publish(rng: np.random.Generator, mechanism: SetMechanism, values: np.ndarray, x: np.ndarray) -> ld.Release:
    words = rng.integers(0, 2**64, (len(values), mechanism.words_per_record + 64), dtype=np.uint64)
    sets, short = mechanism.sample(values.astype(np.int32), words)
    assert not short.any()
    columns = pa.table({"a": x[:, 0], "b": x[:, 1]})
    shown = (Attribute("a", Role.QUASI, "double"), Attribute("b", Role.QUASI, "double"))
    schema = Schema((*shown, Attribute("v", Role.SENSITIVE, "int64", LINE)))
    return SetRelease.in_memory(schema=schema, columns=columns, sets={"v": sets}, mechanisms={"v": mechanism})


def draw(rng: np.random.Generator, x: np.ndarray, true: np.ndarray = TRUE) -> np.ndarray:
    logits = true[:, 0] + x @ true[:, 1:].T
    return (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)


def distance(fit: ld.Regression, true: np.ndarray) -> float:
    off = fit.coefficients.ravel() - true.ravel()
    return float(off @ np.linalg.solve(fit.covariance, off))


def check_sum(distances: list[float], n_coefficients: int) -> None:
    degrees = len(distances) * n_coefficients
    low, high = stats.chi2.ppf([1e-5, 1 - 1e-5], degrees)
    assert low - 0.15 * degrees < sum(distances) < high + 0.15 * degrees


@pytest.mark.parametrize("name", MECHANISMS)
def test_distances_from_the_truth_are_those_of_the_stated_covariance(name: str) -> None:
    rng = np.random.default_rng(11)
    found = []
    for _ in range(TIMES):
        x = rng.standard_normal((N, 2))
        release = publish(rng, MECHANISMS[name], draw(rng, x), x)
        found.append(distance(ld.regress(release, "v ~ a + b", reference=0), TRUE[1:]))

    check_sum(found, TRUE[1:].size)


def test_one_value_against_others_whose_shares_differ_has_the_stated_covariance() -> None:
    rng = np.random.default_rng(12)
    true = np.array([-0.5, 0.7, -0.4])
    found = []
    for _ in range(TIMES):
        x = rng.standard_normal((N, 2))
        first = rng.random(N) < 1 / (1 + np.exp(-(true[0] + x @ true[1:])))
        values = np.where(first, 0, 1 + draw(rng, x, TRUE[1:]))
        release = publish(rng, MECHANISMS["simple, not flat"], values, x)
        found.append(distance(ld.regress(release, "v == 0 ~ a + b"), true))

    check_sum(found, 3)


def test_intervals_of_a_rare_outcome_hold_with_a_skewed_predictor_whatever_the_slope() -> None:
    """Where the likelihood is uneven, z standard errors held in .70, and steep slopes were refused."""
    rng, times = np.random.default_rng(14), 60
    mechanism, schema = UniformSelection(3, 2), Schema((Attribute("x", Role.QUASI, "double"), THREE))
    held = []
    for _ in range(times):
        x = np.exp(rng.standard_normal(N))
        values = draw(rng, x[:, None], np.array([[1, 0], [0, 0.3], [-1, -0.5]])).astype(np.int32)
        words = rng.integers(0, 2**64, (N, mechanism.words_per_record), dtype=np.uint64)
        release = SetRelease.in_memory(
            schema=schema,
            columns=pa.table({"x": x}),
            sets={"v": mechanism.sample(values, words)[0]},
            mechanisms={"v": mechanism},
        )
        try:
            slope = ld.regress(release, "v ~ x", reference=0).table[-1]
        except ld.ParameterError:  # by chance, the share of the outcome is not told from zero
            continue
        held.append(slope.low <= -0.5 <= slope.high)

    # If .02 are refused, and intervals hold in .92 or more, each fails with probability 1e-5.
    assert len(held) >= stats.binom.ppf(1e-5, times, 0.98)
    assert sum(held) >= stats.binom.ppf(1e-5, len(held), 0.92)


def test_the_line_through_numbers_has_the_stated_covariance() -> None:
    rng = np.random.default_rng(13)
    true = np.array([1.5, 0.8, -0.4])
    found = []
    for _ in range(TIMES):
        x = rng.uniform(-1, 1, (N, 2))
        values = np.floor(true[0] + x @ true[1:] + rng.random(N)).astype(int)  # right on average
        fit = ld.regress(publish(rng, MECHANISMS["uniform"], values, x), "v ~ a + b", model="linear")
        found.append(distance(fit, true))

    check_sum(found, 3)


def test_sums_that_are_too_large_or_too_small_are_found() -> None:
    with pytest.raises(AssertionError):
        check_sum([12 * 1.8**2] * TIMES, 12)  # intervals 1.8 times too narrow
    with pytest.raises(AssertionError):
        check_sum([12 / 1.8**2] * TIMES, 12)
