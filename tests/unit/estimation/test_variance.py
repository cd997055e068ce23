"""Standard errors and covariances against enumeration."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from ldiversity.errors import UnsupportedError
from ldiversity.estimation import _variance as variance
from ldiversity.estimation import estimate
from ldiversity.mechanisms import SetMechanism, UniformSelection


def vectors(release: Any, names: list[str], rows: np.ndarray) -> np.ndarray:
    """a_i of every record, by the definition."""
    parts = []
    for name in names:
        mechanism = release.mechanism(name)
        members = (release.sets(name)[rows][:, :, None] == np.arange(mechanism.n_values)).any(axis=1)
        parts.append(members @ mechanism.inverse.T)
    whole = parts[0]
    for part in parts[1:]:
        whole = (whole[:, :, None] * part[:, None, :]).reshape(len(part), -1)
    return whole


def expected_covariance(release: Any, names: list[str], rows: np.ndarray) -> np.ndarray:
    a = vectors(release, names, rows)
    return a.T @ a - np.diag(a.sum(axis=0))


@pytest.mark.parametrize("kind", ["uniform", "simple", "balanced"])
def test_standard_errors_are_the_root_of_the_set_covariance(
    kind: str, publish: Any, request: pytest.FixtureRequest
) -> None:
    mechanism = request.getfixturevalue(kind)
    codes = np.arange(600) % mechanism.n_values
    release = publish({"g": ["a", "b"] * 300}, {"s": codes}, {"s": mechanism})

    result = estimate(release, "g", estimator="linear")

    exact = expected_covariance(release, ["s"], np.arange(600) % 2 == 1)
    assert np.allclose(result.covariance(1), exact)
    assert np.allclose(result.std_error[1] ** 2, np.maximum(np.diag(exact), 0))


@pytest.mark.parametrize("n_rows", [40, 4000])
def test_sums_over_records_and_over_pairs_agree(n_rows: int, publish: Any, simple: SetMechanism) -> None:
    release = publish({"g": ["a", "b"] * (n_rows // 2)}, {"s": np.arange(n_rows) % 9}, {"s": simple})
    cells = estimate(release, "g", estimator="linear")._cells

    by_record = variance._square_sums_by_record(cells, simple.inverse)

    assert np.allclose(by_record, variance._square_sums_by_pairs(cells, simple.inverse))


def test_joint_standard_errors_are_those_of_the_product_sets(publish: Any, uniform: SetMechanism) -> None:
    other = UniformSelection(n_values=4, l=2)
    codes = {"s": np.arange(300) % 6, "t": np.arange(300) % 4}
    release = publish({"g": ["a", "b", "b"] * 100}, codes, {"s": uniform, "t": other})

    result = estimate(release, "g", sensitive=["s", "t"], estimator="linear")

    exact = expected_covariance(release, ["s", "t"], np.arange(300) % 3 > 0)
    assert np.allclose(result.covariance(1), exact)
    assert np.allclose(result.std_error[1] ** 2, np.maximum(np.diag(exact), 0))


def test_the_covariance_estimate_is_unbiased_for_every_true_value(simple: SetMechanism) -> None:
    # Enumerated: E[sum a a' - diag(V^)] for one record of each true value is the covariance of a.
    sets = np.array(list(combinations(range(9), 3)), dtype=np.int32)
    sets = sets[simple.admits(sets)]
    likelihood = simple.likelihood(sets)
    members = (sets[:, :, None] == np.arange(9)).any(axis=1)
    a = members @ simple.inverse.T
    given = np.zeros((len(sets), 9))
    np.put_along_axis(given, sets.astype(np.int64), likelihood, axis=1)
    given /= given.sum(axis=0)

    for v in range(9):
        mean = given[:, v] @ a
        second = (a * given[:, [v]]).T @ a
        assert np.allclose(mean, np.eye(9)[v])
        assert np.allclose(second - np.diag(mean), second - np.outer(mean, mean))


def test_uniform_covariance_has_its_closed_form_in_expectation(publish: Any, uniform: SetMechanism) -> None:
    release = publish({}, {"s": np.arange(5000) % 6}, {"s": uniform})

    result = estimate(release, estimator="linear")

    n, f, l = 5000, 6, 3
    assert np.allclose(result.std_error[0] ** 2, (n - result.count[0]) * (l - 1) / (f - l))


@pytest.mark.parametrize("estimator", ["naive", "existing"])
def test_estimates_from_single_counts_have_exact_errors_without_sets(
    estimator: str, publish: Any, simple: SetMechanism
) -> None:
    columns, codes = {"g": ["a"] * 900}, {"s": np.arange(900) % 9}
    release = publish(columns, codes, {"s": simple}, exploded=True)

    result = estimate(release, estimator=estimator)

    q, scale = simple.inclusion, {"naive": 1 / 3, "existing": 1 / (1 - 2 / 8)}[estimator]
    linear = estimate(release, estimator="linear").count[0]
    assert np.allclose(result.std_error[0], np.sqrt(linear @ (q * (1 - q))) * scale)


def test_exploded_rows_use_the_variance_factors(publish: Any, simple: SetMechanism) -> None:
    release = publish({"g": ["a"] * 900}, {"s": np.arange(900) % 9}, {"s": simple}, exploded=True)

    result = estimate(release, estimator="linear")

    assert np.allclose(result.std_error[0] ** 2, simple.variance_factors @ result.count[0])


def test_exploded_and_whole_sets_give_the_same_counts(publish: Any, simple: SetMechanism) -> None:
    columns, codes = {"g": ["a", "b", "b"] * 300}, {"s": np.arange(900) % 9}
    whole = publish(columns, codes, {"s": simple})
    exploded = publish(columns, codes, {"s": simple}, exploded=True)

    assert np.allclose(
        estimate(whole, "g", estimator="simplex").count, estimate(exploded, "g", estimator="simplex").count
    )
    assert estimate(exploded, "g").records.tolist() == [300, 600]


def test_covariance_needs_sets(publish: Any, simple: SetMechanism) -> None:
    release = publish({"g": ["a"] * 90}, {"s": np.arange(90) % 9}, {"s": simple}, exploded=True)

    with pytest.raises(UnsupportedError, match="covariance needs published sets"):
        estimate(release).covariance()


def test_dummies_of_a_combination_are_bounded_by_enumeration(uniform: SetMechanism, simple: SetMechanism) -> None:
    class Cells:
        mechanisms = (simple, uniform)

    least, most = variance.dummy_range(Cells())  # type: ignore[arg-type]

    q = np.kron(simple.inclusion, uniform.inclusion)
    assert np.allclose(least, np.where(np.eye(54), np.inf, q).min(axis=0))
    assert np.allclose(most, np.where(np.eye(54), -np.inf, q).max(axis=0))
