"""Which values may stand together, and the structure of that graph."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from ldiversity.distances import NumericDistance, OrderedDistance
from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.mechanisms import Compatibility
from ldiversity.mechanisms import _compatibility as module
from ldiversity.schema import Domain

STEPS = np.abs(np.subtract.outer(np.arange(7), np.arange(7)))
BLOCKS = np.not_equal.outer([0, 1, 0, 2, 1, 3, 0], [0, 1, 0, 2, 1, 3, 0])
PENTAGON = np.isin(np.subtract.outer(np.arange(5), np.arange(5)) % 5, [1, 4])
GRAPHS = {"line": STEPS >= 2, "blocks": BLOCKS, "complete": STEPS > 0, "general": PENTAGON}


def listed(allowed: np.ndarray, l: int) -> list[list[int]]:
    """The valid sets by trying all."""
    codes = range(len(allowed))
    return [list(s) for s in combinations(codes, l) if all(allowed[i, j] for i, j in combinations(s, 2))]


@pytest.mark.parametrize("structure", GRAPHS)
def test_structure_is_read_off_the_matrix(structure: str) -> None:
    assert Compatibility(GRAPHS[structure]).structure == structure


def test_distance_is_compared_with_d_inclusively() -> None:
    pairs = Compatibility.of(OrderedDistance(), Domain(tuple("abc"), ordered=True), d=2)

    assert pairs.allowed.tolist() == [[False, False, True], [False, False, False], [True, False, False]]


def test_distance_zero_allows_all_pairs_but_no_value_twice() -> None:
    pairs = Compatibility.of(OrderedDistance(), Domain(tuple("abc"), ordered=True), d=0)

    assert pairs.structure == "complete"
    assert not pairs.allowed.diagonal().any()


def test_negative_d_is_refused() -> None:
    with pytest.raises(ParameterError, match="d must be a finite number of at least 0, got -1"):
        Compatibility.of(OrderedDistance(), Domain(tuple("abc"), ordered=True), d=-1)


def test_uneven_gaps_are_a_line() -> None:
    domain = Domain((0, 1, 5, 6, 20), ordered=True, positions=(0, 1, 5, 6, 20))

    pairs = Compatibility.of(NumericDistance(), domain, d=5)

    assert pairs.structure == "line"
    assert pairs.first_after is not None
    assert pairs.first_after.tolist() == [2, 3, 4, 4, 5]


def test_missing_category_at_the_end_keeps_the_line() -> None:
    domain = Domain((0, 1, 2, 3, None), ordered=True, positions=(0, 1, 2, 3, float("nan")))

    pairs = Compatibility.of(NumericDistance(), domain, d=2)

    assert pairs.first_after is not None
    assert pairs.first_after.tolist() == [2, 3, 4, 4, 5]


def test_blocks_are_numbered_by_first_appearance() -> None:
    pairs = Compatibility(GRAPHS["blocks"])

    assert pairs.block_of is not None
    assert pairs.block_of.tolist() == [0, 1, 0, 2, 1, 3, 0]


def test_general_graph_has_neither_line_nor_blocks() -> None:
    pairs = Compatibility(PENTAGON)

    assert pairs.first_after is None
    assert pairs.block_of is None


@pytest.mark.parametrize("size", [1, 63, 64, 65, 130])
def test_bits_are_the_rows_of_the_matrix(size: int) -> None:
    allowed = np.random.default_rng(size).random((size, size)) < 0.5
    pairs = Compatibility(allowed | allowed.T)

    read = [[bool(int(row[j // 64]) >> (j % 64) & 1) for j in range(size)] for row in pairs.bits]

    assert read == pairs.allowed.tolist()


@pytest.mark.parametrize("structure", GRAPHS)
@pytest.mark.parametrize("l", [1, 2, 3, 4])
def test_counts_and_lists_agree_with_trying_all(structure: str, l: int) -> None:
    pairs = Compatibility(GRAPHS[structure])
    expected = listed(pairs.allowed, l)

    assert pairs.count_sets(l) == len(expected)
    assert pairs.enumerate_sets(l, limit=1000).tolist() == expected  # type: ignore[union-attr]


@pytest.mark.parametrize("structure", GRAPHS)
@pytest.mark.parametrize("l", [1, 2, 3])
def test_sets_of_one_value_are_counted_as_by_trying_all(structure: str, l: int) -> None:
    pairs = Compatibility(GRAPHS[structure])
    expected = [sum(code in s for s in listed(pairs.allowed, l)) for code in range(len(pairs))]

    assert [pairs.count_sets(l, containing=code) for code in range(len(pairs))] == expected


def test_large_counts_are_exact() -> None:
    size, l, d = 1000, 30, 20

    pairs = Compatibility(np.abs(np.subtract.outer(np.arange(size), np.arange(size))) >= d)

    # l ordered values at least d apart among F: choose l among F - (l - 1)(d - 1).
    assert pairs.count_sets(l) == module.comb(size - (l - 1) * (d - 1), l)


@pytest.mark.parametrize("structure", GRAPHS)
def test_more_sets_than_the_limit_are_not_listed(structure: str) -> None:
    pairs = Compatibility(GRAPHS[structure])

    assert pairs.enumerate_sets(2, limit=pairs.count_sets(2) - 1) is None


def test_chunks_keep_the_order_of_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK", 2)

    assert Compatibility(BLOCKS).enumerate_sets(3, limit=1000).tolist() == listed(BLOCKS, 3)  # type: ignore[union-attr]


def test_search_without_structure_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COUNT_LIMIT", 4)

    with pytest.raises(UnsupportedError, match="more than 4 partial sets"):
        Compatibility(PENTAGON).count_sets(3)


@pytest.mark.parametrize("structure", GRAPHS)
def test_admits_exactly_the_valid_sets(structure: str) -> None:
    pairs = Compatibility(GRAPHS[structure])
    rows = np.array(list(combinations(range(len(pairs)), 3)), dtype=np.int32)

    admitted = rows[pairs.admits(rows)]

    assert admitted.tolist() == listed(pairs.allowed, 3)


@pytest.mark.parametrize("row", [[0, 0], [-1, 3], [0, 7]])
def test_repeated_and_unknown_codes_are_not_admitted(row: list[int]) -> None:
    assert not Compatibility(STEPS >= 2).admits(np.array([row], dtype=np.int32)).any()


def test_a_domain_too_large_for_exact_facts_is_refused() -> None:
    domain = Domain(values=tuple(range(2_001)), ordered=True)

    with pytest.raises(UnsupportedError, match=r"at most 2000 values, got 2001"):
        Compatibility.of(OrderedDistance(), domain, 2)
