"""The test of independence: what it is where nothing is hidden, what it refuses, what it says."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats
from scipy.sparse import csr_matrix

import ldiversity as ld
from ldiversity.errors import ParameterError, SchemaError, UnsupportedError
from ldiversity.estimation import association, regress, trend
from ldiversity.estimation._design import Design
from ldiversity.estimation._independence import design_test, independence_test
from ldiversity.estimation._test_sides import pool, pool_weighted
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


def test_cells_that_were_put_together_are_named(publish: Any, uniform: SetMechanism) -> None:
    cells = np.where(np.arange(N) < 25, 0, 1 + np.arange(N) % 2)
    weights = np.where(np.arange(N) == 0, 20.0, 1.0)

    found = association(publish({"cell": cells, "w": weights}, {"s": VALUE}, {"s": uniform}), "cell", weights="w")

    assert found.n_cells == 2
    assert any("put together with others ('cell 0')" in caveat for caveat in found.caveats)


def test_a_great_weight_that_leaves_one_group_is_named_by_its_cell(publish: Any, uniform: SetMechanism) -> None:
    weights = np.where(np.arange(N) == np.flatnonzero(SEX == 1)[0], 1e4, 1.0)
    release = publish({"sex": SEX, "w": weights}, {"s": VALUE}, {"s": uniform})

    with pytest.raises(ParameterError, match="got one group of 600 records") as refused:
        association(release, "sex", weights="w")

    assert f"The smallest cell, 'sex 1', has {(SEX == 1).sum()} records, which its weights make count as 1" in str(
        refused.value
    )
    assert "leave it out with where" in str(refused.value)
    assert association(release, "sex", weights="w", where="sex != 1").n_cells == 2


def test_a_filter_that_no_record_matches_is_named(release: Release) -> None:
    with pytest.raises(ParameterError, match="at least one record") as refused:
        association(release, "sex", sensitive="s", where=["w > 9", "w > 0"])

    assert refused.value.hint == "No record matches 'w > 9' alone."


@pytest.mark.parametrize(("by", "where"), [("sex", "w > 9"), ("sex", 5), (5, None), (["sex", "sex"], None)])
def test_errors_name_the_function_that_was_called(release: Release, by: Any, where: Any) -> None:
    with pytest.raises(ParameterError, match=r"^association: "):
        association(release, by, sensitive="s", where=where)
    if where is None:
        with pytest.raises(ParameterError, match=r"^impute: "):
            release.impute(2, by=by, sensitive="s")
    else:
        with pytest.raises(ParameterError, match=r"^regress: "):
            regress(release, "s == 'v1' ~ w", where=where)
        with pytest.raises(ParameterError, match=r"^trend: "):
            trend([release, release], "v1", sensitive="s", where=where)


def test_without_dummies_it_is_pearsons_chi_square() -> None:
    table = np.zeros((3, 6))
    np.add.at(table, (SEX, VALUE), 1)
    expected = stats.chi2_contingency(table, correction=False)

    found = independence_test(indicators(VALUE), indicators(SEX))

    assert found.statistic == pytest.approx(expected.statistic * (N - 1) / N)
    assert found.df == expected.dof
    # In a table with many records in every cell the exact variance is close to that of chi-square.
    assert found.pvalue == pytest.approx(stats.chi2.sf(found.statistic, expected.dof), abs=0.01)


def test_over_all_assignments_its_mean_and_variance_are_known() -> None:
    shares, cells = csr_matrix(np.random.default_rng(1).dirichlet(np.ones(3), 5)), np.array([0, 0, 1, 1, 2])

    found = [independence_test(shares, indicators(cells[list(order)])) for order in permutations(range(5))]

    statistics = np.array([one.statistic for one in found])
    assert {one.df for one in found} == {4}
    assert statistics.mean() == pytest.approx(4)
    shape = 4 * 4 / statistics.var()
    assert [one.pvalue for one in found] == pytest.approx(stats.gamma.sf(statistics, shape, scale=4 / shape))


@pytest.mark.parametrize("block", [1, 4_000, 1 << 22])  # a stratum at a time, two of the three, all
def test_with_a_design_the_mean_is_the_trace_of_its_covariance(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldiversity.estimation._independence._BLOCK", block)
    values, cells, weights = indicators(VALUE), indicators(SEX), 1 + np.arange(N) % 4 / 2
    selected = np.flatnonzero(np.arange(N) % 5 > 0)
    design = Design(weights, np.arange(N) % 3)

    found = design_test(values[selected], cells[selected], design, selected)

    one, two, w = *(whitened(side[selected], weights[selected]) for side in (values, cells)), weights[selected]
    products = np.zeros((N, 10))
    products[selected] = (one[:, :, None] * two[:, None, :]).reshape(-1, 10)
    total = products.T @ weights
    assert found.df == 10
    assert found.statistic == pytest.approx(10 * total @ total / np.trace(design.covariance(products)))
    # Different records, each with any deviation of the population; the slow and obvious sums.
    p = w / w.sum()
    pairs, far = np.square(one @ one.T), np.square(w) * np.square(two).sum(1)
    both = np.outer(p, p) * (1 - np.eye(len(p)))
    alike = (both * pairs).sum() / both.sum()
    apart = (np.outer(w**2, w**2) * np.square(two @ two.T) * (1 - np.eye(len(w)))).sum()
    lengths = np.square(one).sum(1)
    below = (far.sum() * (p @ lengths)) ** 2 + (far**2).sum() * (p @ lengths**2 - (p @ lengths) ** 2)
    # The third moments, around the means of the cells.
    rest = one - two @ (two.T @ (one * p[:, None]))
    skewed = ((w[:, None] * rest)[:, :, None] * two[:, None, :]).reshape(-1, 10)
    squares = np.square(skewed).sum(1)
    skewness = max(np.square(squares @ skewed).sum() - (squares**3).sum() / 4, 0) / squares.sum() ** 3
    variance, mean = 2 * apart * alike / below * (1 + 12 * skewness), 1 + 2 * skewness
    assert found.pvalue == pytest.approx(
        stats.gamma.sf(found.statistic / 10, mean**2 / variance, scale=variance / mean)
    )


def whitened(side: csr_matrix, weights: Any) -> Any:
    """Deviations from the weighted mean, in coordinates with the identity as their covariance."""
    rows = side.toarray()[:, 1:]
    p = weights / weights.sum()
    rest = rows - p @ rows
    return rest @ np.linalg.inv(np.linalg.cholesky((rest.T * p) @ rest)).T


def test_the_variance_of_the_design_is_that_of_draws_from_the_population() -> None:
    rng = np.random.default_rng(5)
    cells, weights = csr_matrix(np.eye(2)[np.repeat([0, 1], [20, 180])]), np.tile([1.0, 2.0, 3.0, 6.0], 50)
    population, design = np.eye(4)[[0, 0, 0, 1, 1, 2, 3]], Design(weights, np.zeros(200, dtype=np.int64))

    found = [design_test(csr_matrix(rng.choice(population, 200)), cells, design, np.arange(200)) for _ in range(800)]

    # The statistic has a variance of about 6, so its mean an error of .087, and a share of .1 one of .011. Within six
    # of them there are false alarms below 1e-8.
    assert np.mean([one.statistic for one in found]) == pytest.approx(3, abs=0.52)
    assert np.mean([one.pvalue < 0.1 for one in found]) == pytest.approx(0.1, abs=0.064)


def test_groups_of_cells_count_as_enough_records_of_equal_weight() -> None:
    rng = np.random.default_rng(6)
    for _ in range(200):
        k = int(rng.integers(1, 12))
        cells, weights = np.append(np.arange(k), rng.integers(0, k, 120)), rng.lognormal(0, 1.5, 120 + k)
        sums, squares = (np.bincount(cells, weights=one) for one in (weights, weights**2))
        group_of = pool_weighted(sums, squares, 20)
        sizes = np.bincount(group_of, weights=sums) ** 2 / np.bincount(group_of, weights=squares)
        assert len(sizes) == 1 or sizes.min() >= 20
        assert group_of.tolist() == pool(sums**2 / squares, 20).tolist() or (sums**2 / squares < 20).any()


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


def test_classes_that_keep_records_of_a_person_apart_are_refused_for_that_reason() -> None:
    rng = np.random.default_rng(5)
    table = pa.table({
        "who": np.repeat(np.arange(200), 2),
        "x": rng.integers(0, 2, 400),
        "s": np.array(["a", "b", "c", "d"])[rng.permutation(np.arange(400) % 4)],
    })  # fmt: skip
    release = ld.anonymize(table, quasi="x", sensitive="s", person="who", method=ld.Anatomy(l=2))

    with pytest.raises(UnsupportedError, match="formed so that none holds two records of one person") as raised:
        association(release, "x")
    assert raised.value.hint == (
        "A release of sets can. So can one of Anatomy with one sensitive attribute, made of a table with one record "
        "per person, without a person column."
    )
    said = " ".join(ld.estimate(release, by="x").caveats)
    assert "linear was not used, because classes were formed so that none holds two records of one person" in said
    assert "by quasi-identifiers" not in said
    sets = ld.anonymize(table, quasi="x", sensitive="s", person="who", method=ld.RandomizedAddition(l=2))
    assert 0 <= association(sets, "x").pvalue <= 1


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({"by": None, "sensitive": "s"}, ParameterError, "must name at least one column"),
        ({"by": "sex"}, ParameterError, "must name one of"),
        ({"by": "s", "sensitive": "s"}, ParameterError, "must be another attribute than by names"),
        ({"by": ["t", "sex"], "sensitive": "s"}, UnsupportedError, "must be the only column"),
        ({"by": "sex", "sensitive": "s", "where": "t = v1"}, ParameterError, "'t' is sensitive"),
        ({"by": "sex", "sensitive": "s", "where": "w > 9"}, ParameterError, "at least one record"),
        ({"by": "sex", "sensitive": "s", "where": "w < 1.02"}, ParameterError, "at least two groups"),
        ({"by": "zero", "sensitive": "s"}, ParameterError, "at least two groups of cells"),
        ({"by": "sex", "sensitive": "s", "weights": "zero"}, SchemaError, "above zero"),
        ({"by": "sex", "sensitive": "s", "weights": "name"}, SchemaError, "must hold numbers"),
        ({"by": "sex", "sensitive": "s", "weights": "t"}, SchemaError, "is sensitive"),
        ({"by": "sex", "sensitive": "s", "strata": "w"}, SchemaError, "at least two records in each stratum"),
        ({"by": "w:1/1.02/3", "sensitive": "s", "weights": "w"}, ParameterError, "20 records, counted as many of eq"),
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
