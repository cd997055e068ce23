"""The test of independence: what it is where nothing is hidden, what it refuses, what it says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_matrix

from ldiversity.errors import ParameterError, SchemaError, UnsupportedError
from ldiversity.estimation import association
from ldiversity.estimation._design import Design
from ldiversity.estimation._independence import design_test, independence_test, pool
from ldiversity.mechanisms import SetMechanism, UniformSelection
from ldiversity.release import Release

RNG = np.random.default_rng(8)
N = 600
SEX, VALUE = RNG.integers(0, 3, N), RNG.integers(0, 6, N)


def indicators(codes: Any) -> csr_matrix:
    return csr_matrix(np.eye(int(np.max(codes)) + 1)[codes])


@pytest.fixture
def release(publish: Any, uniform: SetMechanism) -> Release:
    columns = {"sex": SEX, "w": RNG.uniform(1, 3, N), "h": SEX % 2, "zero": np.zeros(N), "name": ["a"] * N}
    other = UniformSelection(n_values=4, l=2)
    return publish(columns, {"s": VALUE, "t": VALUE % 4}, {"s": uniform, "t": other})


@pytest.mark.parametrize(("smallest", "said"), [(10, True), (200, False)])
def test_a_cell_that_expects_few_records_of_a_value_is_named(
    publish: Any,
    uniform: SetMechanism,
    smallest: int,
    said: bool,  # noqa: FBT001
) -> None:
    cells = np.where(np.arange(N) < smallest, 0, 1 + np.arange(N) % 2)

    found = association(publish({"cell": cells}, {"s": VALUE}, {"s": uniform}), by="cell")

    assert any("may reject too often" in caveat for caveat in found.caveats) == said


def test_without_dummies_it_is_pearsons_chi_square() -> None:
    table = np.zeros((3, 6))
    np.add.at(table, (SEX, VALUE), 1)
    expected = stats.chi2_contingency(table, correction=False)

    found = independence_test(indicators(VALUE), indicators(SEX))

    assert found.statistic == pytest.approx(expected.statistic * (N - 1) / N)
    assert found.df == expected.dof
    assert found.pvalue == pytest.approx(stats.chi2.sf(found.statistic, expected.dof))


def test_over_all_assignments_its_mean_is_its_degrees_of_freedom() -> None:
    shares = csr_matrix(np.random.default_rng(1).dirichlet(np.ones(3), 5))
    cells = np.array([0, 0, 1, 1, 1])
    from itertools import permutations

    found = [independence_test(shares, indicators(cells[list(order)])) for order in permutations(range(5))]

    assert {one.df for one in found} == {2}
    assert np.mean([one.statistic for one in found]) == pytest.approx(2)


def test_with_equal_weights_the_covariance_of_the_design_is_the_obvious_one() -> None:
    values, cells = indicators(VALUE), indicators(SEX)
    design = Design(np.ones(N), SEX % 2)

    found = design_test(values, cells, design, np.arange(N))

    one, two = np.eye(6)[VALUE][:, :5], np.eye(3)[SEX][:, :2]
    products = ((one - one.mean(0))[:, :, None] * (two - two.mean(0))[:, None, :]).reshape(N, 10)
    slow = sum(
        len(part) / (len(part) - 1) * (part - part.mean(0)).T @ (part - part.mean(0))
        for part in (products[stratum == SEX % 2] for stratum in (0, 1))
    )
    total = products.sum(0)
    assert found.df == 10
    assert found.statistic == pytest.approx(total @ np.linalg.inv(slow) @ total)
    free = N - 2 - 10 + 1
    assert found.pvalue == pytest.approx(stats.f.sf(found.statistic * free / (10 * (N - 2)), 10, free))


@pytest.mark.parametrize(
    ("expected", "groups"),
    [
        ([9.0, 9.0], [0, 1]),
        ([9.0, 1.0, 1.0], [0, 0, 0]),
        ([9.0, 2.0, 3.0, 4.0, 1.0], [0, 1, 1, 1, 1]),
        ([1.0, 1.0], [0, 0]),
    ],
)
def test_rare_columns_are_put_together(expected: list[float], groups: list[int]) -> None:
    assert pool(np.array(expected), 5).tolist() == groups


def test_two_hidden_attributes_can_be_tested(release: Release) -> None:
    found = association(release, "t", sensitive="s")

    assert (found.by, found.df) == (("t",), 15)
    assert found.pvalue < 1e-6
    assert association(release, "s", sensitive="t").statistic == pytest.approx(found.statistic)


def test_filters_select_records_and_texts_make_cells(release: Release) -> None:
    found = association(release, "w:1/2/3", sensitive="s", where="sex != 2")

    assert (found.n_records, found.n_cells, found.where) == (int((SEX != 2).sum()), 2, ("sex not in 2",))


def test_small_cells_are_put_together_and_said(release: Release) -> None:
    found = association(release, "w:1/1.01/2/3", sensitive="s")

    assert any("put together with others" in caveat for caveat in found.caveats)


def test_classes_by_chance_can_be_tested_and_others_not(bucketize: Callable[..., Any]) -> None:
    class_of, values = np.repeat(np.arange(200), 2), np.tile([0, 1, 0, 2], 100)
    columns = {"x": RNG.permutation(np.arange(400) % 2)}

    found = association(bucketize(columns, class_of, {"s": values}, blind=True), "x")

    assert "classes" in found.method
    with pytest.raises(UnsupportedError, match="classes were formed by quasi-identifiers"):
        association(bucketize(columns, class_of, {"s": values}), "x")


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({"by": None, "sensitive": "s"}, ParameterError, "must name at least one column"),
        ({"by": "sex"}, ParameterError, "must name one of"),
        ({"by": "s", "sensitive": "s"}, ParameterError, "must name one of"),
        ({"by": ["t", "sex"], "sensitive": "s"}, UnsupportedError, "must be the only column"),
        ({"by": "sex", "sensitive": "s", "where": "t = v1"}, ParameterError, "'t' is sensitive"),
        ({"by": "sex", "sensitive": "s", "where": "w > 9"}, ParameterError, "at least one record"),
        ({"by": "sex", "sensitive": "s", "where": "w < 1.02"}, ParameterError, "at least two groups"),
        ({"by": "zero", "sensitive": "s"}, ParameterError, "at least two groups of cells"),
        ({"by": "sex", "sensitive": "s", "weights": "zero"}, SchemaError, "above zero"),
        ({"by": "sex", "sensitive": "s", "weights": "name"}, SchemaError, "must hold numbers"),
        ({"by": "sex", "sensitive": "s", "weights": "t"}, SchemaError, "is sensitive"),
        ({"by": "sex", "sensitive": "s", "strata": "w"}, SchemaError, "at least two records in each stratum"),
        ({"by": "w:0.1", "sensitive": "s", "weights": "w"}, UnsupportedError, "10 records for each degree"),
    ],
)
def test_what_cannot_be_tested_is_refused_in_a_sentence(
    release: Release, asked: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        association(release, **asked)


def test_single_members_are_refused(publish: Any, uniform: SetMechanism) -> None:
    exploded = publish({"sex": SEX}, {"s": VALUE}, {"s": uniform}, exploded=True)

    with pytest.raises(UnsupportedError, match="single members"):
        association(exploded, "sex")


def test_its_text_says_statistic_and_p(release: Release) -> None:
    found = association(release, "sex", sensitive="s", weights="w", strata="h")

    assert f"df {found.df}, p" in str(found)
    assert "covariance of the sample's design" in found.method


def test_weights_change_what_is_compared() -> None:
    # In the sample the values differ between the cells; weights undo that.
    cells, values = np.repeat([0, 1], 100), np.concatenate([np.repeat([0, 1], [80, 20]), np.repeat([0, 1], [20, 80])])
    weights = np.where(cells == values, 1.0, 4.0)

    plain = independence_test(indicators(values), indicators(cells))
    weighted = design_test(
        indicators(values), indicators(cells), Design(weights, np.zeros(200, dtype=np.int64)), np.arange(200)
    )

    assert plain.pvalue < 1e-10
    assert weighted.pvalue == pytest.approx(1)
