"""The lattice of levels: which nodes satisfy a rule, and which of them loses least."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from math import prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray
from ldiversity.errors import UnsupportedError
from ldiversity.methods._base import GroupingRun, Partition
from ldiversity.methods._incognito_counts import Combinations
from ldiversity.methods._incognito_search import Levels, Search
from ldiversity.methods._rule import Rules
from ldiversity.sentences import Method, say

__all__ = ["MOST_NODES", "Levels", "find_least", "losses"]

MOST_NODES: Final = 1 << 17
"""Nodes of a lattice that are searched at most."""


def find_least(
    full: Combinations,
    rules: Rules,
    most: int,
    run: GroupingRun,
    classes_of: Callable[[Levels, BoolArray], Partition | None],
) -> tuple[Levels, Partition] | None:
    """The node of least loss at which at most `most` records are in classes that must be left out.

    `classes_of` makes the classes of a node, of which some are left out; it may refuse the node.

    Nodes are tried in ascending order of loss, so the first that satisfies the rule is the one. When nothing may be
    left out, nodes are first ruled out by fewer columns: a node satisfies the rules only if it does for every subset of
    its columns, because a class of fewer columns is a union of classes, and every rule is monotone. When records may be
    left out this does not follow (one bad class of a union may be left out, the union is bad as a whole): then nodes
    are ruled out by how many records must be left out at least below a node (`_incognito_search`).

    Returns
    -------
    The level of each column, and the classes; None when there is no such node.
    """
    depths = [column.nodes.shape[1] for column in full.columns]
    n_nodes = prod(depth + 1 for depth in depths) if most == 0 else prod(depths)
    if n_nodes > MOST_NODES:
        raise UnsupportedError("Incognito", f"the lattice must have at most {MOST_NODES} nodes", got=n_nodes).with_hint(
            say(
                "Use fewer quasi-identifiers, or hierarchies of fewer levels; or {}, which needs no lattice.",
                Method("Mondrian"),
            )
        )
    search = Search(full, rules, most) if most else None
    possible = np.ones(depths, dtype=bool) if most else _possible(full, rules, depths, run)
    for levels in _by_loss(full, possible):
        left_out = full.suppressed(levels, rules, most) if search is None else search.left_out(levels)
        classes = None if left_out is None else classes_of(levels, left_out)
        if classes is not None:
            run.progress(1.0, "searching the lattice")
            return levels, classes
    return None


def losses(full: Combinations) -> list[NDArray[np.float64]]:
    """The mean loss of each column at each of its levels, over all records."""
    n = full.sizes.sum()
    return [
        (full.sizes[:, None] * column.costs[codes]).sum(axis=0, dtype=np.float64) / n
        for column, codes in zip(full.columns, full.codes, strict=True)
    ]


def _by_loss(full: Combinations, possible: BoolArray) -> Iterator[Levels]:
    """Nodes in ascending order of loss; among equals the lower ones first."""
    nodes = np.argwhere(possible)
    loss = np.zeros(len(nodes))
    for k, column in enumerate(losses(full)):
        loss += column[nodes[:, k]]
    for node in nodes[np.lexsort((nodes.sum(axis=1), loss.round(12)))]:
        yield tuple(int(level) for level in node)


def _possible(full: Combinations, rules: Rules, depths: list[int], run: GroupingRun) -> BoolArray:
    """Which nodes of the whole lattice satisfy the rule for all proper subsets of the columns."""
    n = len(depths)
    surviving: dict[Levels, BoolArray] = {(): np.ones((), dtype=bool)}
    for size in range(1, n):
        surviving |= {
            chosen: _survivors(full, chosen, rules, _candidates(chosen, depths, surviving))
            for chosen in combinations(range(n), size)
        }
        run.progress(size / n, "searching the lattice")
    return _candidates(tuple(range(n)), depths, surviving)


def _candidates(chosen: Levels, depths: list[int], surviving: dict[Levels, BoolArray]) -> BoolArray:
    """Nodes of some columns that survived for all subsets with one column less."""
    possible = np.ones([depths[k] for k in chosen], dtype=bool)
    for axis, k in enumerate(chosen):
        fewer = surviving[tuple(other for other in chosen if other != k)]
        possible &= np.expand_dims(fewer, axis)
    return possible


def _survivors(full: Combinations, chosen: Levels, rules: Rules, possible: BoolArray) -> BoolArray:
    """Which of the possible nodes of some columns satisfy the rule; all above one that does, do."""
    satisfied = np.zeros_like(possible)
    nodes = np.argwhere(possible)
    if not len(nodes):
        return satisfied
    some = full.only(chosen, nodes.min(axis=0).tolist())  # all possible nodes are above
    for node in nodes[np.argsort(nodes.sum(axis=1), kind="stable")]:
        levels = tuple(int(level) for level in node)
        if not satisfied[levels] and some.suppressed(levels, rules, 0) is not None:
            satisfied[tuple(slice(level, None) for level in levels)] = True
    return satisfied
