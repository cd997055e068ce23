"""Where there is nothing to break, attacks break nothing: shared quasi-identifiers, common values, records left out.

The claim holds on all tables here, so each result may be called broken with a probability of at most 1/40. Counts of
false alarms among N runs are bounded by the binomial's quantile for 1/40 beyond which it goes with less than 1e-5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

import ldiversity as ld
from ldiversity.evaluation.attacks._clusters import cluster_interval
from ldiversity.evaluation.attacks._score import _beats

RUNS = 40
MOST = int(binom.ppf(1 - 1e-5, RUNS, 1 / 40))
Table = Callable[[np.random.Generator], pa.Table]


def unrelated(rng: np.random.Generator, n: int = 200) -> pa.Table:
    """Everyone is alone with an age; values are drawn evenly."""
    return named(rng.integers(0, 6, n), np.arange(n))


def shared(rng: np.random.Generator, n: int = 200) -> pa.Table:
    """Two kinds of people, each with a value that half of them have."""
    kind = rng.integers(0, 2, n)
    return named(np.where(rng.random(n) < 0.5, kind, rng.integers(2, 6, n)), kind)


def common(rng: np.random.Generator, n: int = 200) -> pa.Table:
    """Forty ages, and a value that half of the people have, whatever their age."""
    return named(rng.choice(5, n, p=[0.5, 0.2, 0.1, 0.1, 0.1]), rng.integers(0, 40, n))


def named(values: np.ndarray, ages: np.ndarray) -> pa.Table:
    return pa.table({"age": ages, "s": [f"v{value}" for value in values]})


def alarms(make: Table, method: ld.Method, attacks: Sequence[str], *, again: bool = False) -> dict[str, int]:
    """How many of the runs each attack calls broken; `again`: the release itself is the second one."""
    counts = dict.fromkeys(attacks, 0)
    for seed in range(RUNS):
        table = make(np.random.default_rng(seed))
        release = ld.anonymize(table, quasi="age", sensitive="s", method=method)
        for result in ld.attack(release, table, attacks=attacks, second=release if again else None).results:
            counts[result.attack.split()[0]] += result.broken
    return counts


@pytest.mark.parametrize(
    ("make", "method", "attacks"),
    [
        (shared, ld.RandomizedAddition(l=3), ["homogeneity", "mechanism", "order", "intersection"]),
        (common, ld.RandomizedAddition(l=3), ["homogeneity", "mechanism", "order", "intersection"]),
        (common, ld.Anatomy(l=3, overflow="suppress"), ["homogeneity", "skewness", "order", "composition"]),
        (common, ld.BSGI(l=3, overflow="suppress"), ["homogeneity", "skewness", "order", "composition", "extremes"]),
        (unrelated, ld.Anatomy(l=2), ["homogeneity", "skewness", "order", "composition", "definetti"]),
        (unrelated, ld.Mondrian(l=2), ["homogeneity", "skewness", "order", "composition", "extremes"]),
    ],
)
def test_a_claim_that_holds_is_rarely_called_broken(make: Table, method: ld.Method, attacks: list[str]) -> None:
    found = alarms(make, method, attacks, again=True)

    # Five attacks at most, each with a false alarm below 1e-5.
    assert max(found.values()) <= MOST


def test_attributes_that_go_together_by_chance_only_are_rarely_called_broken() -> None:
    broken = 0
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        columns = {name: [f"{name}{value}" for value in rng.integers(0, 6, 200)] for name in "ab"}
        table = pa.table({"who": np.arange(200), **columns})
        with pytest.warns(ld.LDiversityWarning):
            release = ld.anonymize(table, quasi="who", sensitive=["a", "b"], method=ld.LLMSU(l=2, joint=False))
        broken += ld.attack(release, table, attacks="joint", sensitive="a").broken

    assert broken <= MOST


def test_keyed_sets_of_people_who_look_alike_give_intersection_nothing() -> None:
    broken = 0
    for seed in range(RUNS):
        table = shared(np.random.default_rng(seed)).append_column("who", pa.array([f"p{i}" for i in range(200)]))
        key = ld.Key.new()
        first, second = (
            ld.anonymize(
                some,
                quasi="age",
                sensitive="s",
                method=ld.RandomizedAddition(l=3),
                key=key,
                record_id="who",
                drop="who",
            )
            for some in (table, table.slice(20))
        )
        broken += ld.attack(first, table, second=second, attacks="intersection").broken

    assert broken <= MOST


def test_exploded_rows_of_someone_alone_are_a_set() -> None:
    table = unrelated(np.random.default_rng(1), 600)
    release = ld.anonymize(table, quasi="age", sensitive="s", method=ld.RandomizedAddition(l=3), layout="exploded")

    homogeneity, strongest, *_ = ld.attack(release, table, attacks=["homogeneity", "background"]).results

    # Each guess is a fair one of three, or of the two that are left: no noise.
    assert (homogeneity.success, homogeneity.certain) == (pytest.approx(1 / 3), 0)
    assert (strongest.success, strongest.broken) == (pytest.approx(1 / 2), False)


def test_exploded_rows_of_people_who_look_alike_break_nothing() -> None:
    table = shared(np.random.default_rng(1))
    release = ld.anonymize(table, quasi="age", sensitive="s", method=ld.RandomizedAddition(l=3), layout="exploded")

    report = ld.attack(release, table, second=release)

    assert not report.broken


def test_the_interval_of_pairs_covers_as_often_as_it_says() -> None:
    rng = np.random.default_rng(2)
    pairs = rng.random((2000, 60)) < 0.5
    intervals = [cluster_interval(np.repeat(each, 2).astype(float), [np.arange(120) // 2]) for each in pairs]

    missed = sum(not low <= 0.5 <= high for low, high in intervals)

    # At most 5 % are missed; of 2000 the binomial's quantile leaves a false alarm below 1e-5.
    assert missed <= binom.ppf(1 - 1e-5, 2000, 0.05)


def test_pairs_who_are_right_by_chance_beat_a_claim_in_one_of_eighty_at_most() -> None:
    rng = np.random.default_rng(3)
    pairs = rng.random((2000, 60)) < 0.5

    beaten = sum(_beats(np.repeat(each, 2).astype(float), 0.5, [], [np.arange(120) // 2]) for each in pairs)

    # One result is tested for all and for those he is sure of, each at 1/80.
    assert beaten <= binom.ppf(1 - 1e-5, 2000, 1 / 80)


def test_the_interval_of_independent_people_is_clopper_and_pearson_s() -> None:
    from scipy.stats import binomtest

    right = np.repeat([1.0, 0.0], [30, 70])
    expected = binomtest(30, 100).proportion_ci(method="exact")

    assert cluster_interval(right, [np.arange(100)]) == pytest.approx((expected.low, expected.high), rel=0.01)


def test_clusters_that_are_all_right_are_worth_one_person_each() -> None:
    low, _ = cluster_interval(np.ones(40), [np.arange(40) // 10])

    # Four of four: (tail)^(1/4) with a tail of 2.5 %.
    assert low == pytest.approx(0.025**0.25)
