"""Which draw a question gets: it follows from which values may share a set."""

from __future__ import annotations

from collections.abc import Sequence

from ldiversity.collection.draw._base import Draw
from ldiversity.collection.draw._chain import ChainDraw
from ldiversity.collection.draw._listed import ListedDraw, list_sets
from ldiversity.collection.draw._partition import PartitionDraw

__all__ = ["choose_draw", "uniform_draw"]


def uniform_draw(n_values: int, l: int) -> PartitionDraw:
    """The draw where any `l` values may share a set, all equally likely."""
    return PartitionDraw(l, [[code] for code in range(n_values)])


def choose_draw(l: int, allowed: Sequence[Sequence[bool]], weights: Sequence[float]) -> Draw | None:
    """The draw where only `allowed` pairs may share a set; None if there are too many sets to list, or none.

    Values fall into groups, as in a tree, or stand in an order; otherwise the sets are listed. Groups of one size have
    partitions, and their weights are all equal.

    Examples
    --------
    >>> far = [[abs(i - j) >= 2 for j in range(5)] for i in range(5)]
    >>> choose_draw(2, far, [1.0] * 5).kind
    'chain'
    """
    groups = _groups(allowed)
    if groups is not None:
        if len({len(group) for group in groups}) == 1:
            return PartitionDraw(l, groups) if l <= len(groups) else None
        node_of = [next(node for node, group in enumerate(groups) if code in group) for code in range(len(allowed))]
        return ChainDraw(l, node_of, list(range(1, len(groups) + 1)), weights)
    first_after = _line(allowed)
    if first_after is not None:
        return ChainDraw(l, list(range(len(allowed))), first_after, weights)
    sets = list_sets(allowed, l)
    return ListedDraw(sets, weights) if sets else None


def _groups(allowed: Sequence[Sequence[bool]]) -> list[list[int]] | None:
    """The groups of values too close to share a set, by first appearance; None if being too close is no equivalence."""
    near = dict.fromkeys(
        frozenset(j for j, may in enumerate(row) if not may or j == i) for i, row in enumerate(allowed)
    )
    # Every value is in one of them at least, so they are disjoint if they have as many members as there are values.
    return [sorted(group) for group in near] if sum(map(len, near)) == len(allowed) else None


def _line(allowed: Sequence[Sequence[bool]]) -> list[int] | None:
    """The first allowed value to the right of each; None if the allowed values on the right are no growing suffixes."""
    size = len(allowed)
    first_after: list[int] = []
    for i, row in enumerate(allowed):
        first = next((j for j in range(i + 1, size) if row[j]), size)
        if not all(row[first:]):
            return None
        first_after.append(first)
    return first_after if first_after == sorted(first_after) else None
