"""Hierarchies as trees."""

from __future__ import annotations

import numpy as np
import pytest

from ldiversity.errors import ParameterError, SchemaError
from ldiversity.hierarchies import Hierarchy, Node
from ldiversity.hierarchies._tree import MAX_LEVELS

ROWS = [
    ("flu", "lung", "infection", "*"),
    ("cold", "lung", "infection", "*"),
    ("cholera", "gut", "infection", "*"),
    ("ulcer", "gut-2", "other", "*"),
]


@pytest.fixture
def tree() -> Hierarchy:
    return Hierarchy.from_rows(ROWS)


def test_depth_counts_leaf_and_root(tree: Hierarchy) -> None:
    assert tree.depth == 4


def test_leaves_keep_the_order_of_rows(tree: Hierarchy) -> None:
    assert tree.leaves == ("flu", "cold", "cholera", "ulcer")


@pytest.mark.parametrize(("k", "label"), [(0, "cold"), (1, "lung"), (2, "infection"), (3, "*")])
def test_level_gives_the_ancestor_label(tree: Hierarchy, k: int, label: str) -> None:
    assert tree.level("cold", k) == label


@pytest.mark.parametrize("k", [-1, 4, 1.5, True])
def test_level_outside_the_tree_is_refused(tree: Hierarchy, k: object) -> None:
    with pytest.raises(ParameterError, match="level must be an integer from 0 to 3"):
        tree.level("cold", k)  # type: ignore[arg-type]


def test_labels_of_a_level_are_distinct_and_in_order(tree: Hierarchy) -> None:
    assert tree.labels[2] == ("infection", "other")


def test_nodes_are_positions_in_labels(tree: Hierarchy) -> None:
    assert tree.nodes.tolist() == [[0, 0, 0, 0], [1, 0, 0, 0], [2, 1, 0, 0], [3, 2, 1, 0]]


def test_nodes_cannot_be_written(tree: Hierarchy) -> None:
    with pytest.raises(ValueError, match="read-only"):
        tree.nodes[0, 0] = 5


def test_leaves_under_a_node(tree: Hierarchy) -> None:
    assert tree.leaves_under("infection", 2) == ("flu", "cold", "cholera")


def test_leaves_under_an_unknown_label_is_refused_with_the_known_ones(tree: Hierarchy) -> None:
    with pytest.raises(ParameterError, match="Level 2 has 'infection', 'other'"):
        tree.leaves_under("lung", 2)


def test_count_leaves_of_a_level(tree: Hierarchy) -> None:
    np.testing.assert_array_equal(tree.count_leaves(1), [2, 1, 1])


@pytest.mark.parametrize(
    ("values", "node"),
    [
        (["flu"], Node("flu", 0, 1)),
        (["flu", "cold"], Node("lung", 1, 2)),
        (["cold", "cholera"], Node("infection", 2, 3)),
        (["ulcer", "flu", "cold"], Node("*", 3, 4)),
    ],
)
def test_lowest_common_ancestor(tree: Hierarchy, values: list[str], node: Node) -> None:
    assert tree.lowest_common_ancestor(values) == node


def test_lowest_common_ancestor_of_nothing_is_refused(tree: Hierarchy) -> None:
    with pytest.raises(ParameterError, match="at least one leaf"):
        tree.lowest_common_ancestor([])


def test_restrict_keeps_the_given_order_and_all_levels(tree: Hierarchy) -> None:
    assert tree.restrict(["cold", "flu"]).rows == (ROWS[1], ROWS[0])


def test_restrict_to_unknown_values_counts_them(tree: Hierarchy) -> None:
    with pytest.raises(SchemaError, match="got 12 that are not"):
        tree.restrict([f"x{i}" for i in range(12)])


def test_rows_come_back(tree: Hierarchy) -> None:
    assert Hierarchy.from_rows(tree.to_rows()) == tree


def test_numbers_are_matched_by_their_text() -> None:
    assert Hierarchy.from_rows([("1", "low", "*"), ("2", "low", "*")]).level(2, 1) == "low"


def test_none_is_the_leaf_missing() -> None:
    assert Hierarchy.from_rows([("(missing)", "none", "*"), ("a", "some", "*")]).level(None, 1) == "none"


def test_shorter_rows_repeat_the_leaf_so_that_roots_align() -> None:
    tree = Hierarchy.from_rows([("a", "p", "q", "*"), ("b", "q", "*"), ("c", "*")])

    assert tree.rows[1:] == (("b", "b", "q", "*"), ("c", "c", "c", "*"))


def test_several_roots_get_a_root_above_them() -> None:
    assert Hierarchy.from_rows([("a", "x"), ("b", "y")]).labels[-1] == ("*",)


def test_the_constructor_refuses_several_roots() -> None:
    with pytest.raises(SchemaError, match="one root, got 'x', 'y'"):
        Hierarchy((("a", "x"), ("b", "y")))


def test_the_constructor_refuses_rows_of_unequal_length() -> None:
    with pytest.raises(SchemaError, match="same length"):
        Hierarchy((("a", "x", "*"), ("b", "*")))


def test_a_node_with_two_parents_is_named_and_the_semilattice_recommended() -> None:
    with pytest.raises(SchemaError, match=r"node 'lung' of level 1 .* 'a', 'b'.\nHint: .* semilattice"):
        Hierarchy.from_rows([("flu", "lung", "a", "*"), ("cold", "lung", "b", "*")])


def test_the_same_text_at_two_levels_is_two_nodes() -> None:
    tree = Hierarchy.from_rows([("E11", "E11", "*"), ("E11.9", "E11", "*")])

    assert tree.lowest_common_ancestor(["E11", "E11.9"]) == Node("E11", 1, 2)


def test_repeated_leaves_are_refused() -> None:
    with pytest.raises(SchemaError, match="leaves must be distinct, got 'a' more than once"):
        Hierarchy.from_rows([("a", "x", "*"), ("a", "x", "*")])


def test_an_empty_row_is_refused() -> None:
    with pytest.raises(SchemaError, match="at least one label"):
        Hierarchy.from_rows([()])


@pytest.mark.parametrize(("label", "rule"), [("", "1 to 500"), ("x" * 501, "1 to 500"), (3, "text, got int")])
def test_a_bad_label_is_refused(label: object, rule: str) -> None:
    with pytest.raises(SchemaError, match=rule):
        Hierarchy((("a", label),))  # type: ignore[arg-type]


def test_too_many_levels_are_refused() -> None:
    with pytest.raises(SchemaError, match="1 to 64 labels, got 65"):
        Hierarchy((("a",) * (MAX_LEVELS + 1),))


def test_too_many_leaves_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldiversity.hierarchies._tree.MAX_LEAVES", 1)

    with pytest.raises(SchemaError, match="at most 1 leaves, got 4"):
        Hierarchy.from_rows(ROWS)


def test_a_hierarchy_without_leaves_has_no_levels() -> None:
    assert Hierarchy(()).depth == 0


def test_the_repr_is_short(tree: Hierarchy) -> None:
    assert repr(tree) == "Hierarchy(4 leaves, 4 levels)"
