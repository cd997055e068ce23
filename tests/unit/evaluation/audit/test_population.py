"""The people among whom attackers search: counted in a table, or estimated from the share that is in the table."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.evaluation.audit._inside import count_inside
from ldiversity.evaluation.audit._population import expected_inverse
from ldiversity.release import Form, Membership
from ldiversity.schema import Attribute, Domain, Role, Schema

TABLE = pa.table({"age": [30, 30, 40, 50], "disease": ["flu", "cut", "flu", "gout"]})
ROLES = {"quasi": "age", "sensitive": "disease"}


def slow_inverse(size: int, fraction: float) -> float:
    """The sum over all F of P(F | f) / F, with P(f | F) binomial and every F as likely as 1/F beforehand."""
    weights = [comb(F, size) * (1 - fraction) ** (F - size) / F for F in range(size, size + 3000)]
    return sum(w / F for F, w in enumerate(weights, start=size)) / sum(weights)


@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.4, 0.5, 0.9])
@pytest.mark.parametrize("size", [1, 2, 5, 50, 51])
def test_the_expected_inverse_is_the_sum_over_all_populations(size: int, fraction: float) -> None:
    assert expected_inverse(np.array([size]), fraction)[0] == pytest.approx(slow_inverse(size, fraction), rel=1e-6)


@pytest.mark.parametrize("fraction", [1e-6, 0.001, 0.1, 0.49, 0.5, 0.99, 1.0])
def test_the_expected_inverse_lies_between_that_of_the_estimate_and_that_of_the_table(fraction: float) -> None:
    sizes = np.arange(1, 2000)

    found = expected_inverse(sizes, fraction)

    assert (found >= fraction / sizes * (1 - 1e-12)).all()
    assert (found <= 1 / sizes).all()
    assert (np.diff(found) < 0).all()


def test_a_sample_is_linked_as_often_as_the_estimate_says() -> None:
    """The mean estimated risk of a drawn sample is the share of right links, within 4 standard errors (1 in 16,000)."""
    drawn = np.random.default_rng(7)
    # Every size of a class from 1 to 400 as likely as 1/size, as the estimate assumes.
    odds = 1 / np.arange(1, 401)
    sizes = drawn.choice(np.arange(1, 401), 40_000, p=odds / odds.sum())
    sample = drawn.binomial(sizes, 0.2)
    kept = sample > 0

    right = np.repeat(1 / sizes[kept], sample[kept])
    expected = np.repeat(expected_inverse(sample[kept], 0.2), sample[kept])

    # Records of a class share their risk, so the error is that of means over classes.
    difference = (1 / sizes[kept] - expected_inverse(sample[kept], 0.2)) * sample[kept]
    error = difference.std() * np.sqrt(kept.sum()) / len(right)
    assert abs(right.mean() - expected.mean()) < 4 * error


def test_a_fraction_lowers_the_risk_of_journalist_and_marketer_alone() -> None:
    alone = ld.audit(TABLE, **ROLES).risk
    found = ld.audit(TABLE, **ROLES, sample_fraction=0.1)

    assert found.risk.prosecutor == alone.prosecutor
    assert found.risk.journalist.max == pytest.approx(0.2558, abs=1e-4)
    assert found.risk.marketer.mean == found.risk.journalist.mean
    assert found.risk.journalist.uniques == pytest.approx(0.2)  # two are alone in the table, a tenth of them outside
    assert (found.population.known, found.population.people, found.population.sample_fraction) == ("fraction", 40, 0.1)
    assert "no model of the population" in found.population.meaning
    assert found.population.meaning in found.notes


def test_the_whole_population_is_its_own_sample() -> None:
    alone, whole = ld.audit(TABLE, **ROLES), ld.audit(TABLE, **ROLES, sample_fraction=1)

    assert whole.risk.journalist.max == alone.risk.prosecutor.max
    assert whole.risk.marketer == alone.risk.marketer


def test_a_population_table_is_counted_exactly() -> None:
    population = pa.table({"age": [30] * 8 + [40] + [50] * 4})
    found = ld.audit(TABLE, **ROLES, population=population)

    assert found.risk.journalist.uniques == 1
    assert (found.population.known, found.population.people) == ("table", 13)


INTERVAL = pa.struct([("low", pa.int64()), ("high", pa.int64())])
COLUMNS = (Attribute("age", Role.QUASI, "int64"), Attribute("s", Role.SENSITIVE, "string", Domain(("a", "b"))))


def with_regions(*ends: tuple[int | None, int | None]) -> ld.ClassRelease:
    """One class for each pair of ends, with two records each."""
    return ld.ClassRelease.in_memory(
        schema=Schema(COLUMNS),
        layout="generalized",
        rules={"s": ld.DistinctDiversity(2)},
        class_of=np.repeat(np.arange(len(ends)), 2),
        values={"s": np.tile([0, 1], len(ends))},
        regions=pa.table({"age": pa.array([{"low": low, "high": high} for low, high in ends], INTERVAL)}),
        forms={"age": Form("interval", low=0, high=99)},
    )


def test_people_of_overlapping_regions_count_in_each_of_them() -> None:
    release = with_regions((20, 29), (25, 40))
    population = pa.table({"age": [19, 20, 24, 25, 29, 30, 40, 41]})  # four are in the first, four in the second

    found = ld.audit(release, population=population)

    assert (found.risk.prosecutor.max, found.risk.journalist.max, found.risk.journalist.mean) == (0.5, 0.25, 0.25)
    assert (found.risk.journalist.classes_not_in_population, found.population.people) == (0, 8)


def test_a_missing_cell_lies_only_in_a_region_that_says_nothing() -> None:
    release = with_regions((20, 29), (None, None))

    risk = ld.audit(release, population=pa.table({"age": [20, None, None, None, 99, None]})).risk.journalist

    assert risk.classes_not_in_population == 1  # one person is in the first class, everybody may be in the second
    assert risk.mean == pytest.approx((1 / 2 + 1 / 6) / 2)


@pytest.mark.parametrize("levels", [None, {"age": "width:5"}])
@pytest.mark.parametrize("method", ["mondrian:l=2", "randomized-addition:l=2"])
def test_people_of_another_type_are_refused(method: str, levels: dict[str, Any] | None) -> None:
    decisions: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "disease", "method": method, "levels": levels}
    release = ld.anonymize(ld.datasets.hospital(), **decisions)
    for other in (["30", "31"], [30.5, 31.0], [True, False]):
        with pytest.raises(ld.SchemaError, match="population: column 'age' must have the type integer, got") as refused:
            ld.audit(release, population=pa.table({"age": other, "sex": ["F", "M"]}))
        assert "Declare the types of both tables" in str(refused.value)
    shorter = pa.table({"age": pa.array([30, 31], pa.int16()), "sex": ["F", "M"]})
    assert ld.audit(release, population=shorter).population.people == 2


def test_too_many_comparisons_are_refused_early() -> None:
    n = 64
    wide = Membership(np.arange(n), n, np.arange(n), np.arange(n + 1), np.arange(n) // 2, np.arange(n) // 2 + n // 2)
    one_each = np.ones(n, dtype=np.int64)
    with pytest.raises(ld.UnsupportedError, match="would need too many comparisons") as refused:
        count_inside([wide, wide], [np.arange(n), np.arange(n)], one_each, most=100)
    assert "sample_fraction=0.1" in str(refused.value)
    assert count_inside([wide], [np.arange(n)], one_each).tolist() == [n // 2] * n


def test_regions_take_a_fraction() -> None:
    people = ld.datasets.patients(200, seed=2)
    release = ld.anonymize(people, quasi=["age", "sex"], sensitive="disease", method=ld.Mondrian(l=3))

    assert ld.audit(release, sample_fraction=0.1).risk.journalist.max < ld.audit(release).risk.journalist.max


@pytest.mark.parametrize("fraction", [0, -0.5, 1.5, float("nan"), "much"])
def test_other_fractions_are_refused(fraction: float) -> None:
    with pytest.raises(ld.ParameterError, match="sample_fraction must be"):
        ld.audit(TABLE, **ROLES, sample_fraction=fraction)


def test_a_table_and_a_fraction_are_refused_together() -> None:
    with pytest.raises(ld.ParameterError, match="population and sample_fraction must not be given together"):
        ld.audit(TABLE, **ROLES, population=TABLE, sample_fraction=0.1)


def test_the_limit_is_data_with_its_source_and_reason() -> None:
    named = ld.audit(TABLE, **ROLES, threshold="ema-0070").to_dict()
    own = ld.audit(TABLE, **ROLES, threshold=0.6, rationale="a closed circle of three clinics").to_dict()

    assert (named["threshold"]["limit"], named["risk"]["threshold"]) == (0.09, 0.09)
    assert "European Medicines Agency" in named["threshold"]["source"]
    assert own["threshold"] == {
        "limit": 0.6,
        "name": "own",
        "source": "",
        "rationale": "a closed circle of three clinics",
    }
    assert own["risk"]["prosecutor"]["records_above"] == 2
    assert "a closed circle" in ld.audit(TABLE, **ROLES, threshold=0.6, rationale="a closed circle").to_html()
