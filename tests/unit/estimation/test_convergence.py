"""The search for the greatest likelihood ends where it cannot grow any more, not where its steps become short."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ldiversity._kernels.em import _step
from ldiversity.distances import OrderedDistance
from ldiversity.estimation import estimate
from ldiversity.mechanisms import BalancedSelection, SetMechanism, UniformSelection
from ldiversity.schema import Domain

F, N = 10, 20_000
SHARES = 0.6 ** np.arange(F)
MECHANISMS = {
    "uniform": UniformSelection(n_values=F, l=5),
    "balanced": BalancedSelection.fit(Domain(tuple(range(F)), ordered=True), OrderedDistance(), l=4, d=2),
}


@pytest.fixture(params=list(MECHANISMS))
def mechanism(request: pytest.FixtureRequest) -> SetMechanism:
    return MECHANISMS[request.param]


def published(publish: Any, mechanism: SetMechanism) -> tuple[Any, np.ndarray, np.ndarray]:
    """A release, P(set | value) for each of its different sets, and how often each was published."""
    codes = np.random.default_rng(12).choice(F, N, p=SHARES / SHARES.sum())
    release = publish({}, {"s": codes}, {"s": mechanism}, seed=13)
    sets, weights = np.unique(release.sets("s"), axis=0, return_counts=True)
    table = np.zeros((len(sets), F))
    np.put_along_axis(table, sets.astype(np.int64), mechanism.likelihood(sets), axis=1)
    return release, table, weights.astype(float)


def plain_steps(table: np.ndarray, weights: np.ndarray, steps: int) -> np.ndarray:
    """Expectation maximization as in textbooks."""
    shares = np.full(F, 1 / F)
    for _ in range(steps):
        shares = shares * (table.T @ (weights / (table @ shares))) / weights.sum()
    return shares


def test_very_many_more_steps_move_nothing(publish: Any, mechanism: SetMechanism) -> None:
    release, table, weights = published(publish, mechanism)

    result = estimate(release, estimator="mle")
    slow = plain_steps(table, weights, 30_000)

    # Within a tolerance of 1e-3 the logarithm is the greatest, so counts are within sqrt(2e-3) standard errors.
    gained = weights @ np.log(table @ slow) - weights @ np.log(table @ result.share[0])
    assert gained < 1e-3
    assert (np.abs(result.count[0] - N * slow) < 0.045 * result.std_error[0]).all()


def test_short_steps_are_no_sign_of_the_maximum(publish: Any, mechanism: SetMechanism) -> None:
    _, table, weights = published(publish, mechanism)
    shares, moved = np.full(F, 1 / F), 1.0
    while moved > 1e-5:
        stepped = shares * (table.T @ (weights / (table @ shares))) / N
        shares, moved = stepped, np.abs(stepped - shares).max()

    # What the tests around this one could not tell otherwise: plain steps become short long before.
    assert np.abs(N * (plain_steps(table, weights, 30_000) - shares)).max() > 1


@pytest.mark.parametrize("strength", [0.0, 5.0])
def test_the_logarithm_never_grows_beyond_its_limit(publish: Any, mechanism: SetMechanism, strength: float) -> None:
    release, table, weights = published(publish, mechanism)
    sets = np.unique(release.sets("s"), axis=0)
    likelihood = np.asarray(mechanism.likelihood(sets), dtype=float)
    extra, rng = np.full(F, strength / F), np.random.default_rng(14)

    def objective(shares: np.ndarray) -> float:
        return float(weights @ np.log(table @ shares) + extra @ np.log(shares))

    points = [rng.dirichlet(np.ones(F)) for _ in range(20)] + [np.full(F, 1 / F)]
    best = max(objective(point) for point in points)
    for point in points:
        out = np.empty(F)
        _, limit = _step(sets, likelihood, weights, 0, len(sets), extra, point, out)
        assert best - objective(point) <= limit + 1e-9
