"""How many values are pairwise far apart, against trying all subsets."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray
from ldiversity.distances import Distance, MatrixDistance, OrderedDistance, TreeDistance
from ldiversity.errors import UnsupportedError
from ldiversity.hierarchies import Hierarchy
from ldiversity.models import Population, SemanticClassDiversity
from ldiversity.models import _apart as module
from ldiversity.models._apart import apart
from ldiversity.schema import Domain


def most_apart(present: BoolArray, distances: NDArray[np.float64], d: float) -> int:
    """Try all subsets of the present values, the largest first."""
    values = np.flatnonzero(present)
    for size in range(len(values), 0, -1):
        for chosen in combinations(values, size):
            if all(distances[a, b] >= d for a, b in combinations(chosen, 2)):
                return size
    return 0


def random_classes(n_values: int, seed: int) -> NDArray[np.int64]:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 2, (60, n_values)) * rng.integers(1, 5, (60, n_values))
    counts[counts.sum(axis=1) == 0, 0] = 1
    return counts


def domain(n_values: int) -> Domain:
    return Domain(tuple(range(n_values)), ordered=True, positions=tuple(map(float, range(n_values))))


def path_lengths(n_leaves: int, seed: int) -> MatrixDistance:
    """Lengths of the paths between the leaves of a random tree with random edges."""
    rng = np.random.default_rng(seed)
    n_nodes = 2 * n_leaves
    parents = [int(rng.integers(0, max(node, 1))) for node in range(n_nodes)]
    lengths = rng.integers(1, 5, n_nodes)
    to = np.zeros((n_nodes, n_nodes))
    for node in range(1, n_nodes):
        to[node, :node] = to[:node, node] = to[parents[node], :node] + lengths[node]
    return MatrixDistance(tuple(range(n_leaves)), to[n_leaves:, n_leaves:])


def ring(n_values: int) -> MatrixDistance:
    steps = np.abs(np.arange(n_values)[:, None] - np.arange(n_values))
    return MatrixDistance(tuple(range(n_values)), np.minimum(steps, n_values - steps))


def random_distances(n_values: int, seed: int) -> MatrixDistance:
    upper = np.triu(np.random.default_rng(seed).integers(1, 10, (n_values, n_values)), 1)
    return MatrixDistance(tuple(range(n_values)), upper + upper.T)


TREE = TreeDistance(Hierarchy.from_rows([(str(i), f"a{i // 2}", f"b{i // 5}", "*") for i in (0, 1, 2, 3, 5, 6, 7, 8)]))
EIGHT = Domain(("0", "1", "2", "3", "5", "6", "7", "8"))


@pytest.mark.parametrize("d", [1, 2, 3, 5, 20])
def test_on_an_order_one_pass_finds_the_most(d: float) -> None:
    counts, near = random_classes(11, seed=1), apart(OrderedDistance(), d, domain(11))
    expected = [most_apart(row > 0, OrderedDistance().matrix(domain(11)), d) for row in counts]

    assert near.exact_pass
    assert near.count(counts).tolist() == expected


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_on_a_tree_of_levels_one_pass_finds_the_most(d: float) -> None:
    counts, near = random_classes(8, seed=2), apart(TREE, d, EIGHT)
    expected = [most_apart(row > 0, TREE.matrix(EIGHT), d) for row in counts]

    assert near.exact_pass
    assert near.count(counts).tolist() == expected


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("d", [4, 8, 13])
def test_on_paths_in_a_tree_one_pass_finds_the_most(seed: int, d: float) -> None:
    distance = path_lengths(10, seed)
    counts, near = random_classes(10, seed), apart(distance, d, domain(10))
    expected = [most_apart(row > 0, distance.matrix(domain(10)), d) for row in counts]

    assert near.exact_pass
    assert near.count(counts).tolist() == expected


@pytest.mark.parametrize("distance", [ring(10), *(random_distances(10, seed) for seed in range(6))])
@pytest.mark.parametrize("d", [3, 6])
def test_under_any_distance_the_search_finds_the_most(distance: Distance, d: float) -> None:
    counts, near = random_classes(10, seed=3), apart(distance, d, domain(10))
    expected = [most_apart(row > 0, distance.matrix(domain(10)), d) for row in counts]

    assert near.count(counts).tolist() == expected


def test_a_ring_has_no_order_for_a_single_pass() -> None:
    assert not apart(ring(10), 3, domain(10)).exact_pass


def test_more_than_64_values_fill_several_words() -> None:
    counts = np.ones((1, 150), dtype=np.int64)

    assert apart(OrderedDistance(), 7, domain(150)).count(counts).tolist() == [22]
    assert apart(ring(150), 7, domain(150)).count(counts).tolist() == [21]


def test_a_search_that_would_take_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_STEPS", 3)
    near = apart(random_distances(40, seed=5), 4, domain(40))

    with pytest.raises(UnsupportedError, match="cannot be decided exactly in 3 steps"):
        near.count(np.ones((1, 40), dtype=np.int64))


def test_a_search_stops_when_enough_is_found() -> None:
    near = apart(ring(30), 3, domain(30))

    assert near.count(np.ones((1, 30), dtype=np.int64), 4)[0] >= 4


def test_the_missing_category_is_far_from_everything() -> None:
    values = Domain((0, 1, None), ordered=True, positions=(0.0, 1.0, float("nan")))
    everyone = Population(values, np.array([1, 1, 1]))

    reached = SemanticClassDiversity(2, 1, "numeric").reached(np.array([[1, 0, 1], [1, 1, 1]]), everyone)

    assert reached.tolist() == [2, 3]
