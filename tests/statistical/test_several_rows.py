"""Several rows of a person: independent draws are broken; draws that belong to people, and classes, are not.

Each result may be called broken by chance with a probability of at most 1/40. Counts of false alarms among N runs are
bounded by the quantile of the binomial for 1/40 beyond which it goes with less than 1e-5.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

import ldiversity as ld
from ldiversity.schema import Attribute, Domain, Role, Schema

F, L, ROWS = 16, 2, 4
VALUES = tuple(f"v{code:02d}" for code in range(F))
DISEASE = ld.Sensitive("s", domain=VALUES)
RUNS = 40
MOST = int(binom.ppf(1 - 1e-5, RUNS, 1 / 40))


def patients(rng: np.random.Generator, n: int, *, steady: bool) -> pa.Table:
    """Four rows per person, with ages of their own; `steady`: with the same value in all of them."""
    who = np.repeat(np.arange(n), ROWS)
    codes = rng.integers(0, F, n)[who] if steady else rng.integers(0, F, len(who))
    return pa.table({"who": who, "age": np.arange(len(who)), "s": np.array(VALUES)[codes]})


def partition_sets(rng: np.random.Generator, codes: NDArray[np.int64], who: NDArray[np.int64]) -> NDArray[np.int32]:
    """The block that holds the value, of a uniformly random partition of the domain for each person."""
    sets = np.empty((len(codes), L), dtype=np.int32)
    for person in np.unique(who):
        blocks = rng.permutation(F).reshape(-1, L)
        for row in np.flatnonzero(who == person):
            sets[row] = np.sort(blocks[(blocks == codes[row]).any(axis=1)][0])
    return sets


def test_independent_draws_for_four_rows_of_one_value_are_read_off() -> None:
    table = patients(np.random.default_rng(0), 500, steady=True)
    release = ld.anonymize(table, quasi="age", sensitive=DISEASE, drop="who", method=ld.RandomizedAddition(l=L))

    (result,) = ld.attack(release, table, attacks="several-rows", person="who").results

    # Another value is in all four sets with probability (1/15)^4, so somebody keeps a second one with at most .0003.
    # More than six of 500 such people: below 1e-8.
    assert result.success > 1 - 3 / 500
    assert result.broken


@pytest.mark.parametrize("steady", [True, False])
def test_draws_that_belong_to_people_are_rarely_called_broken(steady: bool) -> None:  # noqa: FBT001 - a case
    broken, right = 0, []
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        table = patients(rng, 50, steady=steady)
        codes = np.searchsorted(VALUES, table["s"].to_numpy(zero_copy_only=False))
        release = ld.SetRelease.in_memory(
            schema=Schema(
                (Attribute("age", Role.QUASI, "int64"), Attribute("s", Role.SENSITIVE, "string", Domain(VALUES)))
            ),
            columns=table.select(["age"]),
            sets={"s": partition_sets(rng, codes, table["who"].to_numpy())},
            mechanisms={"s": ld.RandomizedAddition(l=L).fit(Domain(VALUES))},
        )
        (result,) = ld.attack(release, table, attacks="several-rows", person="who").results
        broken += result.broken
        right.append(result.success)

    assert broken <= MOST
    # A fair guess between two: ties count as half, so nothing is left to chance.
    assert np.allclose(right, 0.5)


@pytest.mark.parametrize("steady", [True, False])
def test_what_is_published_with_a_person_column_is_rarely_called_broken(steady: bool) -> None:  # noqa: FBT001 - a case
    broken, left = 0, []
    for seed in range(RUNS):
        table = patients(np.random.default_rng(seed), 50, steady=steady)
        release = ld.anonymize(table, quasi="age", sensitive=DISEASE, person="who", method=ld.RandomizedAddition(l=L))
        (result,) = ld.attack(release, table, attacks="several-rows", person="who").results
        broken += result.broken
        left.append(result.details["people_whose_rows_were_joined"])
        assert release.person

    assert broken <= MOST
    # Sets of one person are equal or have nothing in common: no value is ever ruled out.
    assert left == [0] * RUNS


@pytest.mark.parametrize("method", [ld.Anatomy(l=2), ld.BSGI(l=2), ld.Mondrian(l=2)])
def test_classes_that_keep_people_apart_are_rarely_called_broken(method: ld.Method) -> None:
    """The values of a person are unrelated here: equal ones could be intersected, as every grouped release says."""
    broken = 0
    for seed in range(RUNS):
        table = patients(np.random.default_rng(seed), 50, steady=False)
        release = ld.anonymize(table, quasi="age", sensitive=DISEASE, person="who", method=method)
        (result,) = ld.attack(release, table, attacks="several-rows", person="who").results
        broken += result.broken

    assert broken <= MOST


def test_equal_values_of_a_person_in_different_classes_are_intersected() -> None:
    table = patients(np.random.default_rng(1), 500, steady=True)
    release = ld.anonymize(table, quasi="age", sensitive=DISEASE, person="who", method=ld.Anatomy(l=2))

    (result,) = ld.attack(release, table, attacks="several-rows", person="who").results

    assert result.broken
    assert any("intersect" in sentence for sentence in release.not_protected)
