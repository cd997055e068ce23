"""Intervals of surveys, and of shares among people with a hidden value, hold as often as they say."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from scipy import stats

from ldiversity.estimation import estimate
from ldiversity.mechanisms import UniformSelection
from ldiversity.release import Release, SetRelease
from ldiversity.schema import Attribute, Domain, Role, Schema

TIMES = 150


def limits(n_values: int) -> tuple[float, float]:
    """Shares of hits outside which intervals that hold with .93 to .97 fall with probability 1e-5, for all values."""
    low, high = stats.binom.ppf([1e-5 / n_values, 1 - 1e-5 / n_values], TIMES, [0.93, 0.97])
    return low / TIMES, high / TIMES


def release(
    columns: dict[str, np.ndarray], hidden: dict[str, tuple[np.ndarray, UniformSelection]], seed: int
) -> Release:
    rng = np.random.default_rng(seed)
    shown = (Attribute(name, Role.QUASI, str(pa.array(column).type)) for name, column in columns.items())
    own = [
        Attribute(name, Role.SENSITIVE, "int64", Domain(tuple(range(mechanism.n_values)), ordered=True))
        for name, (_, mechanism) in hidden.items()
    ]
    sets = {
        name: mechanism.sample(codes.astype(np.int32), rng.integers(0, 2**64, (len(codes), 30), dtype=np.uint64))[0]
        for name, (codes, mechanism) in hidden.items()
    }
    return SetRelease.in_memory(
        schema=Schema((*shown, *own)),
        columns=pa.table(columns),
        sets={name: np.sort(one, axis=1) for name, one in sets.items()},
        mechanisms={name: mechanism for name, (_, mechanism) in hidden.items()},
    )


def test_intervals_of_a_stratified_sample_hold_the_counts_of_the_population() -> None:
    rng = np.random.default_rng(61)
    stratum = np.repeat([0, 1], [12_000, 4_000])
    value = np.where(stratum == 0, rng.choice(5, 16_000, p=[0.4, 0.3, 0.15, 0.1, 0.05]), rng.integers(0, 5, 16_000))
    taken = np.stack(
        [np.concatenate([rng.choice(12_000, 250), 12_000 + rng.choice(4_000, 250)]) for _ in range(TIMES)]
    ).ravel()
    draw = np.repeat(np.arange(TIMES), 500)
    columns = {"draw": draw, "h": 2 * draw + stratum[taken], "w": np.where(stratum[taken] == 0, 48.0, 16.0)}

    # Strata of a draw are its own, so that each draw is a sample by itself.
    found = estimate(
        release(columns, {"s": (value[taken], UniformSelection(5, 2))}, 62), "draw", weights="w", strata="h"
    )

    truth, (low, high) = np.bincount(value), limits(5)
    held = ((found.low <= truth) & (truth <= found.high)).mean(axis=0)
    assert low <= held.min()
    assert held.max() <= high


def test_intervals_hold_a_share_near_one_in_small_samples_with_weights() -> None:
    """Where nearly all records have one value, the sample alone shows too little of the variance, or none."""
    rng = np.random.default_rng(65)
    probabilities, size = np.array([0.97, 0.015, 0.01, 0.005]), 120
    value = rng.choice(4, TIMES * size, p=probabilities)
    draw = np.repeat(np.arange(TIMES), size)
    weights = rng.choice([10.0, 20.0, 50.0], TIMES * size)

    found = estimate(
        release({"draw": draw, "w": weights}, {"s": (value, UniformSelection(4, 2))}, 66),
        "draw",
        weights="w",
        strata="draw",
    )

    low, _ = limits(2)
    shares = [found.proportion(0, one) for one in range(TIMES)]
    assert np.mean([one.low <= 0.97 <= one.high for one in shares]) >= low
    expected = 0.97 * found.records
    assert np.mean((found.low[:, 0] <= expected) & (expected <= found.high[:, 0])) >= low
    assert found.std_error.min() > 0


def test_intervals_of_shares_and_means_hold_and_are_not_too_wide_where_nearly_all_records_have_one_value() -> None:
    rng = np.random.default_rng(67)
    probabilities, size = np.array([0.97, *[0.03 / 7] * 7]), 300
    value = rng.choice(8, TIMES * size, p=probabilities)
    columns = {
        "draw": np.repeat(np.arange(TIMES), size),
        "w": rng.choice([10.0, 20.0, 50.0], TIMES * size),
    }
    made = release(columns, {"s": (value, UniformSelection(8, 3))}, 68)

    found = estimate(made, "draw", weights="w", strata="draw")

    low, _ = limits(4)
    mean = float(probabilities @ np.arange(8))
    asked = {
        "share": ([found.proportion(0, one) for one in range(TIMES)], 0.97),
        "share of two": ([found.proportion([0, 1], one) for one in range(TIMES)], float(probabilities[:2].sum())),
        "rest": ([found.proportion([5, 6, 7], one) for one in range(TIMES)], float(probabilities[5:].sum())),
        "mean": ([found.mean(one) for one in range(TIMES)], mean),
    }
    for name, (figures, truth) in asked.items():
        assert np.mean([one.low <= truth <= one.high for one in figures]) >= low, name
    # With the weights and the dummies, the error of the share is this one.
    factor = float(np.mean(columns["w"] ** 2) / np.mean(columns["w"]) ** 2)
    variance = 0.97 + 0.03 * _second(8, 3) - 0.97**2
    true = np.sqrt(variance * factor / size)
    assert np.mean([one.std_error for one in asked["share"][0]]) < 1.25 * true


def _second(n_values: int, l: int) -> float:
    """The mean square of what the set of a record says about a value that it does not have."""
    dummy = (l - 1) / (n_values - 1)
    return dummy + (1 - dummy) * (dummy / (1 - dummy)) ** 2


def test_intervals_of_shares_within_a_hidden_value_hold() -> None:
    rng = np.random.default_rng(63)
    t = rng.choice(3, 900, p=[0.5, 0.3, 0.2])
    s = np.where(rng.random(900) < 0.4, t, rng.integers(0, 4, 900))
    hidden = {"s": (np.tile(s, TIMES), UniformSelection(4, 2)), "t": (np.tile(t, TIMES), UniformSelection(3, 2))}
    columns = {"draw": np.repeat(np.arange(TIMES), 900)}

    found = estimate(release(columns, hidden, 64), ["draw", "t"], sensitive="s", estimator="linear")

    truth = np.stack([np.bincount(s[t == one], minlength=4) / np.sum(t == one) for one in range(3)])
    low, high = (ends.reshape(TIMES, 3, 4) for ends in (found.share_low, found.share_high))
    held, (least, _) = (low <= truth) & (truth <= high), limits(12)
    assert held.mean(axis=0).min() >= least
    # Publications are independent: if all shares together hold in .97 or less, this fails with probability 1e-5.
    together = held.mean(axis=(1, 2))
    assert together.mean() <= 0.97 + stats.norm.ppf(1 - 1e-5) * together.std(ddof=1) / np.sqrt(TIMES)


def test_upper_limits_of_sums_of_rare_joint_counts_hold() -> None:
    # Where rare counts are too low by chance, so are their standard errors. By these alone sums missed in .06.
    rng, times = np.random.default_rng(3), 300
    t = rng.choice(6, 3_000, p=[0.3, 0.25, 0.2, 0.15, 0.07, 0.03])
    s = np.minimum(rng.poisson(1.2 * t), 8)
    hidden = {"s": (np.tile(s, times), UniformSelection(9, 3)), "t": (np.tile(t, times), UniformSelection(6, 2))}

    found = estimate(
        release({"draw": np.repeat(np.arange(times), 3_000)}, hidden, 73),
        "draw",
        sensitive="s",
        where="t >= 4",
        estimator="mle",
    )

    assert not any("sets tell too little" in caveat for caveat in found.caveats)  # else limits are those of linear
    truth = np.bincount(s[t >= 4], minlength=9)
    missed = (found.high < truth)[:, truth >= 25].mean(axis=1)
    # Publications are independent: if upper limits miss in .035 or less, this fails with probability 1e-5.
    assert missed.mean() <= 0.035 + stats.norm.ppf(1 - 1e-5) * missed.std(ddof=1) / np.sqrt(times)
