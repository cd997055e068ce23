"""Distances in semilattices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ldiversity.distances import SemilatticeDistance
from ldiversity.errors import SchemaError
from ldiversity.hierarchies import SemiLattice
from ldiversity.schema import Domain

if TYPE_CHECKING:
    from pathlib import Path


def intervals(size: int) -> SemiLattice:
    """All intervals of neighbors, each under the two that are longer by one: paper 004, Fig. 3."""
    return SemiLattice.from_edges(
        (f"{low}-{high}", f"{first}-{last}")
        for low in range(size)
        for high in range(low, size)
        for first, last in ((low - 1, high), (low, high + 1))
        if first >= 0 and last < size
    )


def test_intervals_of_numbers_give_the_ordered_distance() -> None:
    domain = Domain(tuple(f"{i}-{i}" for i in range(12)))

    matrix = SemilatticeDistance(intervals(12)).matrix(domain)

    np.testing.assert_array_equal(matrix, np.abs(np.subtract.outer(np.arange(12), np.arange(12))))


def test_a_value_above_another_is_as_far_as_the_steps_between_them() -> None:
    lattice = SemiLattice.from_edges([("a", "b"), ("b", "c")])

    assert SemilatticeDistance(lattice).matrix(Domain(("a", "b", "c")))[0].tolist() == [0, 1, 2]


def test_the_longer_of_two_ways_up_counts() -> None:
    lattice = SemiLattice.from_edges([("a", "b"), ("b", "top"), ("c", "top")])

    assert SemilatticeDistance(lattice).matrix(Domain(("a", "c")))[0, 1] == 2


def test_the_nearest_of_several_common_ancestors_counts() -> None:
    lattice = SemiLattice.from_edges([("a", "x"), ("x", "top"), ("c", "top"), ("a", "y"), ("c", "y"), ("y", "top")])

    assert SemilatticeDistance(lattice).matrix(Domain(("a", "c")))[0, 1] == 1


def test_the_triangle_inequality_may_fail() -> None:
    lattice = SemiLattice.from_edges(
        [("a", "p"), ("b", "p"), ("b", "q"), ("c", "q"), ("p", "p2"), ("p2", "top"), ("q", "q2"), ("q2", "top")]
    )

    matrix = SemilatticeDistance(lattice).matrix(Domain(("a", "b", "c")))

    assert matrix.tolist() == [[0, 1, 3], [1, 0, 1], [3, 1, 0]]


def test_an_unlisted_missing_value_is_at_the_greatest_distance() -> None:
    matrix = SemilatticeDistance(intervals(4)).matrix(Domain(("0-0", "2-2", None)))

    assert matrix[2].tolist() == [2, 2, 0]


def test_a_listed_missing_value_stands_where_the_semilattice_has_it() -> None:
    lattice = SemiLattice.from_edges([("(missing)", "x"), ("a", "x"), ("x", "top"), ("b", "top")])

    assert SemilatticeDistance(lattice).matrix(Domain(("a", "b", None)))[2].tolist() == [1, 2, 0]


def test_values_that_are_no_node_are_named() -> None:
    with pytest.raises(SchemaError, match="every value of the domain must be listed, got 1 that are not"):
        SemilatticeDistance(intervals(3)).matrix(Domain(("0-0", 7)))


def test_a_file_gives_the_distance(tmp_path: Path) -> None:
    path = tmp_path / "lattice.csv"
    path.write_text("1;low\n2;low\n2;high\n3;high\n", encoding="utf-8")

    matrix = SemilatticeDistance.read(path).matrix(Domain((1, 2, 3)))

    assert matrix.tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
