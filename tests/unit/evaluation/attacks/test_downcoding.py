"""Downcoding: what tight regions tell, by hand, planted, and where regions are not tight."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.errors import UnsupportedError
from ldiversity.evaluation.attacks._show import show_release
from ldiversity.evaluation.attacks._shown_columns import Between, OneOf
from ldiversity.evaluation.attacks._tightness import deductions

Generalized = Callable[..., ld.ClassRelease]
TREE = ld.Hierarchy.from_rows([(f"z{code}", f"a{code // 2}", f"b{code // 6}", "*") for code in range(12)])


def people(n: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(20, 80, n),
            "zip": [f"z{code}" for code in rng.integers(0, 12, n)],
            "disease": [f"d{code}" for code in rng.integers(0, 6, n)],
        }
    )


def test_ends_of_intervals_are_deduced(generalized: Generalized) -> None:
    release = generalized([0, 0, 1, 1], [0, 1, 2, 3], [(20, 24), (30, 30)])

    (one,) = deductions(show_release(release), release)

    assert (one.column, one.size) == ("age", 2)
    assert one.ends == (Between(20, 20), Between(24, 24))


def test_only_nodes_with_two_children_are_narrowed() -> None:
    table = people(300, 1)
    release = ld.anonymize(table, quasi=["zip"], sensitive="disease", method=ld.BSGI(l=2), hierarchies={"zip": TREE})
    shown = release.region("zip").column.to_pylist()

    found = deductions(show_release(release), release)

    # Nodes a.. have two leaves and the root has two children; nodes b.. have three.
    assert len(found) == sum(label.startswith("a") or label == "*" for label in shown)
    for one in found:
        first, last = one.ends
        assert isinstance(first, OneOf)
        assert isinstance(last, OneOf)
        assert not (first.mask & last.mask).any()


@pytest.mark.parametrize("grid", ["exact", {"age": 5}])
@pytest.mark.parametrize("method", ["bsgi:l=2", "mondrian:l=3"])
def test_tight_regions_are_always_narrowed_rightly(method: str, grid: str | dict[str, int]) -> None:
    table = people(400, 2)
    release = ld.anonymize(
        table, quasi=["age", "zip"], sensitive="disease", method=method, hierarchies={"zip": TREE}, grid=grid
    )

    (one,) = ld.attack(release, table, control=people(400, 3), attacks="downcoding").risks

    assert one.success.share == 1
    assert one.control is not None
    assert one.beyond_chance or grid != "exact"
    assert one.details["downcoded_records"] <= one.details["records"]  # type: ignore[operator]
    assert one.details["narrowed_cells"] <= one.details["generalized_cells"]  # type: ignore[operator]


def test_regions_that_are_not_tight_tell_no_more_than_guessing(generalized: Generalized) -> None:
    """Classes of 20 ages of 0 to 99,999 in a public decile: an end is somebody's with a probability of about 20/10,000.

    That one of the 10 attacks succeeds has a probability below 1e-4.
    """
    rng = np.random.default_rng(5)
    ages = np.sort(rng.integers(0, 100_000, 200))
    of = ages // 10_000
    values = rng.integers(0, 6, 200)
    release = generalized(of.tolist(), values.tolist(), [(10_000 * k, 10_000 * k + 9_999) for k in range(10)], l=2)

    table = pa.table({"age": ages, "s": ["abcdef"[code] for code in values]})
    (one,) = ld.attack(release, table, attacks="downcoding").risks

    assert one.success.successes == 0
    assert "no better than guessing" in (one.caution or "")
    assert not one.beyond_chance


def test_methods_without_tight_regions_are_refused() -> None:
    table = people(200, 1)
    raised = ld.anonymize(
        table, quasi=["zip"], sensitive="disease", method=ld.Incognito(l=2), hierarchies={"zip": TREE}
    )
    sets = ld.anonymize(table, quasi=["zip"], sensitive="disease", method=ld.RandomizedAddition(l=2))

    with pytest.raises(UnsupportedError, match="one level for all records"):
        ld.attack(raised, table, attacks="downcoding")
    with pytest.raises(UnsupportedError, match="classes that share regions"):
        ld.attack(sets, table, attacks="downcoding")
