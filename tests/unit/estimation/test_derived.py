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

    share, records = table.value, linear.records[0]
    # No share is certain: half a record more has the value, which is not the commonest one.
    assert linear.count[0].argmax() != 1
    near = 0.5 / (records + 1)
    added = max(share * (1 - share), near * (1 - near)) / records
    assert (wider.std_error or 0) ** 2 == pytest.approx((table.std_error or 0) ** 2 + added)


def test_a_mean_is_that_of_the_counts(linear: Estimate) -> None:
    found, factors = linear.mean(("F", "x")), np.array(VALUES.values)

    assert found.value == pytest.approx(linear.share[0] @ factors)
    unbiased = np.sqrt(factors @ linear.covariance(0) @ factors) / linear.records[0]
    assert found.std_error >= unbiased - 1e-12
    assert found.std_error == pytest.approx(unbiased, rel=0.05)
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


def test_no_interval_is_without_width_where_nearly_all_records_have_one_value() -> None:
    # 60 records with 0, published with each other value equally often: all of the unbiased counts are 0 but one.
    sets = np.column_stack([np.zeros(60, dtype=int), 1 + np.arange(60) % 5])
    mechanism = UniformSelection(n_values=6, l=2)
    values = Domain(tuple(range(6)))
    release = SetRelease.in_memory(
        schema=Schema((Attribute("x", Role.QUASI, "int64"), Attribute("s", Role.SENSITIVE, "int64", values))),
        columns=pa.table({"x": np.zeros(60, dtype=int)}),
        sets={"s": sets.astype(np.int32)},
        mechanisms={"s": mechanism},
    )

    found = estimate(release, estimator="linear")

    # The unbiased variance is 0. But the other member is the true value with chances of half a record to 60.5.
    assert abs(found.covariance()[0, 0]) < 1e-9
    assert found.proportion(0).std_error == pytest.approx(np.sqrt(60 * 0.5 / 61) / 60)


def test_few_records_tell_little_about_a_share() -> None:
    values = Domain(tuple(range(6)))
    release = SetRelease.in_memory(
        schema=Schema((Attribute("x", Role.QUASI, "int64"), Attribute("s", Role.SENSITIVE, "int64", values))),
        columns=pa.table({"x": [0]}),
        sets={"s": np.array([[0, 4]], dtype=np.int32)},
        mechanisms={"s": UniformSelection(n_values=6, l=2)},
    )

    found = estimate(release)

    # Hoeffding: a set adds 1 or -1/4.
    reach = 1.25 * np.sqrt(np.log(2 / 0.05) / 2)
    for value in (0, 4):
        share = found.proportion(value)
        assert share.low == pytest.approx(1 - reach)
        assert share.high == pytest.approx(1 + reach)


def test_fieller_leaves_out_no_ratio_that_the_estimates_allow() -> None:
    rng = np.random.default_rng(0)
    ratios = np.concatenate([np.linspace(0, 50, 5001), np.logspace(1.7, 6, 2000)])
    for _ in range(500):
        (a, b), c = rng.normal(0, 2, 2) * [1, 0.8], rng.uniform(-0.9, 0.9)
        covariance = np.array([[1.0, c], [c, 1.0]])

        low, high = fieller(np.array([a, abs(b)]), covariance, 1.96)

        allowed = (a - ratios * abs(b)) ** 2 <= 1.96**2 * (1 + ratios**2 - 2 * ratios * c)
        inside = (low <= ratios) & (ratios <= high)
        assert not (allowed & ~inside).any()
        # It holds no other ratios, except those between two pieces.
        first = int(np.argmax(allowed))
        assert not allowed.any() or not inside[:first].any()


def test_fieller_takes_the_positive_root() -> None:
    low, high = fieller(np.array([2.0, 0.1]), np.diag([0.01, 0.01]), 2.0)

    assert low == pytest.approx((-0.2 + np.sqrt(0.2**2 + 0.03 * 3.96)) / 0.03)  # .03 x^2 + .4 x - 3.96 = 0
    assert high == np.inf
    # Two pieces: up to .093, and from 10.68 on.
    assert fieller(np.array([-1.8, 1.8]), np.eye(2), 1.96) == (0, np.inf)
    assert fieller(np.array([-1.8, 1.8]), np.eye(2), 1.96, signed=True) == (-np.inf, np.inf)


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


def test_a_trend_is_about_one_attribute_that_every_release_has() -> None:
    one, other = numbers(), with_missing(name="t")

    with pytest.raises(ParameterError, match="every release, but 'later' has 't', got 's'"):
        trend({"first": one, "later": other}, 20)
    with pytest.raises(ParameterError, match="every release, but 'first' has 's', got 't'"):
        trend({"first": one, "later": other}, 20, sensitive="t")


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


def with_missing(n: int = 80, name: str = "s") -> Release:
    """Every set holds the missing value, so that no record has a number as far as the counts say."""
    values = Domain((10, 20, 30, 40, 50, None))
    rng = np.random.default_rng(1)
    sets = np.array([[*np.sort(rng.choice(5, 3, replace=False)), 5] for _ in range(n)], dtype=np.int32)
    return SetRelease.in_memory(
        schema=Schema((Attribute("w", Role.QUASI, "int64"), Attribute(name, Role.SENSITIVE, "int64", values))),
        columns=pa.table({"w": np.ones(n, dtype=int)}),
        sets={name: sets},
        mechanisms={name: UniformSelection(n_values=6, l=4)},
    )


@pytest.mark.parametrize("given", [{"estimator": "linear"}, {"weights": "w"}])
def test_a_mean_of_no_records_is_not_made_of_rounding(given: dict[str, Any]) -> None:
    found = estimate(with_missing(), **given)

    assert found.count[0, :5].sum() == pytest.approx(0, abs=1e-9)
    refusal = "positive estimated number of records"
    with pytest.raises(UnsupportedError, match=refusal):
        found.mean()
    with pytest.raises(UnsupportedError, match=refusal):
        found.quantile(0.5)


def test_the_share_of_missing_values_is_asked_for_by_none(linear: Estimate) -> None:
    found = estimate(with_missing(), estimator="linear")

    assert found.proportion(None).name == "share of s (missing)"
    assert found.proportion(None).value == pytest.approx(1)
    assert found.proportion(None) == found.proportion("(missing)")
    with pytest.raises(ParameterError, match="must name values among"):
        linear.proportion(None)


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_the_share_of_a_value_by_the_likelihood_holds_the_limits_of_its_count(confidence: float) -> None:
    found = estimate(numbers(), "sex", estimator="mle", confidence=confidence)

    assert set(found.estimator) == {"mle"}
    for cell, sex in enumerate(("F", "M")):
        for code, value in enumerate(VALUES.values):
            for population in (False, True):
                share = found.proportion(value, sex, population=population)
                assert share.low <= found.low[cell, code] / found.records[cell] + 1e-12
                assert share.high >= found.high[cell, code] / found.records[cell] - 1e-12
