"""Laws of distances on random trees, semilattices and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ldiversity.distances import NumericDistance, SemilatticeDistance, TreeDistance, distance_from_dict
from ldiversity.hierarchies import Hierarchy, SemiLattice
from ldiversity.schema import Domain


@st.composite
def trees(draw: Any) -> Hierarchy:
    """Random trees: each level maps the nodes below it to fewer or as many."""
    nodes = list(range(draw(st.integers(1, 10))))
    columns = [[f"leaf{node}" for node in nodes]]
    for _ in range(draw(st.integers(0, 4))):
        parents = draw(st.lists(st.integers(0, 9), min_size=10, max_size=10))
        nodes = [parents[node] for node in nodes]
        columns.append([f"n{node}" for node in nodes])
    return Hierarchy.from_rows(zip(*columns, strict=True))


@st.composite
def lattices(draw: Any) -> SemiLattice:
    """Random semilattices: parents of a node are later nodes."""
    size = draw(st.integers(2, 10))
    pairs = st.tuples(st.integers(0, size - 2), st.integers(1, size - 1)).filter(lambda pair: pair[0] < pair[1])
    edges = draw(st.lists(pairs, min_size=1, max_size=20))
    return SemiLattice.from_edges((str(child), str(parent)) for child, parent in edges)


def _slow_tree_distance(tree: Hierarchy, a: str, b: str) -> int:
    pairs = zip(tree.path(a), tree.path(b), strict=True)
    return next(level for level, (left, right) in enumerate(pairs) if left == right)


def _slow_lattice_distance(lattice: SemiLattice, a: str, b: str) -> int:
    above_a, above_b = lattice.ancestors(a), lattice.ancestors(b)
    return min(max(above_a[node], above_b[node]) for node in above_a.keys() & above_b.keys())


@given(trees())
def test_tree_distances_are_an_ultrametric(tree: Hierarchy) -> None:
    matrix = TreeDistance(tree).matrix(Domain((*tree.leaves, None)))

    through = np.maximum(matrix[:, :, None], matrix[None, :, :]).min(axis=1)
    assert (matrix <= through).all()


@given(trees())
def test_different_leaves_of_a_tree_are_apart(tree: Hierarchy) -> None:
    matrix = TreeDistance(tree).matrix(Domain((*tree.leaves, None)))

    assert ((matrix > 0) == ~np.eye(len(tree) + 1, dtype=bool)).all()


@given(trees())
def test_tree_distances_equal_the_slow_reference(tree: Hierarchy) -> None:
    matrix = TreeDistance(tree).matrix(Domain(tree.leaves))

    assert matrix.tolist() == [[_slow_tree_distance(tree, a, b) for b in tree.leaves] for a in tree.leaves]


@given(trees(), st.data())
def test_part_of_a_domain_keeps_its_tree_distances(tree: Hierarchy, data: Any) -> None:
    codes = data.draw(st.lists(st.integers(0, len(tree) - 1), unique=True))
    part = Domain(tuple(tree.leaves[code] for code in codes))

    read = distance_from_dict(TreeDistance(tree).to_dict(part), part)

    whole = TreeDistance(tree).matrix(Domain(tree.leaves))
    np.testing.assert_array_equal(read.matrix(part), whole[np.ix_(codes, codes)])


@given(trees(), st.data())
def test_the_common_ancestor_of_two_leaves_is_at_the_level_of_their_distance(tree: Hierarchy, data: Any) -> None:
    pair = data.draw(st.tuples(st.sampled_from(tree.leaves), st.sampled_from(tree.leaves)))

    ancestor = tree.lowest_common_ancestor(pair)

    assert ancestor.level == _slow_tree_distance(tree, *pair)
    assert ancestor.n_leaves == len(tree.leaves_under(ancestor.label, ancestor.level))


@given(lattices())
def test_semilattice_distances_equal_the_slow_reference(lattice: SemiLattice) -> None:
    matrix = SemilatticeDistance(lattice).matrix(Domain(lattice.nodes))

    expected = [[_slow_lattice_distance(lattice, a, b) for b in lattice.nodes] for a in lattice.nodes]
    assert matrix.tolist() == expected


@given(lattices(), st.data())
def test_part_of_a_domain_keeps_its_semilattice_distances(lattice: SemiLattice, data: Any) -> None:
    codes = data.draw(st.lists(st.integers(0, len(lattice) - 1), unique=True))
    part = Domain(tuple(lattice.nodes[code] for code in codes))

    read = distance_from_dict(SemilatticeDistance(lattice).to_dict(part), part)

    whole = SemilatticeDistance(lattice).matrix(Domain(lattice.nodes))
    np.testing.assert_array_equal(read.matrix(part), whole[np.ix_(codes, codes)])


@given(trees())
def test_a_tree_is_a_semilattice_with_the_same_distances(tree: Hierarchy) -> None:
    # Nodes are named by level and label, so that the same text at two levels stays two nodes.
    named = [[label if level == 0 else f"{level}:{label}" for level, label in enumerate(row)] for row in tree.rows]
    edges = [(child, parent) for row in named for child, parent in zip(row, [*row[1:], "top"], strict=True)]

    matrix = SemilatticeDistance(SemiLattice.from_edges(edges)).matrix(Domain(tree.leaves))

    np.testing.assert_array_equal(matrix, TreeDistance(tree).matrix(Domain(tree.leaves)))


@given(st.lists(st.floats(-1e6, 1e6), unique=True, max_size=8), st.floats(1e-3, 1e3))
def test_numeric_distances_satisfy_the_triangle_inequality(positions: list[float], unit: float) -> None:
    domain = Domain(tuple(map(str, range(len(positions)))), positions=tuple(positions))

    matrix = NumericDistance(unit).matrix(domain)

    through = (matrix[:, :, None] + matrix[None, :, :]).min(axis=1, initial=np.inf)
    assert (matrix <= through * (1 + 1e-8) + 1e-12).all()
