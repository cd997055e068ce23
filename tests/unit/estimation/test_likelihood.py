"""mle and map maximize the likelihood of the sets, with P(set | value) of the mechanism."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize

from ldiversity.distances import OrderedDistance
from ldiversity.estimation import estimate
from ldiversity.estimation._likelihood import global_marginal
from ldiversity.mechanisms import BalancedSelection, RingSelection, SetMechanism, SimpleSelection, UniformSelection
from ldiversity.release import Release
from ldiversity.schema import Domain

ORDERED = Domain(tuple(range(14)), ordered=True)
SHARES = np.linspace(1, 2, 14) / np.linspace(1, 2, 14).sum()
UNEVEN = {
    "simple": SimpleSelection.fit(ORDERED, OrderedDistance(), l=3, d=4),
    "ring": RingSelection.fit(ORDERED, OrderedDistance(), l=3, d=3),
    "calibrated": BalancedSelection.fit(ORDERED, OrderedDistance(), l=3, d=3, prior=SHARES),
}


@pytest.fixture(params=list(UNEVEN))
def uneven(request: pytest.FixtureRequest) -> SetMechanism:
    """A mechanism with sets that do not come from all their members equally often."""
    return UNEVEN[request.param]


def table_of(mechanism: SetMechanism, sets: np.ndarray) -> np.ndarray:
    """P(set | value), one row a record, up to a factor a row."""
    table = np.zeros((len(sets), mechanism.n_values))
    np.put_along_axis(table, sets.astype(np.int64), mechanism.likelihood(sets), axis=1)
    return table


def stepped(table: np.ndarray, shares: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """One plain step of expectation maximization: the maximum is where it moves nothing."""
    joint = table * shares
    expected = (joint / joint.sum(axis=1, keepdims=True)).sum(axis=0) + prior
    return expected / expected.sum()


def brute_force(table: np.ndarray) -> float:
    """The greatest logarithm of the likelihood that a general optimizer finds."""

    def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
        shares = np.exp(x - x.max()) / np.exp(x - x.max()).sum()
        given = table @ shares
        slope = (table / given[:, None]).sum(axis=0)
        return -float(np.log(given).sum()), -shares * (slope - slope @ shares)

    size = table.shape[1]
    return -float(optimize.minimize(loss, np.zeros(size), jac=True, method="L-BFGS-B", options={"ftol": 1e-14}).fun)


def publish_cells(publish: Any, mechanism: SetMechanism) -> Release:
    return publish({"g": ["a"] * 300 + ["b"] * 60}, {"s": np.arange(360) ** 2 % 14}, {"s": mechanism}, seed=9)


def test_mle_reaches_the_maximum_of_the_true_likelihood(publish: Any, uneven: SetMechanism) -> None:
    release = publish_cells(publish, uneven)

    shares = estimate(release, "g", estimator="mle").share[0]

    table = table_of(uneven, release.sets("s")[:300])
    assert np.log(table @ shares).sum() > brute_force(table) - 1e-4


def test_that_maximum_is_not_the_one_of_equally_likely_members(publish: Any, uneven: SetMechanism) -> None:
    release = publish_cells(publish, uneven)
    table = table_of(uneven, release.sets("s")[:300])
    flat = np.full(14, 1 / 14)
    for _ in range(3000):
        flat = stepped((table > 0).astype(float), flat, np.zeros(14))

    # What the tests around this one could not tell apart otherwise.
    assert np.log(table @ flat).sum() < brute_force(table) - 0.1


def test_map_is_the_maximum_with_the_prior(publish: Any, uneven: SetMechanism) -> None:
    release = publish_cells(publish, uneven)

    shares = estimate(release, "g", estimator="map").share[1]

    marginal = global_marginal([uneven], [release.sets("s")])
    moved = stepped(table_of(uneven, release.sets("s")[300:]), shares, 14 * marginal)
    assert np.allclose(moved, shares, atol=1e-5)


def test_the_marginal_is_the_maximum_with_half_a_record_a_value(publish: Any, uneven: SetMechanism) -> None:
    release = publish_cells(publish, uneven)

    marginal = global_marginal([uneven], [release.sets("s")])

    assert np.allclose(stepped(table_of(uneven, release.sets("s")), marginal, np.full(14, 0.5)), marginal, atol=1e-5)


def test_half_a_record_is_what_an_unseen_value_gets_in_the_marginal() -> None:
    sets = np.array([[0, 1, 2]] * 5, dtype=np.int32)

    marginal = global_marginal([UniformSelection(n_values=6, l=3)], [sets])

    assert np.allclose(marginal, np.array([5 / 3 + 0.5] * 3 + [0.5] * 3) / 8, atol=1e-6)


@pytest.mark.parametrize("names", [["s", "t"], ["t", "s"]])
def test_joint_mle_uses_the_likelihood_of_each_attribute(publish: Any, uniform: SetMechanism, names: list[str]) -> None:
    mechanisms = {"s": UNEVEN["simple"], "t": uniform}
    codes = np.arange(4000) ** 2 % 14
    release = publish({}, {"s": codes, "t": codes % 6}, mechanisms, seed=10)

    shares = estimate(release, sensitive=names, estimator="mle").share[0]

    one, two = (table_of(mechanisms[name], release.sets(name)) for name in names)
    table = (one[:, :, None] * two[:, None, :]).reshape(4000, -1)
    assert np.allclose(stepped(table, shares, np.zeros(84)), shares, atol=1e-5)
