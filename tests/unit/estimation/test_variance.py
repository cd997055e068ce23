"""Standard errors and covariances against enumeration."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.distances import OrderedDistance
from ldiversity.errors import UnsupportedError
from ldiversity.estimation import ESTIMATORS, Estimate, estimate
from ldiversity.estimation import _variance as variance
from ldiversity.estimation._projection import project
from ldiversity.mechanisms import SetMechanism, SimpleSelection, UniformSelection
from ldiversity.release import SetRelease
from ldiversity.schema import Attribute, Domain, Role, Schema

MATRICES = ["linear", "paper", "existing", "naive"]


@pytest.fixture(params=["simple", "balanced"])
def semantic(request: pytest.FixtureRequest) -> SetMechanism:
    return request.getfixturevalue(request.param)


def all_sets(mechanism: SetMechanism) -> tuple[np.ndarray, np.ndarray]:
    """Every set that may be published, and P(set | value), one column a value."""
    sets = np.array(list(combinations(range(mechanism.n_values), mechanism.l)), dtype=np.int32)
    sets = sets[mechanism.admits(sets)]
    # likelihood() leaves a factor open, which balanced selection has as a product over members.
    factor = getattr(mechanism, "theta", np.ones(mechanism.n_values))[sets].prod(axis=1, keepdims=True)
    given = np.zeros((len(sets), mechanism.n_values))
    np.put_along_axis(given, sets.astype(np.int64), factor * mechanism.likelihood(sets), axis=1)
    return sets, given / given.sum(axis=0)


def of_sets(mechanism: SetMechanism, sets: np.ndarray, cells: np.ndarray) -> SetRelease:
    domain = Domain(tuple(range(mechanism.n_values)), ordered=True)
    return SetRelease.in_memory(
        schema=Schema((Attribute("g", Role.QUASI, "int64"), Attribute("s", Role.SENSITIVE, "int64", domain))),
        columns=pa.table({"g": cells}),
        sets={"s": sets},
        mechanisms={"s": mechanism},
    )


def expected_variance(mechanism: SetMechanism, matrix: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The variance of ``matrix @ W`` for true counts, by enumeration."""
    sets, given = all_sets(mechanism)
    a = (sets[:, :, None] == np.arange(mechanism.n_values)).any(axis=1) @ matrix.T
    return ((given.T @ a**2) - (given.T @ a) ** 2).T @ counts


def possible_counts(result: Estimate, cell: int = 0) -> np.ndarray:
    return project(result._cells.linear[[cell]], result.records[[cell]].astype(float))[0]


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


def test_uniform_standard_errors_are_the_root_of_the_set_covariance(publish: Any, uniform: SetMechanism) -> None:
    release = publish({"g": ["a", "b"] * 300}, {"s": np.arange(600) % 6}, {"s": uniform})

    result = estimate(release, "g", estimator="linear")

    exact = expected_covariance(release, ["s"], np.arange(600) % 2 == 1)
    assert np.allclose(result.covariance(1), exact)
    assert np.allclose(result.std_error[1] ** 2, np.diag(exact))


@pytest.mark.parametrize("estimator", ["linear", "existing", "naive"])
def test_variances_are_the_larger_of_the_unbiased_and_the_expected_ones(
    publish: Any, semantic: SetMechanism, estimator: str
) -> None:
    release = publish({"g": ["a", "b"] * 300}, {"s": np.arange(600) % 9}, {"s": semantic})

    result = estimate(release, "g", estimator=estimator)

    matrix = ESTIMATORS[estimator]().matrix(semantic)
    expected = expected_variance(semantic, matrix, possible_counts(result, 1))
    assert np.allclose(result.std_error[1] ** 2, np.maximum(np.diag(result.covariance(1)), expected))


def test_variances_of_paper_are_the_unbiased_ones(publish: Any, semantic: SetMechanism) -> None:
    release = publish({"g": ["a", "b"] * 300}, {"s": np.arange(600) % 9}, {"s": semantic})

    result = estimate(release, "g", estimator="paper")

    assert np.allclose(result.std_error[1] ** 2, np.diag(result.covariance(1)))


def test_a_variance_of_paper_below_zero_gives_a_standard_error_of_zero(semantic: SetMechanism) -> None:
    sets, _ = all_sets(semantic)
    result = estimate(of_sets(semantic, sets, np.arange(len(sets))), "g", estimator="paper")

    diagonal = np.array([np.diag(result.covariance(cell)) for cell in range(len(sets))])

    assert (diagonal < -0.01).any()
    assert np.allclose(result.std_error**2, np.maximum(diagonal, 0))


def test_no_standard_error_vanishes_in_a_cell_of_one_value() -> None:
    domain = Domain(tuple(range(9)), ordered=True)
    mechanism = SimpleSelection.fit(domain, OrderedDistance(), l=2, d=3)
    sets, given = all_sets(mechanism)
    likely = np.repeat(np.flatnonzero(given[:, 4]), 100)
    result = estimate(of_sets(mechanism, sets[likely], likely), "g", estimator="linear")

    unbiased = np.array([result.covariance(cell)[4, 4] for cell in range(result.n_cells)])

    assert (unbiased < 0).any()
    assert (result.std_error[:, 4] > 0).all()


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
    possible = possible_counts(result, 1)
    moments = np.kron(uniform.variance_factors + np.eye(6), other.variance_factors + np.eye(4))
    assert np.allclose(result.covariance(1), exact)
    assert np.allclose(result.std_error[1] ** 2, np.maximum(np.diag(exact), moments @ possible - possible))


@pytest.mark.parametrize("estimator", MATRICES)
def test_the_covariance_estimate_is_unbiased_for_every_true_value(semantic: SetMechanism, estimator: str) -> None:
    # One record a cell, and a cell for each set: what covariance() gives on average over the sets of a true value is
    # the covariance of a over them.
    sets, given = all_sets(semantic)
    result = estimate(of_sets(semantic, sets, np.arange(len(sets))), "g", estimator=estimator)
    estimated = np.array([result.covariance(cell) for cell in range(len(sets))])

    averages = np.einsum("rv,rjk->vjk", given, estimated)

    a = (sets[:, :, None] == np.arange(9)).any(axis=1) @ ESTIMATORS[estimator]().matrix(semantic).T
    means = given.T @ a
    exact = np.einsum("rv,rj,rk->vjk", given, a, a) - means[:, :, None] * means[:, None, :]
    assert np.allclose(averages, exact)


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
    assert (linear > 0).all()  # so that they are possible counts
    assert np.allclose(result.std_error[0], np.sqrt(linear @ (q * (1 - q))) * scale)


def test_exploded_rows_use_the_variance_factors(publish: Any, simple: SetMechanism) -> None:
    release = publish({"g": ["a"] * 900}, {"s": np.arange(900) % 9}, {"s": simple}, exploded=True)

    result = estimate(release, estimator="linear")

    assert (result.count[0] > 0).all()
    assert np.allclose(result.std_error[0] ** 2, simple.variance_factors @ result.count[0])


def test_exploded_rows_of_one_value_have_standard_errors_of_possible_counts(publish: Any, simple: SetMechanism) -> None:
    release = publish({"g": ["a"] * 900}, {"s": np.full(900, 4)}, {"s": simple}, exploded=True)

    result = estimate(release, estimator="linear")

    expected = simple.variance_factors @ np.array([result._cells.linear[0], possible_counts(result)]).T
    assert (result.count[0] < 0).any()
    assert np.allclose(result.std_error[0] ** 2, expected.max(axis=1))


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
