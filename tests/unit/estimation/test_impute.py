"""`release.impute` and `combine`: what completed tables hold, and that they are drawn as the mathematics says."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import lgamma

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.errors import LDiversityWarning
from ldiversity.estimation._impute import _augment, _Shown
from ldiversity.mechanisms import UniformSelection
from ldiversity.release import SetRelease
from ldiversity.schema import Attribute, Domain, Role, Schema

N = 600
DISEASES, JOBS = ("cold", "flu", "gout", "ulcer"), ("none", "nurse", "pilot")
rng = np.random.default_rng(2)
TABLE = pa.table(
    {
        "sex": np.array(["f", "m"])[rng.integers(0, 2, N)],
        "disease": np.array(DISEASES)[rng.integers(0, 4, N)],
        "age": rng.integers(20, 80, N),
        "job": np.array(JOBS)[rng.integers(0, 3, N)],
    }
)
ROLES = {"quasi": ["sex", "age"], "sensitive": ["disease", "job"]}


@pytest.fixture(scope="module")
def release() -> ld.Release:
    return ld.anonymize(TABLE.to_pandas(), **ROLES, method=ld.RandomizedAddition(l=2))


def test_a_completed_table_has_the_published_columns_and_members_of_sets(release: ld.Release) -> None:
    tables = release.impute(3, sensitive="disease", by="sex", seed=1)

    assert [list(table.columns) for table in tables] == [["sex", "disease", "age"]] * 3
    for table in tables:
        assert isinstance(table, pd.DataFrame)
        assert (table["age"] == release.table["age"]).all()
        assert all(value in shown for value, shown in zip(table["disease"], release.table["disease"], strict=True))
    assert not (tables[0]["disease"] == tables[1]["disease"]).all()


def test_a_seed_repeats_and_no_seed_does_not(release: ld.Release) -> None:
    first, again = (release.impute(2, sensitive="job", seed=7)[1] for _ in range(2))
    other = release.impute(2, sensitive="job")[1]

    assert first.equals(again)
    assert not first.equals(other)


def test_several_attributes_are_drawn_together_and_keep_their_relation() -> None:
    same = TABLE.set_column(3, "job", pa.array([JOBS[min(DISEASES.index(one.as_py()), 2)] for one in TABLE["disease"]]))
    release = ld.anonymize(same, **ROLES, method=ld.RandomizedAddition(l=2), confirm=["disease", "job"])

    table = release.impute(2, seed=3)[0]
    diseases, jobs = (table[name].to_pylist() for name in ("disease", "job"))

    agree = np.mean([JOBS[min(DISEASES.index(d), 2)] == j for d, j in zip(diseases, jobs, strict=True)])
    assert agree > 0.8  # drawn apart, about every second one would


def test_by_a_regression_too(release: ld.Release) -> None:
    tables = release.impute(2, sensitive="disease", formula="disease ~ age + C(sex)", seed=1)

    assert all(value in shown for value, shown in zip(tables[0]["disease"], release.table["disease"], strict=True))


def test_values_outside_their_sets_are_drawn_where_the_true_one_may_be_missing() -> None:
    method = ld.RandomizedAddition(l=2, epsilon=1.0)
    release = ld.anonymize(TABLE.select(["sex", "disease"]), quasi="sex", sensitive="disease", method=method)
    sets = release.sets("disease")

    table = release.impute(2, seed=1)[0]
    values = [DISEASES.index(value) for value in table["disease"].to_pylist()]
    inside = np.mean([value in shown for value, shown in zip(values, sets, strict=True)])

    # Of evenly spread values, the set holds the true one with probability p = l e / (l e + F - l).
    expected = 2 * np.e / (2 * np.e + 2)
    assert 0.45 < expected - 0.2 < inside < expected + 0.2


def test_small_cells_are_warned_of(release: ld.Release) -> None:
    with pytest.warns(ld.LDiversityWarning, match=r"cells? (has|have) fewer than 10 records per value"):
        release.impute(2, by=["sex", "age"], sensitive="disease")


def test_draws_follow_the_exact_posterior(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldiversity.estimation._impute._MOST_STEPS", 12)
    sets = np.array([[0, 1], [0, 1], [1, 2], [0, 2]], dtype=np.int32)
    given = np.array([[1.0, 0.5], [1.0, 0.5], [0.3, 1.0], [1.0, 1.0]])
    prior = np.array([0.5, 1.0, 0.7])
    shown = _Shown(("v",), (3,), np.column_stack([sets, np.arange(4)]), sets, given, prior / prior.sum())
    exact = {}
    for chosen in product(range(2), repeat=4):
        values = [int(sets[i, k]) for i, k in enumerate(chosen)]
        counts = np.bincount(values, minlength=3)
        chance = np.prod([given[i, k] for i, k in enumerate(chosen)])
        grown = sum(lgamma(c + a) - lgamma(a) for c, a in zip(counts, prior, strict=True))
        exact[tuple(values)] = chance * np.exp(grown)
    whole = sum(exact.values())

    draw = np.random.default_rng(5)
    times = 3000
    drawn = shown.draw(_augment(shown, np.zeros(4, dtype=np.int64), 1, prior, times, draw), draw)
    found = Counter(tuple(codes["v"].tolist()) for codes in drawn)

    assert set(found) <= set(exact)
    for values, weight in exact.items():
        share = weight / whole
        # Five standard errors, as of half as many draws: they are nearly independent. False alarms: 16 x 6e-7.
        assert found[values] / times == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / (times / 2)))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"m": 1}, "m must be an integer from 2 to 10000"),
        ({"m": 10**12}, "m must be an integer from 2 to 10000"),
        ({"seed": "x"}, "seed must be"),
        ({"sensitive": "age"}, "sensitive must name distinct attributes"),
        ({"by": "job", "sensitive": "disease"}, "must name published columns"),
        ({"formula": "disease ~ age", "sensitive": ["disease", "job"]}, "must name one attribute where a formula"),
        ({"formula": "age ~ sex"}, "must have a sensitive column before the ~"),
        ({"formula": "nothing ~ sex"}, "must have a sensitive column before the ~"),
        ({"formula": "disease, job"}, "must be a text with one ~"),
        ({"formula": "disease ~ age", "sensitive": "disease", "by": "sex"}, "by must be left out"),
        ({"formula": "disease == 'flu' ~ age", "sensitive": "disease"}, "alone before the ~"),
        ({"formula": "job ~ age", "sensitive": "disease"}, "must have the drawn attribute before the ~"),
    ],
)
def test_what_cannot_be_drawn_is_refused(release: ld.Release, given: dict[str, object], said: str) -> None:
    with pytest.raises(ld.ParameterError, match=said):
        release.impute(**({"m": 2} | given))  # type: ignore[arg-type]


def test_a_formula_names_the_attribute_of_a_release_of_several(release: ld.Release) -> None:
    named, alone = (
        release.impute(2, formula="disease ~ age", seed=4, **given)  # type: ignore[arg-type]
        for given in ({"sensitive": "disease"}, {})
    )

    assert [list(table) for table in alone] == [list(table) for table in named]
    assert "job" not in list(alone[0])
    assert all(one.equals(other) for one, other in zip(alone, named, strict=True))
    with pytest.raises(ld.ParameterError, match="must name one attribute") as refused:
        release.impute(2, formula="disease ~ age", sensitive=["disease", "job"])
    assert refused.value.hint is not None
    assert "Name the one before the ~ in sensitive" in refused.value.hint


def test_grouped_releases_are_refused_with_the_reason() -> None:
    release = ld.anonymize(TABLE.drop(["job"]), quasi=["sex", "age"], sensitive="disease", method=ld.Anatomy(l=2))

    with pytest.raises(ld.UnsupportedError, match="share classes"):
        release.impute(2)


def test_rubins_rules_by_hand() -> None:
    found = ld.combine([[1.0, 5.0], [3.0, 5.0]], [[0.5, 2.0], [1.5, 2.0]], confidence=0.9)

    # The mean is 2, the mean variance 1, the variance between 2, so that the total is 1 + 1.5 x 2.
    first, second = found.figures
    assert (first.estimate, first.std_error, first.df) == pytest.approx((2.0, 2.0, (4 / 3) ** 2))
    assert first.missing == pytest.approx((3 + 2 / (first.df + 3)) / 4)
    assert (second.std_error, second.df, second.missing) == (np.sqrt(2), np.inf, 0)
    assert found.low[1] == pytest.approx(5 - 1.6448536 * np.sqrt(2))
    assert (found.low < found.estimate).all()
    assert (found.estimate < found.high).all()
    assert "2 completed tables" in str(found)


@pytest.mark.parametrize("share", [0.0, 1e-6, 0.02, 0.3, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("apart", [0.0, 1e-3, 0.1])
def test_intervals_of_shares_hold_those_of_other_figures_and_stay_between_0_and_1(share: float, apart: float) -> None:
    every = np.clip(share + apart * np.arange(-2, 3), 0, 1)
    variances = every * (1 - every) / 100
    plain, shares = ld.combine(every, variances), ld.combine(every, variances, shares=True)

    assert 0 <= shares.low[0] <= max(plain.low[0], 0)
    assert min(plain.high[0], 1) <= shares.high[0] <= 1
    assert (shares.estimate, shares.std_error) == (plain.estimate, plain.std_error)
    # A share and its complement are one figure.
    other = ld.combine(1 - every, variances, shares=True)
    assert (1 - other.high[0], 1 - other.low[0]) == pytest.approx((shares.low[0], shares.high[0]), abs=1e-12)


def test_the_interval_of_a_share_by_hand() -> None:
    found = ld.combine([0.04, 0.04], [1e-4, 1e-4], shares=True)

    # Tables agree, so the quantile is normal. The square root of .04 is .2, and the angle moves by z * .01 / .392.
    z = 1.959964
    assert found.high[0] == pytest.approx(np.sin(np.arcsin(0.2) + z * 0.01 / (2 * np.sqrt(0.04 * 0.96))) ** 2)
    assert found.low[0] == pytest.approx(0.04 - z * 0.01)


def test_shares_are_between_0_and_1() -> None:
    with pytest.raises(ld.ParameterError, match=r"between 0 and 1 where they are shares\.\s.*Leave shares out"):
        ld.combine([-0.1, 0.1], [0.1, 0.1], shares=True)


@pytest.mark.parametrize(
    ("estimates", "variances", "said"),
    [
        ([1.0], [1.0], "at least two"),
        ([1.0, 2.0], [1.0], "shape of estimates"),
        ([1.0, np.nan], [1.0, 1.0], "finite"),
        ([1.0, 2.0], [1.0, -1.0], "not negative"),
        ([[1.0], [1.0, 2.0]], [1.0, 1.0], "must hold numbers"),
        (3.0, 1.0, "one row per completed table"),
    ],
)
def test_what_cannot_be_combined_is_refused(estimates: object, variances: object, said: str) -> None:
    with pytest.raises(ld.ParameterError, match=said):
        ld.combine(estimates, variances)  # type: ignore[arg-type]


def test_columns_at_a_level_and_types_stay_as_they_are_published() -> None:
    schema = Schema(
        (Attribute("age", Role.QUASI, "int64"), Attribute("v", Role.SENSITIVE, "int64", Domain((10, 20, 30))))
    )
    release = SetRelease.in_memory(
        schema=schema,
        columns=pa.table({"age": [1, 2, 3] * 20}),
        sets={"v": np.array([[0, 1], [1, 2], [0, 2]] * 20, dtype=np.int32)},
        mechanisms={"v": UniformSelection(3, 2)},
    )

    table = release.impute(2, seed=1)[0]

    assert table.schema.types == [pa.int64(), pa.int64()]
    assert set(table["v"].to_pylist()) <= {10, 20, 30}


def test_sets_of_a_person_that_were_drawn_together_are_warned_of() -> None:
    table = pa.table({"who": np.arange(400) // 2, "x": np.arange(400) % 2, "s": np.array(list("abcd") * 100)})
    method = ld.RandomizedAddition(l=2)
    together = ld.anonymize(table, quasi="x", sensitive="s", person="who", method=method)

    with pytest.warns(LDiversityWarning, match="a person may have several records"):
        together.impute(2, by="x", seed=1)


def test_sets_that_were_drawn_on_their_own_are_not_warned_of(recwarn: pytest.WarningsRecorder) -> None:
    table = pa.table({"x": np.arange(400) % 2, "s": np.array(list("abcd") * 100)})

    ld.anonymize(table, quasi="x", sensitive="s", method=ld.RandomizedAddition(l=2)).impute(2, by="x", seed=1)

    assert not [one for one in recwarn if "several records" in str(one.message)]
