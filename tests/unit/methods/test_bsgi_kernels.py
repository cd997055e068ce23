"""The compiled loops of BSGI against slow and obvious ones."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from ldiversity._kernels import bsgi_loss, bsgi_parts, bsgi_tree
from ldiversity._kernels.bsgi_greedy import fill_classes
from ldiversity._kernels.bsgi_group import outlying
from ldiversity._kernels.bsgi_loss import make_query, total_loss
from ldiversity._kernels.bsgi_paper import select_paper
from ldiversity._kernels.bsgi_parts import cut
from ldiversity._kernels.bsgi_repair import gather, incorporate
from ldiversity._kernels.bsgi_tree import Rules, build_tree
from ldiversity.hierarchies import Hierarchy
from ldiversity.methods import CategoryColumn, CodedTable, NumberColumn, SensitiveColumn
from ldiversity.methods._bsgi_space import Space, make_space
from ldiversity.schema import Domain

N, VALUES = 240, 80
TREE = Hierarchy.from_rows([(f"leaf {i}", f"low {i % 4}", f"high {i % 2}", "*") for i in range(12)])
WEIGHTS = {"age": 1.0, "income": 2.0, "place": 0.5, "sex": 1.0}
ALL = np.uint64(2**64 - 1)

# Helpers as kernels have them: called from Python they would run uncompiled.
aim, box_loss, pair_losses = njit(bsgi_loss.aim), njit(bsgi_loss.box_loss), njit(bsgi_loss.pair_losses)
fill_words, sort_words = njit(bsgi_parts.fill_words), njit(bsgi_parts.sort_words)
nearest, remove = njit(bsgi_tree.nearest), njit(bsgi_tree.remove)


def table(seed: int = 0, n: int = N) -> CodedTable:
    rng = np.random.default_rng(seed)
    age = NumberColumn("age", rng.integers(0, 40, n), 0, 39, rng.random(n) < 0.1)
    income = NumberColumn("income", rng.exponential(1.0, n), 0.0, 12.0)
    place = CategoryColumn("place", rng.integers(0, 12, n).astype(np.int32), TREE.leaves, TREE)
    sex = CategoryColumn("sex", rng.integers(0, 3, n).astype(np.int32), ("f", "m", "x"))
    codes = rng.permutation(n).astype(np.int32) % VALUES
    return CodedTable((age, income, place, sex), (SensitiveColumn("disease", codes, Domain(tuple(range(VALUES)))),))


def space_of(given: CodedTable) -> Space:
    return make_space("test", given, WEIGHTS)


def keys_of(given: CodedTable) -> np.ndarray:
    return given.sensitive[0].codes.reshape(-1, 1)


def slow_loss(given: CodedTable, rows: list[int]) -> float:
    """The loss of a record whose class has these rows, from the columns as they are."""
    total = 0.0
    for column in given.quasi:
        if isinstance(column, NumberColumn):
            total += WEIGHTS[column.name] * min(float(np.ptp(column.scaled[rows])), 1.0)
        else:
            nodes = column.nodes[column.codes[rows]]
            level = int(np.argmax((nodes == nodes[0]).all(axis=0)))
            total += WEIGHTS[column.name] * float(column.costs[column.codes[rows[0]], level])
    return total


def rules(n_values: int = VALUES) -> Rules:
    return Rules(
        np.full((1, n_values), -1, dtype=np.int32),
        np.full((1, n_values), 3, dtype=np.int32),
        np.zeros(1, dtype=np.bool_),
    )


def test_the_loss_of_a_grouping_is_that_of_its_columns() -> None:
    given = table()
    class_of = (np.arange(N) % 60 - 1).astype(np.int32)

    total = total_loss(space_of(given).loss, space_of(given).points, class_of, 59)

    groups = [np.flatnonzero(class_of == g).tolist() for g in range(59)]
    assert total == pytest.approx(sum(len(rows) * slow_loss(given, rows) for rows in groups), rel=1e-5)


def test_expected_losses_of_pairs_are_those_of_all_pairs() -> None:
    space = space_of(table(n=60))
    rows = np.arange(60, dtype=np.int32)

    found = pair_losses(space.loss, space.points, rows, 50_000).sum()

    pairs = [space.points[[i, j]] for i in range(60) for j in range(60)]
    every = np.mean([box_loss(space.loss, pair.min(axis=0), pair.max(axis=0)) for pair in pairs])
    # Evenly spread pairs, not all of them: they must agree to a few percent, enough to rank coordinates.
    assert found == pytest.approx(every, rel=0.1)


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_record_is_that_of_trying_all(seed: int) -> None:
    given = table(seed)
    space, codes = space_of(given), given.sensitive[0].codes
    tree = build_tree(space.loss, space.points, keys_of(given), 5)
    free = (tree.end - tree.start).astype(np.int32)
    for row in range(1, N, 3):
        remove(tree, free, tree.where[row])
    known = rules()
    known.stamps[0, codes[0]] = 9
    query = make_query(space.loss)
    query.low[:] = space.points[[0, 1]].min(axis=0)
    query.high[:] = space.points[[0, 1]].max(axis=0)
    aim(query, space.loss)
    stack, bounds = np.empty(N, dtype=np.int32), np.empty(N, dtype=np.float32)

    place = nearest(tree, free, query, known, 9, 3, ALL, np.float32(0), 1, N, stack, bounds)

    allowed = [row for row in range(N) if row % 3 != 1 and codes[row] != codes[0]]
    least = min(slow_loss(given, [0, 1, row]) for row in allowed)
    assert tree.rows[place] in allowed
    assert slow_loss(given, [0, 1, int(tree.rows[place])]) == pytest.approx(least, abs=1e-5)


def test_nobody_is_nearest_when_all_are_gone() -> None:
    given = table(n=20)
    space = space_of(given)
    tree = build_tree(space.loss, space.points, keys_of(given), 5)
    free = (tree.end - tree.start).astype(np.int32)
    for row in range(20):
        remove(tree, free, tree.where[row])
    query = make_query(space.loss)
    aim(query, space.loss)
    stack, bounds = np.empty(N, dtype=np.int32), np.empty(N, dtype=np.float32)

    assert nearest(tree, free, query, rules(), 0, 1, ALL, np.float32(0), 1, N, stack, bounds) == -1


def test_records_far_from_the_middle_or_rare_are_outlying() -> None:
    given = table()
    space = space_of(given)

    found = outlying(space.loss, space.points, space.centers, space.rarity)

    n_numbers, loss = len(space.loss.caps), space.loss
    for row, point in enumerate(space.points):
        away = np.minimum(np.abs(point[:n_numbers] - space.centers), loss.caps).sum()
        leaves = [loss.base[c] + int(place) * loss.levels[c] for c, place in enumerate(point[n_numbers:])]
        assert found[row] == pytest.approx(away + sum(space.rarity[leaf] for leaf in leaves), rel=1e-5)


def test_words_sort_as_their_numbers() -> None:
    numbers = np.array([2.0, -1.0, 0.0, 3.5, -1.0, 2.0, 1e-9, 1.0], dtype=np.float32)

    words = np.empty(len(numbers), dtype=np.uint32)
    fill_words(numbers.view(np.uint32).reshape(-1, 1), np.arange(len(numbers), dtype=np.int32), 0, words)

    assert sort_words(words).tolist() == np.argsort(numbers, kind="stable").tolist()


@pytest.mark.parametrize("tolerance", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("l", [2, 3, 5])
def test_both_sides_of_a_cut_are_eligible(l: int, tolerance: float) -> None:
    space = space_of(table())
    k = N // l
    # As tight as can be: l values, k times each, and they follow the first coordinate.
    values = np.empty(N, dtype=np.int32)
    values[np.argsort(space.points[:, 0], kind="stable")] = np.repeat(np.arange(l), k)
    rows = np.arange(N, dtype=np.int32)

    place, coordinate = cut(space.loss, space.points, values, l, rows, l, tolerance)

    assert sorted(rows.tolist()) == list(range(N))
    assert 0 < place < N
    assert 0 <= coordinate < space.points.shape[1]
    assert np.bincount(values[rows[:place]]).tolist() == [place // l] * l


def test_a_cut_without_moves_parts_near_from_far() -> None:
    given = CodedTable(
        (NumberColumn("age", np.arange(40)[::-1].copy(), 0, 39),),
        (SensitiveColumn("disease", np.arange(40, dtype=np.int32) % 4, Domain((0, 1, 2, 3))),),
    )
    space = make_space("test", given, None)
    rows = np.arange(40, dtype=np.int32)

    place, coordinate = cut(space.loss, space.points, given.sensitive[0].codes, 4, rows, 2, 0.0)

    assert sorted(given.numbers[0].values[rows[:place]].tolist()) == list(range(20))
    assert coordinate == 0


@pytest.mark.parametrize("l", [2, 4, 7])
def test_tight_values_leave_no_record_without_a_class(l: int) -> None:
    space = space_of(table(n=70 * l))
    rng = np.random.default_rng(l)
    codes = rng.permutation(np.repeat(np.arange(l), 70)).astype(np.int32).reshape(-1, 1)
    tree = build_tree(space.loss, space.points, codes, 8)
    class_of = np.empty(70 * l, dtype=np.int32)
    order = np.arange(70 * l, dtype=np.int32)

    formed = fill_classes(space.loss, tree, order, np.array([l]), l, 0.05, 1, 100, class_of)

    members = [sorted(codes[class_of == g, 0].tolist()) for g in range(70)]
    assert formed == 70
    assert members == [list(range(l))] * 70


def test_a_residual_joins_the_class_that_loses_least_by_it() -> None:
    given = table(n=61)
    space, codes = space_of(given), np.arange(61, dtype=np.int32) % 20
    codes[60] = 0
    class_of = np.append(np.repeat(np.arange(15), 4), -1).astype(np.int32)
    classes = gather(space.points, class_of, 15)

    failed = incorporate(space.loss, space.points, codes.reshape(-1, 1), classes, class_of, np.array([60]), 100)

    groups = {g: list(range(4 * g, 4 * g + 4)) for g in range(15) if 0 not in codes[4 * g : 4 * g + 4]}
    added = {g: 5 * slow_loss(given, [*rows, 60]) - 4 * slow_loss(given, rows) for g, rows in groups.items()}
    assert failed == 0
    assert class_of[60] in groups
    assert added[int(class_of[60])] == pytest.approx(min(added.values()), abs=1e-4)


def slow_paper(given: CodedTable, codes: list[int], n_values: int, l: int) -> list[list[int]]:
    """Fig. 1 and 2, word by word; a random record is the next one."""
    buckets = [[row for row, code in enumerate(codes) if code == value] for value in range(n_values)]
    classes = []
    while sum(map(bool, buckets)) >= l:
        largest = sorted(buckets, key=len, reverse=True)[:l]
        chosen = [largest[0].pop(0)]
        for bucket in largest[1:]:
            best = min(bucket, key=lambda row: slow_loss(given, [*chosen, row]))
            bucket.remove(best)
            chosen.append(best)
        classes.append(chosen)
    return classes


def test_the_first_class_of_the_published_greedy_is_that_of_the_figures() -> None:
    given = table(3)
    space = space_of(given)
    codes = np.random.default_rng(3).integers(0, 8, N).astype(np.int32)
    class_of = np.empty(N, dtype=np.int32)

    formed = select_paper(space.loss, space.points, codes.reshape(-1, 1), 8, 4, class_of, lambda _: None)

    expected = slow_paper(given, codes.tolist(), 8, 4)
    assert formed == len(expected)
    assert sorted(np.flatnonzero(class_of == 0).tolist()) == sorted(expected[0])
