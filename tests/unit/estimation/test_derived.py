"""Figures that follow from an estimate: numbers that can be checked by hand, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.estimation import Estimate, estimate, trend
from ldiversity.estimation._moments import CellMoments
from ldiversity.estimation._quantity import Ratios, fieller
from ldiversity.mechanisms import SetMechanism, UniformSelection
from ldiversity.release import Release, SetRelease
from ldiversity.schema import Attribute, Domain, Role, Schema

N = 1200
VALUES = Domain((10, 20, 30, 40, 50, 60), ordered=True)
BINS = Domain(
    ("a", "b", "c", "d", "e", "f"), ordered=True, positions=(5, 15, 25, 35, 45, 55), edges=(0, 10, 20, 30, 40, 50, 60)
)


def numbers(domain: Domain = VALUES, times: int = 1) -> Release:
    rng, mechanism = np.random.default_rng(3), UniformSelection(n_values=6, l=3)
    codes = np.tile(np.arange(6), N * times // 6).astype(np.int32)
    sets, _ = mechanism.sample(codes, rng.integers(0, 2**64, (len(codes), 40), dtype=np.uint64))
    kind = "int64" if domain is VALUES else "string"
    return SetRelease.in_memory(
        schema=Schema(
            (
                *(Attribute(x, Role.QUASI, "string") for x in ("sex", "place")),
                Attribute("s", Role.SENSITIVE, kind, domain),
            )
        ),
        columns=pa.table({"sex": ["F", "M"] * (len(codes) // 2), "place": ["x", "x", "y", "y"] * (len(codes) // 4)}),
        sets={"s": np.sort(sets, axis=1)},
        mechanisms={"s": mechanism},
    )


@pytest.fixture(scope="module")
def linear() -> Estimate:
    return estimate(numbers(), ["sex", "place"], estimator="linear")


def test_a_share_and_its_error_are_those_of_the_counts(linear: Estimate) -> None:
    found = linear.proportion(20, ("F", "x"))

    assert found.value == pytest.approx(linear.share[0, 1])
    assert found.std_error == pytest.approx(np.sqrt(linear.covariance(0)[1, 1]) / linear.records[0])
    assert found.high - found.value == pytest.approx(1.959964 * (found.std_error or 0))


def test_cells_are_put_together_by_a_mapping(linear: Estimate) -> None:
    found = linear.proportion([20, 30], {"sex": "F"})

    assert found.value == pytest.approx(linear.count[:2, 1:3].sum() / linear.records[:2].sum())
    assert linear.proportion(20).value == pytest.approx(linear.count[:, 1].sum() / N)


def test_a_difference_adds_variances_of_independent_cells(linear: Estimate) -> None:
    one, two = linear.proportion(20, ("F", "x")), linear.proportion(20, ("M", "x"))

    found = linear.difference(20, between=(("F", "x"), ("M", "x")))

    assert found.value == pytest.approx(one.value - two.value)
    assert found.std_error == pytest.approx(np.hypot(one.std_error or 0, two.std_error or 0))


def test_a_population_adds_the_error_of_sampling(linear: Estimate) -> None:
    table, wider = linear.proportion(20, ("F", "x")), linear.proportion(20, ("F", "x"), population=True)

    share = table.value
    added = share * (1 - share) / linear.records[0]
    assert (wider.std_error or 0) ** 2 == pytest.approx((table.std_error or 0) ** 2 + added)


def test_a_mean_is_that_of_the_counts(linear: Estimate) -> None:
    found, factors = linear.mean(("F", "x")), np.array(VALUES.values)

    assert found.value == pytest.approx(linear.share[0] @ factors)
    assert found.std_error == pytest.approx(np.sqrt(factors @ linear.covariance(0) @ factors) / linear.records[0])
    ratio = linear.ratio(between=(("F", "x"), ("M", "x")))
    assert ratio.value == pytest.approx(found.value / linear.mean(("M", "x")).value)
    assert ratio.low < ratio.value < ratio.high


def test_quantiles_hold_the_truth_and_say_what_bins_do() -> None:
    exact, binned = estimate(numbers(times=5), estimator="linear"), estimate(numbers(BINS, times=5), estimator="linear")

    assert (exact.quantile(0.25).value, exact.quantile(0.99).value) == (20, 60)
    median = binned.quantile(0.5)
    assert (median.low, median.high) in {(20, 30), (20, 40)}
    assert median.value == pytest.approx(30, abs=4)
    assert "bins" in median.caveats[0]
    assert "half the width of the bins" in binned.mean().caveats[0]


def test_ratios_follow_the_delta_method() -> None:
    counts, whole = np.array([[4.0, 6.0]]), np.array([[2.0, -1.0], [-1.0, 3.0]])
    moments = CellMoments(counts, lambda _: whole)
    above, below = np.array([[[1.0, 0.0]]]), np.array([[[1.0, 1.0]]])

    found = Ratios.of(moments, above, below, population=False)

    gradient = np.array([6.0, -4.0]) / 100
    assert found.values[0] == pytest.approx(0.4)
    assert found.covariance[0, 0] == pytest.approx(gradient @ whole @ gradient)


def test_fieller_is_where_the_difference_is_not_far_from_zero() -> None:
    values, covariance = np.array([0.2, 0.3]), np.array([[0.0004, 0.0001], [0.0001, 0.0003]])

    for end in fieller(values, covariance, 1.96):
        error = np.sqrt(covariance[0, 0] - 2 * end * covariance[0, 1] + end**2 * covariance[1, 1])
        assert abs(values[0] - end * values[1]) == pytest.approx(1.96 * error)


def test_biased_counts_are_replaced_and_that_is_said() -> None:
    found = estimate(numbers(), ["sex", "place"], estimator="map").proportion(20, ("F", "x"))

    assert "unbiased counts of linear" in found.caveats[0]
    assert estimate(numbers(), "sex", estimator="mle").proportion(20, "F").caveats == ()


def test_a_trend_has_a_change_for_each_step_and_for_all() -> None:
    one, two = numbers(), numbers(times=2)

    found = trend({"a": one, "b": two, "c": one}, 20)

    assert [(change.earlier, change.later) for change in found.changes] == [("a", "b"), ("b", "c"), ("a", "c")]
    assert found.changes[2].value == 0
    assert found.changes[2].pvalue == 1
    assert found.changes[0].std_error == pytest.approx(np.hypot(found.points[0].std_error, found.points[1].std_error))
    assert "key" in found.caveats[-1]


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda one: one.proportion(99), "must name values among"),
        (lambda one: one.proportion([]), "got none"),
        (lambda one: one.proportion([20, "20"]), "must name each value once"),
        (lambda one: one.proportion(20, "F"), "a label for each of"),
        (lambda one: one.proportion(20, {"age": 3}), "must name columns among"),
        (lambda one: one.proportion(20, ("F", "z")), "must be one of the cells"),
        (lambda one: one.difference(20, between="F"), "must be two groups"),
        (lambda one: one.difference(20, between=({"sex": "F"}, {"place": "x"})), "no cell in common"),
        (lambda one: one.quantile(1), "must be between 0 and 1"),
    ],
)
def test_what_is_not_there_is_refused(linear: Estimate, ask: Callable[[Estimate], Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        ask(linear)


def test_texts_have_no_mean(publish: Any, uniform: SetMechanism) -> None:
    release = publish({}, {"s": np.arange(60) % 6}, {"s": uniform})

    with pytest.raises(UnsupportedError, match="has no numbers"):
        estimate(release).mean()


def test_one_release_has_no_trend() -> None:
    with pytest.raises(ParameterError, match="at least two"):
        trend([numbers()], 20)


def test_joint_distributions_and_classes_are_refused(publish: Any, uniform: SetMechanism, bucketize: Any) -> None:
    joint = publish({}, {"s": np.arange(60) % 6, "t": np.arange(60) % 6}, {"s": uniform, "t": uniform})
    classes = bucketize({"x": [0, 1] * 4}, np.repeat(np.arange(4), 2), {"s": [0, 1] * 4})

    with pytest.raises(UnsupportedError, match="not for a joint distribution"):
        estimate(joint, sensitive=["s", "t"]).proportion("v1")
    with pytest.raises(UnsupportedError, match="has no covariance"):
        estimate(classes, "x").proportion("v1", 0)
