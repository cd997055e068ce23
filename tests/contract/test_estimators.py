"""What every estimator keeps, found through the registry."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.distances import MatrixDistance, OrderedDistance
from ldiversity.entries import ENTRIES
from ldiversity.errors import UnsupportedError
from ldiversity.estimation import (
    CLASS_ESTIMATORS,
    ESTIMATORS,
    CellData,
    Estimate,
    Estimator,
    MatrixEstimator,
    Solution,
    estimate,
)
from ldiversity.mechanisms import BalancedSelection, RingSelection, SetMechanism, SimpleSelection, UniformSelection
from ldiversity.release import SetRelease
from ldiversity.schema import Attribute, Domain, Role, Schema

ORDERED = Domain(tuple(range(9)), ordered=True)
MECHANISMS = {
    "uniform": UniformSelection(n_values=9, l=3),
    "simple": SimpleSelection.fit(ORDERED, OrderedDistance(), l=3, d=2),
    "ring": RingSelection.fit(ORDERED, OrderedDistance(), l=3, d=2),
    "balanced": BalancedSelection.fit(ORDERED, OrderedDistance(), l=3, d=2),
}
OWN = {name for name, made in ESTIMATORS.items() if made.__module__.startswith("ldiversity.")}
"""Those of this package, whose errors never get lost where they have a formula."""

TAKE_LINEAR = {"auto", "hierarchical", "map", "mle", "simplex"}
"""Those that have the errors of `linear` in small cells; others have errors of their own, or none."""

ADDS_UP = ["auto", "hierarchical", "linear", "map", "mle", "simplex"]
NOT_NEGATIVE = ["auto", "hierarchical", "map", "mle", "naive", "simplex"]


def publish(mechanism: SetMechanism, n: int = 400) -> SetRelease:
    rng = np.random.default_rng(7)
    codes = (np.arange(n) ** 2 % 9).astype(np.int32)
    words = rng.integers(0, 2**64, (n, mechanism.words_per_record + 40), dtype=np.uint64)
    schema = Schema((Attribute("g", Role.QUASI, "int64"), Attribute("s", Role.SENSITIVE, "int64", ORDERED)))
    return SetRelease.in_memory(
        schema=schema,
        columns=pa.table({"g": np.minimum(np.arange(n) // 100, np.arange(n) % 7)}),
        sets={"s": mechanism.sample(codes, words)[0]},
        mechanisms={"s": mechanism},
    )


@pytest.fixture(params=list(MECHANISMS))
def mechanism(request: pytest.FixtureRequest) -> SetMechanism:
    return MECHANISMS[request.param]


class Constant(Estimator):
    """Say the same whatever was published, and state no errors."""

    name = "constant"
    summary = "The same number for every value."

    def _solve(self, cells: CellData) -> Solution:
        return Solution(np.full(cells.counts.shape, 7.0), (self.name,) * cells.n_cells)


@pytest.fixture(params=[*ESTIMATORS, "constant"])
def result(request: pytest.FixtureRequest, mechanism: SetMechanism) -> Estimate:
    with ESTIMATORS.registered("constant", Constant):
        return estimate(publish(mechanism), "g", estimator=request.param)


def states_errors(result: Estimate) -> bool:
    return not any("has no formula for its errors" in caveat for caveat in result.caveats)


def test_every_estimator_is_named_and_described() -> None:
    assert all(name == known.name and known.summary.endswith(".") for name, known in ESTIMATORS.items())
    assert all(inspect.getdoc(known) != inspect.getdoc(Estimator) for known in ESTIMATORS.values())


def test_results_have_one_number_a_cell_and_value(result: Estimate) -> None:
    arrays = [result.count, result.share, result.std_error, result.low, result.high]

    assert {array.shape for array in arrays} == {(result.n_cells, 9)}


def test_counts_are_finite(result: Estimate) -> None:
    assert np.isfinite(result.count).all()


def test_errors_are_finite_or_the_result_says_that_there_are_none(result: Estimate) -> None:
    stated = [np.isfinite(array) for array in (result.std_error, result.low, result.high)]

    assert all(array.all() if states_errors(result) else not array.any() for array in stated)


def test_standard_errors_are_not_negative(result: Estimate) -> None:
    assert not (result.std_error < 0).any()


def test_intervals_hold_the_count(result: Estimate) -> None:
    assert not ((result.count < result.low) | (result.high < result.count)).any()


def test_records_are_exact(result: Estimate) -> None:
    assert result.n_records == 400


def test_covariances_are_symmetric(result: Estimate) -> None:
    if not states_errors(result):
        with pytest.raises(UnsupportedError, match="covariance is not offered"):
            result.covariance()
        return
    assert np.allclose(result.covariance(0), result.covariance(0).T)


@pytest.mark.parametrize("name", ADDS_UP)
def test_counts_add_up_to_the_records(mechanism: SetMechanism, name: str) -> None:
    result = estimate(publish(mechanism), "g", estimator=name)

    assert np.allclose(result.count.sum(axis=1), result.records)


@pytest.mark.parametrize("name", NOT_NEGATIVE)
def test_counts_are_not_negative(mechanism: SetMechanism, name: str) -> None:
    assert (estimate(publish(mechanism), "g", estimator=name).count >= 0).all()


def test_an_estimator_that_states_no_errors_has_none(mechanism: SetMechanism, tmp_path: Path) -> None:
    with ESTIMATORS.registered("constant", Constant):
        result = estimate(publish(mechanism), "g", estimator="constant")

    assert all(np.isnan(array).all() for array in (result.std_error, result.low, result.high))
    assert all(result.to_arrow()[name].null_count == result.count.size for name in ("std_error", "low", "high"))
    value = result.to_dict()["cells"][0]["values"][0]
    assert [value[name] for name in ("count", "std_error", "low", "high")] == [7.0, None, None, None]
    assert "constant has no formula for its errors: standard errors and intervals are empty." in result.caveats
    assert result.plot(tmp_path / "constant.svg").exists()
    assert "-" in result._repr_html_()
    with pytest.raises(UnsupportedError, match="covariance is not offered for the estimator 'constant'"):
        result.covariance()


@pytest.mark.parametrize("name", [name for name, made in ESTIMATORS.items() if issubclass(made, MatrixEstimator)])
def test_a_matrix_that_is_not_the_inverse_is_said_to_be_biased(mechanism: SetMechanism, name: str) -> None:
    made = ESTIMATORS[name]()
    assert isinstance(made, MatrixEstimator)
    if made.supports(mechanism) and not np.allclose(made.matrix(mechanism), mechanism.inverse, atol=1e-6):
        assert any("biased" in caveat for caveat in estimate(publish(mechanism), "g", estimator=name).caveats)


@pytest.mark.parametrize("name", [name for name, made in ESTIMATORS.items() if not issubclass(made, MatrixEstimator)])
def test_whoever_takes_the_errors_of_another_says_so(mechanism: SetMechanism, name: str) -> None:
    result, linear = (estimate(publish(mechanism), "g", estimator=each) for each in (name, "linear"))

    if not states_errors(result):
        return
    taken = (result.std_error == linear.std_error).all(axis=1)
    if name in TAKE_LINEAR:
        assert taken[result.records < 90].all()  # cells with fewer than ten records per value
    assert any("are those of linear" in caveat for caveat in result.caveats) == taken.any()


@pytest.mark.parametrize("name", list(CLASS_ESTIMATORS))
@pytest.mark.parametrize(
    "method", [ld.Anatomy(l=3), ld.BSGI(l=3), ld.Mondrian(l=3)], ids=lambda one: type(one).__name__
)
def test_classes_state_errors_that_are_some_or_none_and_limits_that_hold(name: str, method: Any) -> None:
    rng = np.random.default_rng(9)
    age = rng.integers(20, 60, 600)
    disease = (age // 8 + rng.integers(0, 4, 600)) % 8  # values go with ages, which grouping hides
    table = pa.table({"age": age, "disease": disease})
    release = ld.anonymize(table, quasi=["age"], sensitive="disease", method=method, insecure_seed=1)
    cells = ld.bins("age", width=10)
    if name in {"linear", "simplex"} and release.layout != "bucketized":
        with pytest.raises(UnsupportedError, match="needs exact quasi-identifiers"):
            estimate(release, cells, estimator=name)
        return

    result = estimate(release, cells, estimator=name)

    truth = np.zeros((4, 8))
    np.add.at(truth, ((age - 20) // 10, disease), 1)
    known = result.low == result.high
    unstated = np.isnan(result.std_error)
    if name in ENTRIES["class_estimators"]:
        assert unstated.any() == (set(result.estimator) == {"classes"})
    if unstated.any():
        np.testing.assert_array_equal(unstated, ~known)
        assert ((result.low <= truth) & (truth <= result.high)).all()
    else:
        assert (np.abs(result.count - truth) <= 5 * result.std_error + 1).all()


@pytest.mark.parametrize("n", [5, 12, 40])
@pytest.mark.parametrize("name", list(ESTIMATORS))
def test_few_records_of_a_tree_have_finite_intervals(name: str, n: int) -> None:
    # Six blocks of one or two values: the members of a block never stand together.
    blocks = np.array([0, 1, 2, 3, 3, 4, 4, 5, 5])
    tree = MatrixDistance(ORDERED.values, 1.0 + np.not_equal.outer(blocks, blocks) - np.eye(9))

    result = estimate(publish(SimpleSelection.fit(ORDERED, tree, l=3, d=2), n), estimator=name)

    assert name not in OWN or ESTIMATORS[name].errors is Estimator.errors or states_errors(result)
    if states_errors(result):
        assert np.isfinite(result.low).all()
        assert np.isfinite(result.high).all()


@pytest.mark.parametrize("name", list(ESTIMATORS))
def test_the_order_of_the_rows_does_not_matter(mechanism: SetMechanism, name: str) -> None:
    release = publish(mechanism)
    order = np.random.default_rng(8).permutation(release.n_rows)
    shuffled = SetRelease.in_memory(
        schema=release.schema,
        columns=release.columns(["g"]).take(pa.array(order)),
        sets={"s": release.sets("s")[order]},
        mechanisms=release.mechanisms,
    )

    one, other = estimate(release, "g", estimator=name), estimate(shuffled, "g", estimator=name)

    assert np.allclose(one.count, other.count, atol=1e-3)


@pytest.mark.parametrize("name", list(ESTIMATORS))
def test_the_sets_are_left_as_they_were(mechanism: SetMechanism, name: str) -> None:
    release = publish(mechanism)
    before = release.sets("s").copy()

    estimate(release, "g", estimator=name)

    assert (release.sets("s") == before).all()
