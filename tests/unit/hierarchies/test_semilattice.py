"""Semilattices: nodes with several parents."""

from __future__ import annotations

import pytest

from ldiversity.errors import SchemaError
from ldiversity.hierarchies import SemiLattice

EDGES = [("1", "1-2"), ("2", "1-2"), ("2", "2-3"), ("3", "2-3")]


@pytest.fixture
def lattice() -> SemiLattice:
    return SemiLattice.from_edges(EDGES)


def test_several_tops_get_a_root_above_them(lattice: SemiLattice) -> None:
    assert lattice.parents[-1] == ("*", ())


def test_a_top_named_star_becomes_the_root_of_the_others() -> None:
    assert SemiLattice.from_edges([("a", "*"), ("b", "x")]).ancestors("b") == {"b": 0, "x": 1, "*": 2}


def test_an_inner_node_named_star_is_no_root() -> None:
    lattice = SemiLattice.from_edges([("a", "*"), ("*", "x"), ("b", "y")])

    assert lattice.ancestors("a") == {"a": 0, "*": 1, "x": 2, "**": 3}


def test_ancestors_carry_the_fewest_steps() -> None:
    lattice = SemiLattice.from_edges([("a", "b"), ("b", "c"), ("a", "c")])

    assert lattice.ancestors("a") == {"a": 0, "b": 1, "c": 1}


def test_ancestors_of_an_unknown_value_are_refused(lattice: SemiLattice) -> None:
    with pytest.raises(SchemaError, match="got 1 that are not"):
        lattice.ancestors(7)


def test_restrict_keeps_values_and_what_is_above(lattice: SemiLattice) -> None:
    assert lattice.restrict([1]).nodes == ("1", "1-2", "*")


def test_restrict_to_the_root_keeps_it(lattice: SemiLattice) -> None:
    assert lattice.restrict(["*"]).parents == (("*", ()),)


def test_edges_are_positions(lattice: SemiLattice) -> None:
    assert lattice.edges[0].tolist() == [lattice.nodes.index("1"), lattice.nodes.index("1-2")]


def test_a_repeated_edge_counts_once(lattice: SemiLattice) -> None:
    assert SemiLattice.from_edges([*EDGES, EDGES[0]]) == lattice


@pytest.mark.parametrize(
    "edges",
    [[("a", "a")], [("a", "b"), ("b", "a")], [("x", "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("c", "*")]],
)
def test_a_cycle_is_refused(edges: list[tuple[str, str]]) -> None:
    with pytest.raises(SchemaError, match="a cycle is at or below 'a'"):
        SemiLattice.from_edges(edges)


def test_the_constructor_refuses_two_roots() -> None:
    with pytest.raises(SchemaError, match="one root, got 'a', 'b'"):
        SemiLattice((("a", ()), ("b", ())))


def test_a_parent_that_is_no_node_is_refused() -> None:
    with pytest.raises(SchemaError, match="every parent must be a node, but 'b' is not"):
        SemiLattice((("a", ("b",)),))


def test_a_repeated_node_is_refused() -> None:
    with pytest.raises(SchemaError, match="nodes must be distinct"):
        SemiLattice((("a", ()), ("a", ())))


def test_a_repeated_parent_is_refused() -> None:
    with pytest.raises(SchemaError, match="parents of 'a' must be distinct"):
        SemiLattice((("a", ("b", "b")), ("b", ())))


@pytest.mark.parametrize(
    ("limit", "rule"),
    [("MAX_NODES", "at most 2 nodes"), ("MAX_EDGES", "at most 2 edges"), ("MAX_HEIGHT", "at most 2 levels")],
)
def test_sizes_are_limited(monkeypatch: pytest.MonkeyPatch, limit: str, rule: str) -> None:
    monkeypatch.setattr(f"ldiversity.hierarchies._semilattice.{limit}", 2)

    with pytest.raises(SchemaError, match=rule):
        SemiLattice.from_edges([("a", "b"), ("b", "c"), ("c", "d")])


def test_the_repr_is_short(lattice: SemiLattice) -> None:
    assert repr(lattice) == "SemiLattice(6 nodes, 6 edges)"
