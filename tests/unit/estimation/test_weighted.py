"""Weighted counts and their errors, compared with slow and obvious ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.errors import LDiversityError
from ldiversity.estimation import Estimate, estimate
from ldiversity.estimation._projection import project
from ldiversity.mechanisms import SetMechanism
from ldiversity.release import Release

N = 300
RNG = np.random.default_rng(2)
WEIGHTS, STRATA, GROUPS = RNG.uniform(1, 4, N), np.arange(N) % 3, RNG.integers(0, 2, N)


@pytest.fixture
def release(publish: Any, balanced: SetMechanism) -> Release:
    return publish({"w": WEIGHTS, "h": STRATA, "g": GROUPS}, {"s": np.arange(N) % 9}, {"s": balanced})


@pytest.fixture
def found(release: Release) -> Estimate:
    return estimate(release, "g", weights="w", strata="h")


def vectors(release: Release) -> np.ndarray:
    """What the set of each record says about its value."""
    inverse = release.drawn_by("s").inverse
    return np.stack([inverse[:, members].sum(axis=1) for members in release.sets("s")])


def variance(values: np.ndarray) -> np.ndarray:
    """The covariance of weighted sums, stratum by stratum."""
    weighted = values * WEIGHTS[:, None]
    parts = (weighted[stratum == STRATA] for stratum in range(3))
    return sum(len(part) / (len(part) - 1) * (part - part.mean(0)).T @ (part - part.mean(0)) for part in parts)  # type: ignore[return-value]


def least(release: Release, found: Estimate, value: int) -> float:
    """The variance of a count of group 1 at a share nearer to the middle by two records on both sides."""
    mechanism, weights = release.drawn_by("s"), WEIGHTS[GROUPS == 1]
    size = weights.sum() ** 2 / (weights**2).sum()
    # Its own share, and possible shares of the others.
    near = project(found.count[[1]], found.records[[1]])[0]
    own = np.clip(found.share[1, value], 0, 1)
    near *= (1 - own) / (near.sum() - near[value])
    near[value] = own
    shares = size * near
    shares[value] += 2
    shares[np.arange(9) != value] += 2 / 8
    shares /= size + 4
    squares = [mechanism.variance_factors[value, true] + (true == value) for true in range(9)]
    return float((weights**2).sum() * (shares @ squares - shares[value] ** 2))


def test_counts_and_errors_are_the_obvious_ones(release: Release, found: Estimate) -> None:
    own = vectors(release) * (GROUPS == 1)[:, None]

    assert found.records == pytest.approx([WEIGHTS[GROUPS == 0].sum(), WEIGHTS[GROUPS == 1].sum()])
    assert found.count[1] == pytest.approx(WEIGHTS @ own)
    assert found.covariance(1) == pytest.approx(variance(own))
    floors = [least(release, found, value) for value in range(9)]
    assert found.std_error[1] == pytest.approx(np.sqrt(np.maximum(np.diag(variance(own)), floors)))
    assert found.count.sum(axis=1) == pytest.approx(found.records)


def test_shares_are_ratios(release: Release, found: Estimate) -> None:
    share = found.share[1, 4]

    got = found.proportion("v4", 1)

    rest = (vectors(release)[:, [4]] - share) * (GROUPS == 1)[:, None] / found.records[1]
    assert got.value == pytest.approx(share)
    floor = least(release, found, 4) / found.records[1] ** 2
    assert got.std_error == pytest.approx(np.sqrt(max(variance(rest)[0, 0], floor)))
    assert got.population


def test_filters_are_domains_of_the_same_sample(release: Release, found: Estimate) -> None:
    alone = estimate(release, where="g = 1", weights="w", strata="h")

    assert alone.count[0] == pytest.approx(found.count[1])
    assert alone.std_error[0] == pytest.approx(found.std_error[1])


def test_no_share_is_certain_and_small_cells_are_wider(publish: Any, uniform: SetMechanism) -> None:
    columns = {"w": np.ones(260), "g": np.repeat([0, 1], [240, 20])}
    found = estimate(publish(columns, {"s": np.zeros(260, dtype=int)}, {"s": uniform}), "g", weights="w", strata="g")

    # All sets hold the value, so the records of the sample do not differ at all.
    assert found.covariance(0)[0, 0] == pytest.approx(0.0)
    assert found.std_error[0, 0] > 0
    assert found.proportion("v0", 0).low < 1
    # One record in 120 without the value would give such a sample often.
    assert found.low[0, 0] < 238
    marked = [bool(note) for note in found.note]
    assert marked == [False, True]
    assert found.high[1, 0] - found.low[1, 0] > 4


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"estimator": "mle"}, "must be 'linear'"),
        ({"memory": "1GB"}, "all rows in memory"),
    ],
)
def test_what_does_not_go_with_weights_is_refused(release: Release, asked: dict[str, Any], words: str) -> None:
    with pytest.raises(LDiversityError, match=words):
        estimate(release, weights="w", **asked)


@pytest.mark.parametrize("weight", [1e308, 1e-308])
def test_weights_whose_squares_are_no_numbers_are_refused(publish: Any, uniform: SetMechanism, weight: float) -> None:
    release = publish({"w": np.full(60, weight)}, {"s": np.arange(60) % 6}, {"s": uniform})

    with pytest.raises(LDiversityError, match="column 'w' must add up to a number from 1e-100 to 1e") as refused:
        estimate(release, weights="w")

    assert "308" not in str(refused.value)


def test_classes_and_single_members_are_refused(publish: Any, uniform: SetMechanism, bucketize: Any) -> None:
    exploded = publish({"w": np.ones(60)}, {"s": np.arange(60) % 6}, {"s": uniform}, exploded=True)
    classes = bucketize({"w": np.ones(8)}, np.repeat(np.arange(4), 2), {"s": [0, 1] * 4})

    for release in (exploded, classes):
        with pytest.raises(LDiversityError, match="a set of values for each record"):
            estimate(release, weights="w")


FIGURES: dict[str, Any] = {
    "share": lambda one, population: one.proportion("v0", 0, population=population),
    "share of two": lambda one, population: one.proportion(["v0", "v1"], 0, population=population),
    "share of rare ones": lambda one, population: one.proportion(["v6", "v7", "v8"], 0, population=population),
    "difference": lambda one, population: one.difference(["v0", "v3"], between=(0, 1), population=population),
    "ratio": lambda one, population: one.ratio("v0", between=(0, 1), population=population),
    "ratio of two": lambda one, population: one.ratio(["v0", "v3"], between=(0, 1), population=population),
}
NUMBERS: dict[str, Any] = {
    "mean": lambda one, population: one.mean(0, population=population),
    "difference of means": lambda one, population: one.difference(between=(0, 1), population=population),
    "ratio of means": lambda one, population: one.ratio(between=(0, 1), population=population),
}


@pytest.mark.parametrize("name", [*FIGURES, *NUMBERS])
def test_no_figure_about_a_population_is_certain_where_all_records_look_alike(name: str) -> None:
    """Sets tell nearly all, and all records have one value: the sample shows no variance, whatever the figure."""
    numbers = name in NUMBERS
    values = tuple(range(2, 11)) if numbers else tuple(f"v{value}" for value in range(9))
    made = ld.anonymize(
        pa.table({"w": np.full(240, 3.0), "g": np.repeat([0, 1], 120), "s": [values[0]] * 240}),
        quasi=["w", "g"],
        sensitive=ld.Sensitive("s", domain=values),
        method=ld.RandomizedAddition(l=1, epsilon=14),
        insecure_seed=1,
    )
    ask = (NUMBERS if numbers else FIGURES)[name]

    weighted = ask(estimate(made, "g", weights="w", strata="g"), False)
    plain = ask(estimate(made, "g", estimator="linear"), True)

    for one in (weighted, plain):
        # Half a record in 120 is another one.
        assert one.std_error > 0.5 / 120 / 2
        assert one.high - one.low > 0.5 / 120
    # Equal weights tell what no weights do.
    assert plain.std_error / 3 < weighted.std_error < 3 * plain.std_error


def test_derived_figures_of_few_records_are_those_of_hoeffding(release: Release) -> None:
    found = estimate(release, "g", weights="w", strata="h", min_records=10**6)
    usual = estimate(release, "g", weights="w", strata="h", min_records=1)

    for value in (["v0"], ["v0", "v1"]):
        assert found.proportion(value, 1).std_error > usual.proportion(value, 1).std_error  # type: ignore[operator]


def test_intervals_of_counts_below_zero_are_those_of_no_number_below_zero_and_hold_the_count(
    publish: Any, uniform: SetMechanism
) -> None:
    release = publish({"w": WEIGHTS}, {"s": np.arange(N) % 2}, {"s": uniform})  # of six values, four have no record

    found = estimate(release, weights="w")
    plain = estimate(release, estimator="linear")

    for one in (found, plain):
        below = one.count[0] < 0
        assert below.any()
        assert (one.low[0][below] == one.count[0][below]).all()
        assert (one.low[0][~below] >= 0).all()
        assert (one.high[0] > 0).all()
    # The further a count is below zero, the nearer the upper end is; it stays above zero.
    places, ends = (numbers[0] / found.std_error[0] for numbers in (found.count, found.high))
    assert (np.diff(ends[np.argsort(places)]) > 0).all()
    assert (ends > 0.3).all()
