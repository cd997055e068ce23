"""Query workloads, compared with an obvious count of every record and class."""

from __future__ import annotations

import dataclasses
from math import ceil

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.evaluation.measures._workload import Query
from ldiversity.mechanisms import ClassMechanism
from ldiversity.models import FrequencyDiversity
from ldiversity.release import ClassRelease, Form, Marginal, SetRelease
from ldiversity.schema import Attribute, Domain, Role, Schema

QUASI = ["age", "zip", "job"]


def _workload(original: pa.Table, **options: object) -> ld.QueryWorkload:
    given = {"qd": 2, "selectivity": 0.05, "n_queries": 200, "seed": 5, **options}
    return ld.QueryWorkload.random(original, QUASI, "disease", **given)  # type: ignore[arg-type]


def _chosen(workload: ld.QueryWorkload, query: Query) -> dict[str, set[object]]:
    picked = {name: workload._axes[name].values.filter(pa.array(hit)).to_pylist() for name, hit in query.chosen.items()}
    return {name: set(values) for name, values in picked.items()}


def _asked(workload: ld.QueryWorkload, query: Query) -> set[object]:
    return {value for value, hit in zip(workload.domain.values, query.sensitive, strict=True) if hit}


def _matches(row: dict[str, object], chosen: dict[str, set[object]]) -> bool:
    return all(row[name] in values for name, values in chosen.items())


def test_a_query_has_as_many_values_of_each_attribute_as_equation_20_says(original: pa.Table) -> None:
    workload = _workload(original, qd=2, selectivity=0.3)

    sizes = {(len(hit), int(hit.sum())) for query in workload.queries for hit in query.chosen.values()}
    assert sizes == {(size, ceil(size * 0.3 ** (1 / 3))) for size in (4, 6)}
    assert {int(query.sensitive.sum()) for query in workload.queries} == {ceil(2 * 0.3 ** (1 / 3))}
    assert {len(query.chosen) for query in workload.queries} == {2}


def test_the_same_seed_gives_the_same_queries(original: pa.Table) -> None:
    first, second = (_workload(original).answers(original) for _ in range(2))

    np.testing.assert_array_equal(first, second)


def test_answers_are_true_counts(original: pa.Table) -> None:
    workload = _workload(original)

    expected = [
        sum(
            _matches(row, _chosen(workload, query)) and row["disease"] in _asked(workload, query)
            for row in original.to_pylist()
        )
        for query in workload.queries
    ]
    assert workload.answers(original).tolist() == expected


def test_the_uninformed_take_columns_as_unrelated(original: pa.Table) -> None:
    workload = _workload(original)
    rows, n = original.to_pylist(), original.num_rows

    expected = []
    for query in workload.queries:
        chosen = {**_chosen(workload, query), "disease": _asked(workload, query)}
        shares = [sum(row[name] in values for row in rows) / n for name, values in chosen.items()]
        expected.append(n * np.prod(shares))
    np.testing.assert_allclose(workload.uninformed(original), expected)


def test_a_bucketized_release_answers_with_the_shares_of_classes(original: pa.Table, bucketized: ClassRelease) -> None:
    workload = _workload(original)

    # Every class has one cold and one flu.
    expected = [
        sum(_matches(row, _chosen(workload, query)) for row in original.to_pylist()) * len(_asked(workload, query)) / 2
        for query in workload.queries
    ]
    np.testing.assert_allclose(workload.estimates(bucketized), expected)


REGIONS: list[dict[str, set[object]]] = [
    {"age": {20, 30}, "zip": {"130", "131"}, "job": {"cook"}},
    {"age": {40, 50}, "zip": {"148"}, "job": {"nurse", "pilot"}},
    {"age": {60, 70}, "zip": {"130", "131", "148", "200"}, "job": {"clerk", "pilot"}},
]
"""The values of the original in the region of each class."""


def test_a_generalized_release_answers_by_spreading_classes_over_values(
    original: pa.Table, generalized: ClassRelease
) -> None:
    workload = _workload(original)

    expected = [
        sum(
            np.prod(
                [len(region[name] & values) / len(region[name]) for name, values in _chosen(workload, query).items()]
            )
            * len(_asked(workload, query))
            for region in REGIONS
        )
        for query in workload.queries
    ]
    np.testing.assert_allclose(workload.estimates(generalized), expected)


def test_a_published_marginal_says_how_to_spread(original: pa.Table, generalized: ClassRelease) -> None:
    marginal = Marginal(np.array([20, 30, 40, 50, 60, 70]), np.array([3, 1, 1, 1, 1, 1]))
    forms = {**generalized.forms, "age": dataclasses.replace(generalized.forms["age"], marginal=marginal)}
    release = dataclasses.replace(generalized, forms=forms)
    workload = _one_query(original, "age", [20])

    assert workload.estimates(release).tolist() == [2 * 3 / 4]


def test_a_marginal_of_categories_says_how_to_spread(original: pa.Table, generalized: ClassRelease) -> None:
    marginal = Marginal(np.array([0, 2, 3]), np.array([1, 1, 3]))
    forms = {**generalized.forms, "job": dataclasses.replace(generalized.forms["job"], marginal=marginal)}
    release = dataclasses.replace(generalized, forms={**forms})
    workload = _one_query(original, "job", ["pilot"])

    assert workload.estimates(release).tolist() == [2 * 3 / 4 + 2 * 3 / 4]


def _one_query(original: pa.Table, name: str, values: list[object]) -> ld.QueryWorkload:
    """How many records have one of these values, whatever their disease?"""
    drawn = _workload(original, qd=3, selectivity=1, n_queries=1)
    hit = np.isin(drawn._axes[name].values.to_pylist(), values)
    return dataclasses.replace(drawn, queries=(Query({name: hit}, np.ones(2, dtype=np.bool_)),))


def test_a_class_that_says_nothing_may_lie_anywhere(original: pa.Table, generalized: ClassRelease) -> None:
    ends = [{"low": 20, "high": 30}, {"low": None, "high": None}, {"low": 60, "high": 70}]
    rows = generalized._rows
    interval = pa.struct([("low", pa.int64()), ("high", pa.int64())])  # some versions of Arrow sort the names of dicts
    regions = rows.regions().set_column(0, "age", pa.array(ends, interval))
    release = dataclasses.replace(generalized, _rows=dataclasses.replace(rows, region_table=regions))  # type: ignore[type-var]
    workload = _one_query(original, "age", [20])

    assert workload.estimates(release).tolist() == pytest.approx([2 / 2 + 2 / 6])


def test_a_release_of_sets_answers_with_the_linear_estimate(whys: pa.Table, sets: SetRelease) -> None:
    workload = ld.QueryWorkload.random(whys, ["sex"], "why", qd=1, selectivity=0.1, n_queries=30, seed=2)

    linear = ld.estimate(sets, by="sex", estimator="linear").count
    expected = [
        sum(linear[cell] @ query.sensitive for cell in np.flatnonzero(query.chosen["sex"]))
        for query in workload.queries
    ]
    np.testing.assert_allclose(workload.estimates(sets), expected)


def test_values_of_a_wider_domain_are_found_wherever_they_stand(original: pa.Table, bucketized: ClassRelease) -> None:
    turned = _workload(original, domain=Domain(("flu", "cold")))
    everything = tuple(dataclasses.replace(query, sensitive=np.array([True, False])) for query in turned.queries)
    flu = dataclasses.replace(turned, queries=everything)

    assert flu.answers(original).max() > 0
    np.testing.assert_allclose(
        flu.estimates(bucketized),
        [sum(_matches(row, _chosen(flu, q)) for row in original.to_pylist()) / 2 for q in flu.queries],
    )


def test_the_relative_error_is_a_median_with_a_sanity_bound(original: pa.Table, bucketized: ClassRelease) -> None:
    workload = _workload(original)

    answers, estimates = workload.answers(original), workload.estimates(bucketized)
    expected = np.median(np.abs(estimates - answers) / np.maximum(answers, 2.0))
    assert workload.relative_error(original, bucketized, sanity=2) == pytest.approx(expected)


def test_the_sanity_bound_is_a_thousandth_of_the_records(original: pa.Table, bucketized: ClassRelease) -> None:
    workload = _workload(original)

    assert workload.relative_error(original, bucketized) == workload.relative_error(original, bucketized, sanity=0.006)


def test_without_a_sanity_bound_a_wrong_answer_to_nothing_is_infinitely_wrong(
    original: pa.Table, bucketized: ClassRelease
) -> None:
    workload = _workload(original)

    errors = workload.relative_errors(original, bucketized, sanity=0)
    nothing = workload.answers(original) == 0
    assert set(np.unique(errors[nothing])) == {0.0, np.inf}


def test_the_mean_squared_error_is_equation_2_over_the_cells_of_queries(
    original: pa.Table, bucketized: ClassRelease
) -> None:
    workload = _one_query(original, "zip", ["130", "131"])

    # Three records, one cold and two flus; estimated are 1.5 each.
    assert workload.mean_squared_error(original, bucketized) == pytest.approx(2 * (0.5 / 3) ** 2 / 2)


def test_missing_values_are_values_that_queries_may_choose(original: pa.Table) -> None:
    lacking = original.set_column(0, "age", pa.array([20, None, 40, None, 60, 70]))
    workload = _one_query(lacking, "age", [None])

    assert workload.answers(lacking).tolist() == [2.0]


@pytest.mark.parametrize(
    "options", [{"qd": 0}, {"qd": 4}, {"selectivity": 0}, {"selectivity": 2}, {"n_queries": 0}, {"seed": -1}]
)
def test_parameters_outside_their_range_are_refused(options: dict[str, float], original: pa.Table) -> None:
    with pytest.raises(ld.ParameterError, match=next(iter(options))):
        _workload(original, **options)


def test_a_sensitive_column_is_no_quasi_identifier(original: pa.Table) -> None:
    with pytest.raises(ld.ParameterError, match="quasi must name distinct columns that are not sensitive"):
        ld.QueryWorkload.random(original, ["disease"], "disease", qd=1)


def test_a_release_with_another_domain_is_refused(original: pa.Table, sets: SetRelease) -> None:
    with pytest.raises(ld.SchemaError, match="'disease' must be sensitive in the release"):
        _workload(original).estimates(sets)


@pytest.mark.parametrize("layout", ["generalized", "bucketized"])
def test_a_query_is_answered_as_estimate_answers_it(
    layout: str, original: pa.Table, request: pytest.FixtureRequest
) -> None:
    release: ClassRelease = request.getfixturevalue(layout)

    counts = ld.estimate(release, where="job in clerk,pilot", estimator="classes").count
    assert _one_query(original, "job", ["clerk", "pilot"]).estimates(release).tolist() == pytest.approx([counts.sum()])


def test_linear_undoes_the_mixing_of_blind_classes_as_estimate_does() -> None:
    release = _blind(blind=True)
    table = pa.table({"sex": ["F", "F", "M", "M", "M", "F"], "why": ["a", "b", "a", "c", "b", "c"]})
    workload = ld.QueryWorkload.random(table, ["sex"], "why", qd=1, selectivity=0.1, n_queries=20, seed=3)

    linear = ld.estimate(release, by="sex", estimator="linear").count
    expected = [linear[np.flatnonzero(query.chosen["sex"])[0]] @ query.sensitive for query in workload.queries]
    np.testing.assert_allclose(workload.estimates(release, estimator="linear"), expected)


def test_linear_is_refused_where_classes_were_formed_by_quasi_identifiers() -> None:
    table = pa.table({"sex": ["F", "F", "M", "M", "M", "F"], "why": ["a", "b", "a", "c", "b", "c"]})
    workload = ld.QueryWorkload.random(table, ["sex"], "why", qd=1, n_queries=2)

    with pytest.raises(ld.UnsupportedError, match="linear is offered only where classes were formed by one sensitive"):
        workload.estimates(_blind(blind=False), estimator="linear")


def test_linear_is_refused_where_every_class_has_all_values() -> None:
    table = pa.table({"sex": ["F", "F", "M", "M"], "why": ["a", "b", "a", "b"]})
    workload = ld.QueryWorkload.random(table, ["sex"], "why", qd=1, n_queries=2)
    release = ld.anonymize(table, quasi=["sex"], sensitive="why", method=ld.Anatomy(l=2))

    with pytest.raises(ld.UnsupportedError, match="'why' so evenly that nothing can separate them"):
        workload.estimates(release, estimator="linear")


def _blind(*, blind: bool) -> ClassRelease:
    """Classes {a, b}, {a, c} and {b, c} of F F, M M and M F."""
    why = Attribute("why", Role.SENSITIVE, "string", Domain(("a", "b", "c")))
    return ClassRelease.in_memory(
        schema=Schema((Attribute("sex", Role.QUASI, "string"), why)),
        layout="bucketized",
        rules={"why": FrequencyDiversity(l=2)},
        class_of=np.array([0, 0, 1, 1, 2, 2]),
        values={"why": np.array([0, 1, 0, 2, 1, 2])},
        columns=pa.table({"sex": ["F", "F", "M", "M", "M", "F"]}),
        mechanisms={"why": ClassMechanism("anatomy", blind=blind)},
    )


def test_exact_and_generalized_columns_may_stand_in_one_release(original: pa.Table, generalized: ClassRelease) -> None:
    rows = dataclasses.replace(generalized._rows, plain=original.select(["job"]))  # type: ignore[type-var]
    release = dataclasses.replace(generalized, forms={**generalized.forms, "job": Form("exact")}, _rows=rows)
    workload = _one_query(original, "job", ["nurse", "pilot"])
    both = {**workload.queries[0].chosen, "age": np.array([False, False, True, False, False, False])}

    found = dataclasses.replace(workload, queries=(Query(both, np.ones(2, dtype=np.bool_)),)).estimates(release)

    # Both records of the second class, of which half is 40; and one of the third, which is not 40.
    assert found.tolist() == [2 / 2]


def test_exploded_rows_answer_with_the_linear_estimate_too(whys: pa.Table) -> None:
    many = pa.concat_tables([whys] * 10)
    release = ld.anonymize(many, quasi=["sex"], sensitive="why", method=ld.RandomizedAddition(l=2), layout="exploded")
    workload = ld.QueryWorkload.random(many, ["sex"], "why", qd=1, selectivity=0.1, n_queries=20, seed=3)

    linear = ld.estimate(release, by="sex", estimator="linear").count
    expected = [linear[np.flatnonzero(query.chosen["sex"])[0]] @ query.sensitive for query in workload.queries]
    np.testing.assert_allclose(workload.estimates(release), expected)
