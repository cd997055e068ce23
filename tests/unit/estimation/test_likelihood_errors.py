"""Errors of mle, map and auto: the curvature of the likelihood, against matrices that are written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize

from ldiversity.distances import OrderedDistance
from ldiversity.estimation import Estimate, estimate
from ldiversity.estimation._likelihood import SetLikelihood
from ldiversity.estimation._likelihood_errors import _doubts, _pulls
from ldiversity.mechanisms import BalancedSelection, SetMechanism, SimpleSelection, UniformSelection
from ldiversity.schema import Domain

ORDERED = Domain(tuple(range(9)), ordered=True)
MECHANISMS = {
    "uniform": UniformSelection(n_values=9, l=3),
    "simple": SimpleSelection.fit(ORDERED, OrderedDistance(), l=3, d=2),
    "balanced": BalancedSelection.fit(ORDERED, OrderedDistance(), l=3, d=2),
}
SKEWED = np.repeat(np.arange(9), [200, 90, 60, 30, 10, 6, 4, 0, 0])


@pytest.fixture(params=list(MECHANISMS))
def mechanism(request: pytest.FixtureRequest) -> SetMechanism:
    return MECHANISMS[request.param]


@pytest.fixture
def answer(publish: Any, mechanism: SetMechanism) -> tuple[Estimate, np.ndarray]:
    """An estimate by mle, and P(set | value) for each of its records."""
    release = publish({}, {"s": SKEWED}, {"s": mechanism}, seed=3)
    sets = release.sets("s")
    table = np.zeros((len(sets), 9))
    np.put_along_axis(table, sets.astype(np.int64), mechanism.likelihood(sets), axis=1)
    return estimate(release, estimator="mle"), table


def written_out(table: np.ndarray, little: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of the true counts, half a record more for each value, on the space of zero sums.

    Where the curvature is taken, each value may have as `little` more instead.
    """
    n, size = table.shape
    shares, total = np.full(size, 1 / size), n + size / 2
    for _ in range(5000):
        joint = table * shares
        shares = ((joint / joint.sum(axis=1, keepdims=True)).sum(axis=0) + 0.5) / total
    slopes = table / (table @ shares)[:, None]
    information = slopes.T @ slopes + np.diag(little / shares**2)
    basis = np.linalg.svd(np.ones((1, size)))[2][1:].T
    of_sets = basis @ np.linalg.inv(basis.T @ information @ basis) @ basis.T
    of_values = (np.diag(shares) - np.outer(shares, shares)) / total
    return total * shares - 0.5, total**2 * (of_sets - of_values)


def alone(table: np.ndarray, sure: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The likeliest count of each value that is not sure if no other one of these had a record, and its variance."""
    chances, counts, variances = table @ sure / sure.sum(), np.zeros(len(sure)), np.zeros(len(sure))
    for value in np.flatnonzero(sure == 0):
        own = table[:, value]
        told = (chances > 0) | (own > 0)
        apart, rest, n = own[told] - chances[told], chances[told], int(told.sum())

        def lack(share: float, apart: np.ndarray = apart, rest: np.ndarray = rest) -> float:
            return -float(np.log(rest + share * apart).sum())

        share = optimize.minimize_scalar(lack, bounds=(1e-9, 0.999), method="bounded", options={"xatol": 1e-9}).x
        counts[value] = n * share
        variances[value] = max(n**2 / np.square(apart / (rest + share * apart)).sum() - n * share, 0.0)
    return counts, variances


def test_the_covariance_is_what_sets_leave_open(answer: tuple[Estimate, np.ndarray]) -> None:
    result, table = answer

    mean, covariance = written_out(table)
    off = result.count[0] - mean

    assert np.allclose(result.covariance(), covariance + np.outer(off, off), rtol=0.02, atol=0.05)


def test_standard_errors_are_the_diagonal_of_the_covariance(answer: tuple[Estimate, np.ndarray]) -> None:
    result, _ = answer

    assert np.allclose(result.std_error[0] ** 2, np.diag(result.covariance()))


def test_errors_of_counts_add_up_to_nothing(answer: tuple[Estimate, np.ndarray]) -> None:
    result, _ = answer

    assert np.allclose(result.covariance().sum(axis=1), 0, atol=0.1)


def test_limits_are_standard_errors_and_half_a_record_beyond_both_estimates(
    answer: tuple[Estimate, np.ndarray],
) -> None:
    result, table = answer
    mean, covariance = written_out(table)
    published = result._cells.counts[0]

    deviation = np.sqrt(np.diag(covariance))
    reach = np.hypot(1.96 * deviation, 0.5)
    low = np.minimum(result.count[0], mean) - reach
    one_side = result.count[0] - 1.645 * deviation - 0.5  # for counts that are hardly ever above their upper limits
    low = np.maximum(np.maximum(low, np.minimum(one_side, deviation)), 0)
    reach += (1.96**2 - 1) / 6 * np.minimum(deviation / (mean + 0.5), 1) * deviation
    high = np.maximum(result.count[0], mean) + reach
    doubtful = mean < 1.5 * deviation
    count, open_yet = alone(table, np.where(doubtful, 0, mean + 0.5))
    far = count - mean > deviation
    room = count + np.where(far, np.hypot(1.96 * np.sqrt(open_yet), 0.5), 0)
    allowed = mean + np.hypot(1.96 * np.sqrt(np.diag(written_out(table, 0.25)[1])), 0.5)
    high = np.minimum(np.maximum(high, np.where(doubtful, np.minimum(room, allowed), 0)), published)

    narrower = result.high[0] - result.low[0] < high - low - 0.2  # there, linear's are taken
    assert np.allclose(result.low[0][~narrower], low[~narrower], atol=0.1)
    assert np.allclose(result.high[0][~narrower], high[~narrower], atol=0.1)
    assert not narrower.all()


@pytest.mark.parametrize("name", ["mle", "map", "auto"])
def test_intervals_are_never_wider_than_those_of_linear(publish: Any, mechanism: SetMechanism, name: str) -> None:
    cells = {"g": np.arange(8 * len(SKEWED)) % 8}
    release = publish(cells, {"s": np.tile(SKEWED, 8)}, {"s": mechanism}, seed=4)

    result, linear = (estimate(release, "g", estimator=each) for each in (name, "linear"))

    low, high = np.minimum(linear.low, result.count), np.maximum(linear.high, result.count)
    assert (result.high - result.low <= high - low + 1e-9).all()
    assert (result.high - result.low).sum() < 0.9 * (high - low).sum()


@pytest.mark.parametrize("name", ["mle", "map", "auto"])
def test_small_cells_have_the_errors_of_linear_and_the_result_says_so(
    publish: Any, mechanism: SetMechanism, name: str
) -> None:
    cells = {"g": ["large"] * len(SKEWED) + ["small"] * 89}
    release = publish(cells, {"s": np.concatenate([SKEWED, np.arange(89) % 9])}, {"s": mechanism}, seed=5)

    result, linear = (estimate(release, "g", estimator=each) for each in (name, "linear"))

    assert not np.allclose(result.std_error[0], linear.std_error[0])
    np.testing.assert_array_equal(result.std_error[1], linear.std_error[1])
    np.testing.assert_array_equal(result.covariance(1), linear.covariance(1))
    said = "Standard errors and intervals in 1 small cell are those of linear, widened to hold the reported count."
    assert said in result.caveats


@pytest.mark.parametrize("name", ["mle", "map", "auto"])
def test_where_sets_tell_little_large_cells_have_the_intervals_of_linear_and_the_result_says_so(
    publish: Any, name: str
) -> None:
    # Sets of eight of nine values, and two values without records: their share of 400 is anybody's guess.
    release = publish({}, {"s": SKEWED}, {"s": UniformSelection(n_values=9, l=8)}, seed=13)

    result, linear = (estimate(release, estimator=each) for each in (name, "linear"))

    np.testing.assert_array_equal(result.low, np.minimum(np.maximum(linear.low, 0), result.count))
    np.testing.assert_array_equal(result.high, np.maximum(linear.high, result.count))
    said = "Intervals are those of linear, widened to hold the reported count, where sets tell too little about values"
    assert any(caveat.startswith(said) for caveat in result.caveats)
    # Counts err by less than those of linear, and standard errors say so.
    assert (result.std_error**2).sum() < (linear.std_error**2).sum()
    assert np.allclose(result.std_error[0] ** 2, np.diag(result.covariance()))
    # But they are biased there, so figures are made from those of linear.
    assert result.proportion("v0").value == linear.proportion("v0").value
    assert result.proportion("v0").std_error == linear.proportion("v0").std_error
    assert any("unbiased counts of linear" in caveat for caveat in result.proportion("v0").caveats)


def test_small_and_doubtful_cells_are_counted_apart(publish: Any) -> None:
    cells = {"g": ["large"] * len(SKEWED) + ["small"] * 20}
    codes = np.concatenate([SKEWED, np.arange(20) % 9])
    release = publish(cells, {"s": codes}, {"s": UniformSelection(n_values=9, l=8)}, seed=13)

    caveats = estimate(release, "g", estimator="mle").caveats

    said = "are those of linear, widened to hold the reported count"
    assert f"Standard errors and intervals in 1 small cell {said}." in caveats
    assert f"Intervals in 1 larger cell {said}, where sets tell too little about values with few records." in caveats


def test_a_value_that_explains_all_sets_without_the_commonest_one_may_have_them_all(publish: Any) -> None:
    # Values 0 and 1 are never together. The two sets without value 0 hold value 1 and four more, which share them.
    mechanism = BalancedSelection.fit(Domain(tuple(range(12)), ordered=True), OrderedDistance(), l=5, d=2)
    release = publish({}, {"s": np.repeat([0, 1], [118, 2])}, {"s": mechanism}, seed=1)

    result = estimate(release, estimator="mle")

    assert not any("sets tell too little" in caveat for caveat in result.caveats)
    assert result.high[0, 1] == 2


def test_limits_leave_no_room_for_counts_that_the_sets_of_many_values_contradict(publish: Any) -> None:
    # Eighteen rare values, each with some records of its own: none of them can have those of all others.
    mechanism = UniformSelection(n_values=20, l=5)
    release = publish({}, {"s": np.repeat(np.arange(20), [400, 300, *[6] * 18])}, {"s": mechanism}, seed=6)
    sets = release.sets("s")
    table = np.zeros((len(sets), 20))
    np.put_along_axis(table, sets.astype(np.int64), 1.0, axis=1)

    result = estimate(release, estimator="mle")

    mean, covariance = written_out(table)
    deviation = np.sqrt(np.diag(covariance))
    doubtful = mean < 1.5 * deviation
    count, open_yet = alone(table, np.where(doubtful, 0, mean + 0.5))
    room = count + np.hypot(1.96 * np.sqrt(open_yet), 0.5)
    allowed = mean + np.hypot(1.96 * np.sqrt(np.diag(written_out(table, 0.25)[1])), 0.5)
    cut = doubtful & (count - mean > deviation) & (room > allowed + 1)
    assert cut.sum() > 5
    assert (result.high[0][cut] > allowed[cut] - 0.2).all()
    assert (result.high[0][cut] < room[cut] - 0.5).all()


@pytest.mark.parametrize("name", list(MECHANISMS))
def test_counts_of_values_alone_are_the_likeliest_ones(publish: Any, name: str) -> None:
    sets = publish({}, {"s": SKEWED}, {"s": MECHANISMS[name]}, seed=9).sets("s")
    likelihood = SetLikelihood.made([MECHANISMS[name]], [sets], np.ones(len(sets)), np.array([0, len(sets)]))
    table = np.zeros((len(sets), 9))
    np.put_along_axis(table, sets.astype(np.int64), MECHANISMS[name].likelihood(sets), axis=1)
    sure = np.array([200.0, 90, 60, 30, 0, 0, 0, 0, 0])

    counts, variances = likelihood.alone(sure[None])

    expected, open_yet = alone(table, sure)
    assert np.allclose(counts[0], expected, atol=0.02)  # the search ends at a hundredth of a record
    told = expected > 1  # near zero the curvature hardly depends on the count
    assert told.any()
    assert np.allclose(variances[0][told], open_yet[told], rtol=0.01)
    assert not likelihood.alone(np.zeros((1, 9)))[0].any()  # where no value is sure, nothing is said


def test_a_set_that_neither_a_sure_value_nor_the_doubtful_one_explains_is_left_out() -> None:
    # The last two sets cannot be those of value 1, whose likelihood is zero there, and hold no sure value.
    sets = np.array([[0, 1], [0, 1], [1, 2], [1, 2]], dtype=np.int32)
    told = np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 1.0], [0.0, 1.0]])

    counts, _ = SetLikelihood(3, sets, told, np.ones(4), np.array([0, 4])).alone(np.array([[1.0, 0, 0]]))

    assert counts[0, 1] <= 1  # of two records that value 0 explains as well
    assert counts[0, 2] == pytest.approx(2, abs=0.02)


def test_the_pull_of_values_that_may_be_without_records_is_a_regression() -> None:
    # Two values, of which the second may be without records: the first one moves by what the second has.
    information = np.array([[[90.0, 8.0], [8.0, 2.5]]])
    most, deviation = np.array([[98.0, 3.0]]), np.array([[4.0, 4.0]])

    found = _pulls(information, most, deviation)

    assert found[0] == pytest.approx(98 * 8 * (2.5 / 3) / 90 / 4)
    assert _pulls(information, most, np.array([[90.0, 4.0]]))[0] == np.inf  # every value may be
    assert _pulls(information, most, np.array([[4.0, 1.0]]))[0] == 0  # none may be


def test_doubt_is_pull_times_information_of_the_half_records_of_others() -> None:
    rng = np.random.default_rng(0)
    chances = rng.dirichlet([3.0, 0.3, 0.2, 0.1], size=60)
    information = chances.T @ chances + np.diag([0.5] * 4)
    most = chances.sum(axis=0) + 0.5  # so counts and information belong together
    inverse = np.linalg.inv(information)
    deviation = np.sqrt(most**2 * np.diag(inverse) - most)

    found = _doubts(inverse[None], most[None], deviation[None])[0]

    # Written out on the space of zero sums: the slope and the curvature of half a record are 1/(2u) and 1/(2u^2).
    basis = np.linalg.svd(np.ones((1, 4)))[2][1:].T
    scaled = information / np.outer(most, most)
    spread = basis @ np.linalg.inv(basis.T @ scaled @ basis) @ basis.T
    slopes, curvatures = 0.5 / most, 0.5 / most**2
    pulls, shares = [], []
    for j in range(4):
        others = np.arange(4) != j
        pulls.append(-(spread[j] * slopes)[others].sum() / deviation[j])
        shares.append((spread[j] ** 2 * curvatures)[others].sum() / spread[j, j])
    assert found == pytest.approx(max(pulls) * max(shares))


def test_values_that_are_told_apart_have_no_doubt() -> None:
    # Each record shows its value: half a record of one value says nothing about another, but that shares sum to one.
    most = np.array([[60.5, 30.5, 0.5]])
    inverse = np.array([np.diag(1 / most[0])])

    assert _doubts(inverse, most, np.zeros((1, 3)))[0] == 0


def test_the_pull_of_the_prior_is_part_of_the_error_of_map(publish: Any, mechanism: SetMechanism) -> None:
    # Cell b is unlike the release: map draws its counts towards that of a.
    codes = np.concatenate([np.zeros(4000, dtype=int), np.arange(200) % 9])
    release = publish({"g": ["a"] * 4000 + ["b"] * 200}, {"s": codes}, {"s": mechanism}, seed=6)

    mle, map_ = (estimate(release, "g", estimator=each) for each in ("mle", "map"))

    pulled = np.abs(map_.count[1, 0] - mle.count[1, 0])
    assert pulled > 1
    assert map_.std_error[1, 0] > mle.std_error[1, 0]


def test_intervals_of_map_are_those_of_mle_and_hold_its_count(publish: Any, mechanism: SetMechanism) -> None:
    cells = {"g": np.arange(8 * len(SKEWED)) % 8}
    release = publish(cells, {"s": np.tile(SKEWED, 8)}, {"s": mechanism}, seed=11)

    mle, map_ = (estimate(release, "g", estimator=each) for each in ("mle", "map"))

    inside = (mle.low <= map_.count) & (map_.count <= mle.high)
    assert inside.mean() > 0.9
    # The two searches end within .045 and .14 standard errors of the maximum.
    assert (np.abs(map_.low - mle.low) <= 0.2 * mle.std_error)[inside].all()
    assert (np.abs(map_.high - mle.high) <= 0.2 * mle.std_error)[inside].all()
    assert ((map_.low <= map_.count) & (map_.count <= map_.high)).all()


def test_auto_is_mle_in_large_cells(publish: Any, mechanism: SetMechanism) -> None:
    cells = {"g": ["large"] * len(SKEWED) + ["small"] * 20}
    release = publish(cells, {"s": np.concatenate([SKEWED, np.arange(20) % 9])}, {"s": mechanism}, seed=12)

    mle, auto = (estimate(release, "g", estimator=each) for each in ("mle", "auto"))

    for name in ("count", "std_error", "low", "high"):
        np.testing.assert_array_equal(getattr(auto, name)[0], getattr(mle, name)[0])


def test_cells_of_one_value_have_narrow_intervals_that_hold(publish: Any, mechanism: SetMechanism) -> None:
    release = publish({}, {"s": np.full(400, 4)}, {"s": mechanism}, seed=7)

    result, linear = (estimate(release, estimator=each) for each in ("mle", "linear"))

    truth = np.bincount([4] * 400, minlength=9)
    assert ((result.low <= truth) & (truth <= result.high)).all()
    assert (result.high - result.low).sum() < 0.5 * (linear.high - linear.low).sum()


@pytest.mark.parametrize("one", [MECHANISMS["balanced"], UniformSelection(n_values=9, l=2)], ids=["balanced", "pairs"])
def test_joint_distributions_and_filters_have_errors_by_likelihood(publish: Any, one: SetMechanism) -> None:
    codes, two = np.tile(SKEWED, 4), UniformSelection(n_values=4, l=2)
    columns = {"g": np.arange(len(codes)) % 2}
    release = publish(columns, {"s": codes, "t": codes % 4}, {"s": one, "t": two}, seed=8)

    result, linear = (
        estimate(release, sensitive=["s", "t"], where="g = 1", estimator=each) for each in ("mle", "linear")
    )

    truth = np.zeros((9, 4))
    np.add.at(truth, (codes[1::2], codes[1::2] % 4), 1)
    off = np.abs(result.count[0] - truth.ravel())
    assert not any("Standard errors" in caveat for caveat in result.caveats)
    # 36 near-normal errors: beyond 5 standard errors and a record in 2e-5 of all seeds.
    assert (off < 5 * result.std_error[0] + 1).all()
    assert (result.std_error**2).sum() < (linear.std_error**2).sum()
    # Sets of three values at a distance tell too little about pairs: those intervals are linear's.
    doubted = any("sets tell too little" in caveat for caveat in result.caveats)
    assert doubted == (one.l > 2)
    assert doubted or (result.high - result.low).sum() < 0.6 * (linear.high - linear.low).sum()


def test_very_many_values_have_the_errors_of_linear(publish: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldiversity.estimation._likelihood_errors.VALUE_LIMIT", 8)
    release = publish({}, {"s": SKEWED}, {"s": MECHANISMS["uniform"]}, seed=9)

    result, linear = (estimate(release, estimator=each) for each in ("mle", "linear"))

    np.testing.assert_array_equal(result.std_error, linear.std_error)
    said = "Standard errors and intervals are those of linear, widened to hold the reported count."
    assert said in result.caveats


def test_the_same_release_has_the_same_errors_every_time(publish: Any, mechanism: SetMechanism) -> None:
    release = publish({}, {"s": SKEWED}, {"s": mechanism}, seed=10)

    one, other = estimate(release), estimate(release)

    for name in ("count", "std_error", "low", "high"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
