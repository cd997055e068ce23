"""Estimators against known truth, with tolerances from theory and stated false-alarm rates."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.distances import OrderedDistance
from ldiversity.estimation import Estimate, estimate
from ldiversity.mechanisms import BalancedSelection, RingSelection, SetMechanism, SimpleSelection, UniformSelection
from ldiversity.release import Release
from ldiversity.schema import Attribute, Domain, Role, Schema


def ordered(f: int) -> Domain:
    return Domain(tuple(range(f)), ordered=True)


def zipf(f: int, n: int) -> np.ndarray:
    """True counts that fall like 1/rank and sum to n."""
    shares = 1 / np.arange(1, f + 1)
    counts = np.floor(n * shares / shares.sum()).astype(np.int64)
    counts[0] += n - counts.sum()
    return counts


def repeat(mechanism: SetMechanism, truth: np.ndarray, times: int, seed: int) -> Release:
    """The same records published again and again; column `draw` numbers the publications."""
    rng = np.random.default_rng(seed)
    codes = np.tile(np.repeat(np.arange(len(truth)), truth), times).astype(np.int32)
    words = rng.integers(0, 2**64, (len(codes), mechanism.words_per_record + 60), dtype=np.uint64)
    sets, short = mechanism.sample(codes, words)
    assert not short.any()
    domain = Domain(tuple(range(mechanism.n_values)), ordered=True)
    schema = Schema((Attribute("draw", Role.QUASI, "int64"), Attribute("s", Role.SENSITIVE, "int64", domain)))
    return Release.in_memory(
        schema=schema,
        columns=pa.table({"draw": np.repeat(np.arange(times), truth.sum())}),
        sets={"s": sets},
        mechanisms={"s": mechanism},
    )


def z_scores(result: Estimate, truth: np.ndarray, variances: np.ndarray) -> np.ndarray:
    return (result.count.mean(axis=0) - truth) / np.sqrt(variances / result.n_cells)


MECHANISMS = {
    "uniform F=20 l=2": UniformSelection(n_values=20, l=2),
    "uniform F=20 l=12": UniformSelection(n_values=20, l=12),
    "simple (3,3)": SimpleSelection.fit(ordered(14), OrderedDistance(), l=3, d=3),
    "simple (4,3)": SimpleSelection.fit(ordered(14), OrderedDistance(), l=4, d=3),
    "ring (3,3)": RingSelection.fit(ordered(14), OrderedDistance(), l=3, d=3),
    "balanced (3,4)": BalancedSelection.fit(ordered(14), OrderedDistance(), l=3, d=4),
    "balanced (4,3)": BalancedSelection.fit(ordered(14), OrderedDistance(), l=4, d=3),
}


@pytest.fixture(params=list(MECHANISMS))
def mechanism(request: pytest.FixtureRequest) -> SetMechanism:
    return MECHANISMS[request.param]


def test_linear_is_unbiased(mechanism: SetMechanism) -> None:
    truth = zipf(mechanism.n_values, 1000)
    result = estimate(repeat(mechanism, truth, 200, seed=11), "draw", estimator="linear")

    scores = z_scores(result, truth, mechanism.variance_factors @ truth)

    # At most 20 normal scores: beyond 4.5 in 1.4e-4 of all seeds, for each mechanism.
    assert np.abs(scores).max() < 4.5


@pytest.mark.parametrize("name", ["simple (3,3)", "simple (4,3)"])
def test_paper_is_biased_where_more_than_one_dummy_is_drawn(name: str) -> None:
    mechanism = MECHANISMS[name]
    truth = zipf(14, 1000)
    result = estimate(repeat(mechanism, truth, 200, seed=12), "draw", estimator="paper")

    scores = z_scores(result, truth, result.std_error.mean(axis=0) ** 2)

    # An unbiased estimate stays below 4.5 but for 1e-4 of all seeds; the bias here is far beyond ten.
    assert np.abs(scores).max() > 10


def test_variances_are_those_of_repeated_draws(mechanism: SetMechanism) -> None:
    truth, times = zipf(mechanism.n_values, 300), 1500
    result = estimate(repeat(mechanism, truth, times, seed=13), "draw", estimator="linear")

    ratio = result.count.var(axis=0, ddof=1) / (mechanism.variance_factors @ truth)

    # A sample variance of 1500 near-normal values has relative standard error sqrt(2/1499) = .0365; 5 of them for at
    # most 20 values: 1.2e-5. The largest count of the uniform mechanism is skewed, hence a quarter more.
    assert np.abs(ratio - 1).max() < 5 * 1.25 * np.sqrt(2 / (times - 1))


def test_the_estimated_covariance_is_right_on_average(mechanism: SetMechanism) -> None:
    truth, times = zipf(mechanism.n_values, 300), 600
    result = estimate(repeat(mechanism, truth, times, seed=14), "draw", estimator="linear")

    drawn = np.cov(result.count.T)
    estimated = np.mean([result.covariance(cell) for cell in range(times)], axis=0)

    # The standard error of a sample covariance of near-normal values is sqrt((s_ii s_jj + s_ij^2) / (n - 1)).
    # 5 of them in at most 210 entries: 1.2e-4; a quarter more for skewed counts.
    scale = np.sqrt((np.outer(np.diag(drawn), np.diag(drawn)) + drawn**2) / (times - 1))
    assert (np.abs(drawn - estimated) / scale).max() < 5 * 1.25


@pytest.mark.parametrize("name", ["simple (3,3)", "balanced (3,4)", "ring (3,3)"])
def test_wald_intervals_cover_as_often_as_they_say(name: str) -> None:
    mechanism = MECHANISMS[name]
    truth, times = zipf(14, 1000), 400
    result = estimate(repeat(mechanism, truth, times, seed=15), "draw", estimator="linear", min_records=0)

    covered = ((result.low <= truth) & (truth <= result.high)).mean(axis=0)

    # Theory: .93 to .96 and, clipped to what is possible, up to 1. A value covered with .93 is seen below
    # .93 - 4.5 * sqrt(.93 * .07 / 400) = .873 once in 14 values and 20,000 seeds.
    assert covered.min() > 0.93 - 4.5 * np.sqrt(0.93 * 0.07 / times)
    # Draws are independent, values are not: as if each draw were one trial.
    assert covered.mean() > 0.94 - 4.5 * np.sqrt(0.94 * 0.06 / times)


@pytest.mark.parametrize("n", [20, 200, 1000])
@pytest.mark.parametrize("l", [2, 8])
def test_exact_intervals_cover_at_least_as_often_as_they_say(n: int, l: int) -> None:
    mechanism = UniformSelection(n_values=20, l=l)
    truth, times = zipf(20, n), 400
    result = estimate(repeat(mechanism, truth, times, seed=16), "draw", estimator="linear")

    covered = ((result.low <= truth) & (truth <= result.high)).mean(axis=0)

    # Coverage is at least .95 for every value: below .95 - 4.5 * sqrt(.95 * .05 / 400) = .901 in 20 * 3.4e-6.
    assert covered.min() > 0.95 - 4.5 * np.sqrt(0.95 * 0.05 / times)


def test_small_cells_have_conservative_intervals(mechanism: SetMechanism) -> None:
    truth, times = zipf(mechanism.n_values, 15), 400
    result = estimate(repeat(mechanism, truth, times, seed=17), "draw", estimator="linear")

    covered = ((result.low <= truth) & (truth <= result.high)).mean(axis=0)

    # As above: each value is covered with probability .95 or more.
    assert covered.min() > 0.95 - 4.5 * np.sqrt(0.95 * 0.05 / times)


def test_exact_intervals_are_shorter_than_wald_where_counts_are_small() -> None:
    mechanism, truth = UniformSelection(n_values=100, l=5), np.bincount(np.arange(400) % 20, minlength=100)
    result = estimate(repeat(mechanism, truth, 20, seed=18), "draw", estimator="linear")

    # Not clipped, Wald intervals are 2 * 1.96 standard errors; the gain is 15 to 60 percent, no chance involved.
    assert (result.high - result.low).mean() < 0.85 * (2 * 1.96 * result.std_error).mean()


def test_the_error_falls_with_the_square_root_of_the_records() -> None:
    mechanism = MECHANISMS["balanced (3,4)"]
    small = estimate(repeat(mechanism, zipf(14, 250), 400, seed=19), "draw", estimator="linear")
    large = estimate(repeat(mechanism, zipf(14, 4000), 100, seed=20), "draw", estimator="linear")

    ratio = (small.share.std(axis=0) / large.share.std(axis=0)).mean()

    # Sixteen times the records: four times less error. Relative errors of the two deviations are .035 and .07; the
    # mean over 14 values is off by more than 4.5 * .08 = .36 of 4 in fewer than 1e-5 of all seeds.
    assert abs(ratio / 4 - 1) < 4.5 * 0.08


def test_likelihood_beats_linear_with_many_records() -> None:
    truth = zipf(20, 1000)
    release = repeat(UniformSelection(n_values=20, l=2), truth, 60, seed=21)

    linear, mle = (estimate(release, "draw", estimator=name).count for name in ("linear", "mle"))

    # The mean squared error is about .69 of linear's; its standard error over 60 draws of 20 values is below .06.
    assert ((mle - truth) ** 2).mean() < 0.93 * ((linear - truth) ** 2).mean()


def test_the_prior_beats_linear_with_few_records() -> None:
    truth = zipf(20, 60)
    release = repeat(UniformSelection(n_values=20, l=5), truth, 100, seed=22)

    linear, prior = (estimate(release, "draw", estimator=name).count for name in ("linear", "map"))

    # All cells follow the release's marginal, so the prior removes most of the error: less than a quarter is left.
    assert ((prior - truth) ** 2).mean() < 0.5 * ((linear - truth) ** 2).mean()


def test_joint_linear_is_unbiased() -> None:
    one, two = MECHANISMS["simple (3,3)"], UniformSelection(n_values=4, l=2)
    rng = np.random.default_rng(23)
    n, times = 600, 150
    first = np.tile((np.arange(n) ** 2 % 14).astype(np.int32), times)
    second = first % 4
    sets = {}
    for name, mechanism, codes in (("s", one, first), ("t", two, second)):
        words = rng.integers(0, 2**64, (len(codes), mechanism.words_per_record + 60), dtype=np.uint64)
        sets[name] = mechanism.sample(codes, words)[0]
    domains = {"s": ordered(14), "t": ordered(4)}
    hidden = [Attribute(name, Role.SENSITIVE, "int64", domain) for name, domain in domains.items()]
    release = Release.in_memory(
        schema=Schema((Attribute("draw", Role.QUASI, "int64"), *hidden)),
        columns=pa.table({"draw": np.repeat(np.arange(times), n)}),
        sets=sets,
        mechanisms={"s": one, "t": two},
    )

    result = estimate(release, "draw", sensitive=["s", "t"], estimator="linear")

    truth = np.bincount(first[:n] * 4 + second[:n], minlength=56)
    scores = z_scores(result, truth, (result.std_error**2).mean(axis=0))
    # 56 normal scores: beyond 4.5 in 4e-4 of all seeds.
    assert np.abs(scores).max() < 4.5
