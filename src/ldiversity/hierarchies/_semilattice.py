"""A semilattice over values: like a tree, but a node may have several parents."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from ldiversity.base.checks import name_all, name_some
from ldiversity.errors import SchemaError
from ldiversity.hierarchies._files import read_cells
from ldiversity.hierarchies._text import check_label, check_unique, positions_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike

    from numpy.typing import NDArray

    from ldiversity.base.arrays import Scalar

__all__ = ["MAX_EDGES", "MAX_HEIGHT", "MAX_NODES", "SemiLattice"]

MAX_NODES: Final = 50_000
MAX_EDGES: Final = 500_000
MAX_HEIGHT: Final = 1_000
_ROOT: Final = "*"
_HEADER: Final = "child"
_PAIR: Final = 2


@dataclass(frozen=True, repr=False)
class SemiLattice:
    """Nodes with their parents, without cycles, below one root.

    Numbers need it: $60K-$70K is as close to $70K-$80K as to $50K-$60K, and no tree can express that. Every node
    may be a value. Values of any type are matched by their text.

    Parameters
    ----------
    parents
        Each node with its parents; the root has none. Use `from_edges` for pairs ``(child, parent)``.

    Raises
    ------
    SchemaError
        When there is a cycle, more than one root, or more nodes, edges or levels than the limits allow.

    Notes
    -----
    Two values may have several lowest common ancestors; distances use the nearest.

    Examples
    --------
    >>> lattice = SemiLattice.from_edges([("1", "1-2"), ("2", "1-2"), ("2", "2-3"), ("3", "2-3")])
    >>> lattice.ancestors(2)
    {'2': 0, '1-2': 1, '2-3': 1, '*': 2}
    """

    parents: tuple[tuple[str, tuple[str, ...]], ...]

    def __post_init__(self) -> None:
        _check_size(self.parents)
        check_unique("SemiLattice", "nodes", self.nodes)
        unknown = {parent for _, above in self.parents for parent in above} - self._parents_of.keys()
        if unknown:
            raise SchemaError(
                "SemiLattice", f"every parent must be a node, but {name_all(sorted(unknown), 'is', 'are')} not"
            )
        _check_acyclic(self._parents_of)
        roots = [node for node, above in self.parents if not above]
        if len(roots) > 1:
            raise SchemaError("SemiLattice", "there must be one root", got=name_some(roots)).with_hint(
                "SemiLattice.from_edges adds a root above them."
            )

    @classmethod
    def from_edges(cls, edges: Iterable[tuple[str, str]]) -> SemiLattice:
        """Make a semilattice from pairs ``(child, parent)``; several tops get a root ``*`` above them.

        Examples
        --------
        >>> SemiLattice.from_edges([("a", "x"), ("b", "y")]).nodes
        ('a', 'x', 'b', 'y', '*')
        """
        parents: dict[str, dict[str, None]] = {}
        for child, parent in edges:
            parents.setdefault(child, {})[parent] = None
            parents.setdefault(parent, {})
        roots = [node for node, above in parents.items() if not above]
        if len(roots) > 1:
            top = _ROOT
            while top in parents and top not in roots:
                top += _ROOT
            parents.setdefault(top, {})
            for root in roots:
                if root != top:
                    parents[root][top] = None
        return cls(tuple((node, tuple(above)) for node, above in parents.items()))

    @classmethod
    def read(
        cls,
        path: str | PathLike[str],
        *,
        delimiter: str | None = None,
        header: bool | Literal["auto"] = "auto",
    ) -> SemiLattice:
        """Read a file with one line per edge, ``child;parent``.

        Parameters
        ----------
        path
            CSV in UTF-8, also gzip-compressed.
        delimiter
            What separates the two labels; None finds it: semicolon, tab or comma.
        header
            Whether the first line names the columns; ``"auto"`` means that its first cell is ``child``.
        """
        lines = read_cells("SemiLattice", path, delimiter=delimiter, header=header, header_word=_HEADER)
        for number, cells in lines:
            if len(cells) != _PAIR or not all(cells):
                raise SchemaError("SemiLattice", f"line {number} of {str(path)!r} must be child;parent").with_hint(
                    "Give a child with several parents one line per parent; "
                    "a file of lines leaf;...;root is for the tree distance."
                )
        return cls.from_edges((child, parent) for _, (child, parent) in lines)

    def __repr__(self) -> str:
        return f"SemiLattice({len(self)} nodes, {len(self.edges)} edges)"

    def __len__(self) -> int:
        return len(self.parents)

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The nodes, in the order of `parents`."""
        return tuple(node for node, _ in self.parents)

    @cached_property
    def edges(self) -> NDArray[np.intp]:
        """Shape (edges, 2): child and parent of each edge, as positions in `nodes`."""
        position = self._position_of
        pairs = [(position[node], position[parent]) for node, above in self.parents for parent in above]
        return np.array(pairs, dtype=np.intp).reshape(-1, _PAIR)

    @cached_property
    def _parents_of(self) -> Mapping[str, tuple[str, ...]]:
        return dict(self.parents)

    @cached_property
    def _position_of(self) -> Mapping[str, int]:
        return {node: position for position, node in enumerate(self.nodes)}

    def __contains__(self, value: Scalar) -> bool:
        return text_of(value) in self._parents_of

    def positions(self, values: Iterable[Scalar]) -> NDArray[np.intp]:
        """Return the node of each value, or raise `SchemaError` with the number of values without one."""
        return positions_of("SemiLattice", "node", self._position_of, values, add="line child;parent")

    def ancestors(self, value: Scalar) -> dict[str, int]:
        """Return a value's node and each node above it, with the fewest steps up to it."""
        self.positions([value])
        steps = {text_of(value): 0}
        waiting = deque(steps)
        while waiting:
            node = waiting.popleft()
            for parent in self._parents_of[node]:
                if parent not in steps:
                    steps[parent] = steps[node] + 1
                    waiting.append(parent)
        return steps

    def restrict(self, values: Iterable[Scalar]) -> SemiLattice:
        """Keep only the nodes `values` and those above them; the distances between `values` do not change."""
        self.positions(wanted := list(values))
        kept: set[str] = set()
        waiting = [text_of(value) for value in wanted]
        while waiting:
            node = waiting.pop()
            if node not in kept:
                kept.add(node)
                waiting.extend(self._parents_of[node])
        return SemiLattice(tuple(entry for entry in self.parents if entry[0] in kept))


def _check_size(parents: tuple[tuple[str, tuple[str, ...]], ...]) -> None:
    if len(parents) > MAX_NODES:
        raise SchemaError("SemiLattice", f"there must be at most {MAX_NODES} nodes", got=len(parents))
    n_edges = sum(len(above) for _, above in parents)
    if n_edges > MAX_EDGES:
        raise SchemaError("SemiLattice", f"there must be at most {MAX_EDGES} edges", got=n_edges)
    for node, above in parents:
        check_label("SemiLattice", node)
        for parent in above:
            check_label("SemiLattice", parent)
        check_unique("SemiLattice", f"parents of {node!r}", above)


def _check_acyclic(parents_of: Mapping[str, tuple[str, ...]]) -> None:
    # Kahn's algorithm: remove nodes without children until none is left; what remains lies on or above a cycle.
    n_children = dict.fromkeys(parents_of, 0)
    for above in parents_of.values():
        for parent in above:
            n_children[parent] += 1
    bottom = [node for node, count in n_children.items() if count == 0]
    height = dict.fromkeys(parents_of, 0)
    while bottom:
        node = bottom.pop()
        del n_children[node]
        for parent in parents_of[node]:
            height[parent] = max(height[parent], height[node] + 1)
            n_children[parent] -= 1
            if n_children[parent] == 0:
                bottom.append(parent)
    if n_children:
        raise SchemaError(
            "SemiLattice", f"no node may be above itself, but a cycle is at or below {name_some(n_children)}"
        ).with_hint("Remove the line child;parent that closes the cycle.")
    if max(height.values(), default=0) > MAX_HEIGHT:
        raise SchemaError("SemiLattice", f"there must be at most {MAX_HEIGHT} levels above a node")
