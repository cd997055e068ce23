"""Unambiguous labels: no label names two different sets of leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ldiversity.errors import SchemaError
from ldiversity.schema import MISSING_LABEL

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ldiversity.hierarchies._tree import Hierarchy

__all__ = ["ROOT", "MadeRows", "check_unambiguous", "free_label", "with_missing"]

ROOT: Final = "*"
"""The label of the root of a made hierarchy."""


class MadeRows(NamedTuple):
    """The rows of a made hierarchy, and whether its leaves were declared rather than taken from values."""

    rows: list[tuple[str, ...]]
    declared: bool


def free_label(label: str, labels: Collection[str]) -> str:
    """Return a label that no other node has.

    Examples
    --------
    >>> free_label("a", {"b"}), free_label("a", {"a"})
    ('a', 'a*')
    """
    while label in labels:
        label += ROOT
    return label


def with_missing(rows: Iterable[tuple[str, ...]], *, missing: bool) -> list[tuple[str, ...]]:
    """Add the category of missing values under the root, if a value is missing."""
    listed = list(rows)
    root = listed[0][-1] if listed else ROOT
    return [*listed, (MISSING_LABEL, root)] if missing else listed


def check_unambiguous(tree: Hierarchy, *, quote: bool = True) -> Hierarchy:
    """Return the tree, or raise `SchemaError` when a label names two different sets of leaves.

    A label that repeats up a path with the same leaves is one node. Pass ``quote=False`` when the labels come from the
    cells of a table.

    Examples
    --------
    >>> from ldiversity.hierarchies import Hierarchy
    >>> check_unambiguous(Hierarchy.from_rows([("a", "x"), ("x", "x")]))
    Traceback (most recent call last):
    ldiversity.errors.SchemaError: Hierarchy: a label must name one set of leaves, but 'x' names two.
    Hint: Rename the value, or write the hierarchy into a file by hand.
    """
    seen: dict[str, tuple[int, int]] = {}
    for level, labels in enumerate(tree.labels):
        sizes = tree.count_leaves(level)
        _, first = np.unique(tree.nodes[:, level], return_index=True)
        for label, size, leaf in zip(labels, sizes.tolist(), first.tolist(), strict=True):
            # Two nodes of a tree are nested or disjoint, so the same size and one common leaf make them equal.
            if seen.setdefault(label, (size, leaf)) != (size, leaf):
                raise SchemaError(
                    "Hierarchy", f"a label must name one set of leaves, but {repr(label) if quote else 'one'} names two"
                ).with_hint("Rename the value, or write the hierarchy into a file by hand.")
    return tree
