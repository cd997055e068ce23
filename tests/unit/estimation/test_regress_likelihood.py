"""The likelihood of sets given predictors: its derivatives against slow references, and its maximum."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from ldiversity.estimation._likelihood import global_marginal
from ldiversity.estimation._regression._design import Design, whiten
from ldiversity.estimation._regression._likelihood import SetLikelihood
from ldiversity.estimation._regression._logit import fit_logit
from ldiversity.estimation._regression._newton import maximize
from ldiversity.estimation._regression._outcomes import Outcomes
from ldiversity.mechanisms import UniformSelection

F, L, WIDTH = 5, 2, 3
EVERY = np.arange(F)
PARTITIONS = {
    "every value": EVERY,
    "one against others": np.array([1, 0, 1, 1, 1]),
    "two pairs": [0, 1, 1, 2, 2],
    "in another order": [2, 0, 4, 1, 3],
}


def outcomes(of_value: object, shares: np.ndarray | None = None) -> Outcomes:
    codes = np.asarray(of_value)
    shares = np.full(F, 1 / F) if shares is None else shares
    return Outcomes(tuple(map(str, range(codes.max() + 1))), codes, int(codes.max()), shares)


def model(of_value: object = EVERY, n: int = 60, *, flat: bool = False, ridge: float = 0.3) -> SetLikelihood:
    rng = np.random.default_rng(3)
    design = np.column_stack([np.ones(n), rng.standard_normal((n, WIDTH - 1))])
    sets = np.sort(rng.random((n, F)).argsort(axis=1)[:, :L], axis=1).astype(np.int32)
    given = np.empty((0, L)) if flat else rng.uniform(0.2, 1, (n, L))
    known = outcomes(of_value)
    prior = rng.normal(0, 0.2, (known.n_logits, WIDTH))
    return SetLikelihood(known, design, sets, given, rng.integers(1, 4, n).astype(float), prior, ridge)


def slow_value(likelihood: SetLikelihood, coefficients: np.ndarray) -> float:
    """Record by record, value by value."""
    known, total = likelihood.outcomes, 0.0
    for i, x in enumerate(likelihood.design):
        logits = [float(row @ x) for row in coefficients]
        outer = {known.reference: 0.0} | dict(zip(known.compared.tolist(), logits, strict=False))
        inner = dict.fromkeys(range(F), 0.0)
        inner |= dict(zip(known.inner.tolist(), logits[len(known.compared) :], strict=True))
        published = 0.0
        for k, value in enumerate(likelihood.candidates[i].tolist()):
            own = int(known.of_value[value])
            alike = [other for other in range(F) if known.of_value[other] == own]
            p = math.exp(outer[own]) / sum(map(math.exp, outer.values()))
            q = math.exp(inner[value]) / sum(math.exp(inner[other]) for other in alike)
            published += p * q * (likelihood.given[i, k] if len(likelihood.given) else 1)
        total += likelihood.weights[i] * math.log(published)
    return total - likelihood.ridge / 2 * float(((coefficients - likelihood.prior) ** 2).sum())


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("of_value", PARTITIONS.values(), ids=PARTITIONS)
def test_value_and_derivatives_are_those_of_the_slow_formula(of_value: object, flat: bool) -> None:  # noqa: FBT001
    likelihood = model(of_value, flat=flat)
    at = np.random.default_rng(4).normal(0, 0.5, likelihood.shape)
    value, gradient, information = likelihood.derivatives(at)
    step = 1e-5

    assert value == pytest.approx(slow_value(likelihood, at), rel=1e-12)
    assert value == pytest.approx(likelihood.value(at), rel=1e-14)
    for place in range(at.size):
        moved = np.zeros(at.size)
        moved[place] = step
        up, down = at + moved.reshape(at.shape), at - moved.reshape(at.shape)
        slope = (slow_value(likelihood, up) - slow_value(likelihood, down)) / (2 * step)
        bend = (likelihood.derivatives(up)[1] - likelihood.derivatives(down)[1]).ravel() / (2 * step)
        assert gradient.ravel()[place] == pytest.approx(slope, abs=1e-5)
        assert -information[place] == pytest.approx(bend, abs=1e-5)


def test_blocks_of_rows_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    likelihood = model(n=700)
    at = np.full(likelihood.shape, 0.1)
    whole = likelihood.derivatives(at)

    monkeypatch.setattr("ldiversity.estimation._regression._likelihood._BLOCK_NUMBERS", 1)
    parts = likelihood.derivatives(at)

    assert len(list(likelihood._blocks())) == 3
    assert whole[0] == pytest.approx(parts[0])
    assert whole[1] == pytest.approx(parts[1])
    assert whole[2] == pytest.approx(parts[2])


def test_without_predictors_it_is_the_maximum_of_the_marginal() -> None:
    rng = np.random.default_rng(5)
    mechanism = UniformSelection(F, L)
    values = rng.choice(F, 4000, p=[0.3, 0.25, 0.2, 0.15, 0.1]).astype(np.int32)
    sets, _ = mechanism.sample(values, rng.integers(0, 2**64, (4000, mechanism.words_per_record), dtype=np.uint64))
    known = outcomes(EVERY)
    ones = np.ones((4000, 1))
    likelihood = SetLikelihood(known, ones, sets, np.empty((0, L)), ones[:, 0], np.zeros((F - 1, 1)), 0.0)

    found = maximize(likelihood, np.zeros((F - 1, 1)))
    shares = np.append(np.exp(found.coefficients[:, 0]), 1)

    # The marginal has half a record of each value more, which moves a share by at most 2.5 / 4,000.
    assert found.reached
    assert shares / shares.sum() == pytest.approx(global_marginal([mechanism], [sets]), abs=1e-3)


def test_steps_never_go_down_even_where_the_likelihood_is_not_concave() -> None:
    likelihood = model(n=40, ridge=0.05)
    start = np.random.default_rng(6).normal(0, 3, likelihood.shape)
    seen = []

    class Watched:
        def value(self, at: np.ndarray) -> float:
            return likelihood.value(at)

        def derivatives(self, at: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
            seen.append(likelihood.derivatives(at))
            return seen[-1]

    found = maximize(Watched(), start)

    assert min(np.linalg.eigvalsh(information)[0] for _, _, information in seen) < 0
    assert seen[0][0] < seen[-1][0]
    assert all(before[0] <= after[0] for before, after in pairwise(seen))
    assert found.reached
    assert np.abs(likelihood.derivatives(found.coefficients)[1]).max() < 1e-4


def test_what_some_rows_say_is_only_where_steps_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    n = 3000
    matrix = np.column_stack([np.ones(n), rng.standard_normal(n)])
    design = whiten(Design(matrix, ("1", "x"), ("1", "x"), None), np.ones(n))
    sets = np.sort(rng.random((n, F)).argsort(axis=1)[:, :L], axis=1).astype(np.int32)
    known = outcomes(EVERY)

    whole = fit_logit(known, design, sets, np.empty((0, L)), np.ones(n))
    monkeypatch.setattr("ldiversity.estimation._regression._logit._FIRST_ROWS", 1000)
    begun = fit_logit(known, design, sets, np.empty((0, L)), np.ones(n))

    assert begun.coefficients == pytest.approx(whole.coefficients, abs=1e-4)
    assert begun.covariance == pytest.approx(whole.covariance, rel=1e-3, abs=1e-6)
