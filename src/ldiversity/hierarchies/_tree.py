"""A tree over values: each leaf with its labels, level by level, up to the root."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Self

import numpy as np

from ldiversity.base.checks import check_integer, name_some
from ldiversity.base.limits import MOST_LEVELS
from ldiversity.base.numbers import counted
from ldiversity.errors import ParameterError, SchemaError
from ldiversity.hierarchies._builders import Builders
from ldiversity.hierarchies._files import read_cells, write_cells
from ldiversity.hierarchies._picture import picture
from ldiversity.hierarchies._text import check_label, check_unique, positions_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from ldiversity.base.arrays import CodeArray, Scalar
    from ldiversity.hierarchies._origin import Origin

__all__ = ["MAX_LEAVES", "MAX_LEVELS", "Hierarchy", "Node"]

MAX_LEAVES: Final = 1_000_000
MAX_LEVELS: Final = MOST_LEVELS
_ROOT: Final = "*"
_HEADER: Final = "leaf"


class Node(NamedTuple):
    """A node of a hierarchy: its label, its level (0 is a leaf) and the number of leaves under it."""

    label: str
    level: int
    n_leaves: int


@dataclass(frozen=True, repr=False)
class Hierarchy(Builders):
    """A tree over values, as rows ``leaf, level 1, ..., root`` of equal length.

    A node is a label at a level: the same text at two levels names two nodes. Values of any type are matched
    by their text: the number 1 finds the leaf ``"1"``; ``(missing)`` is the category of missing values.

    Parameters
    ----------
    rows
        One row per leaf. Use `from_rows` for rows of unequal length or without a common root.
    origin
        How it was made, if its leaves come from values; None if they were declared. A release publishes all
        declared leaves, but only those others that its rows show.

    Raises
    ------
    SchemaError
        When leaves repeat, a node has two parents, or there are two roots.

    Examples
    --------
    >>> tree = Hierarchy.from_rows([("flu", "lung", "*"), ("cold", "lung", "*"), ("ulcer", "*")])
    >>> tree.level("flu", 1)
    'lung'
    >>> tree.path("ulcer")
    ('ulcer', 'ulcer', '*')
    >>> tree.lowest_common_ancestor(["flu", "cold"])
    Node(label='lung', level=1, n_leaves=2)
    """

    rows: tuple[tuple[str, ...], ...]
    origin: Origin | None = field(default=None, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        _check_rows(self.rows)
        check_unique("Hierarchy", "leaves", self.leaves)
        for level in range(self.depth - 1):
            _check_parents(self, level)
        if self.rows and len(self.labels[-1]) > 1:
            raise SchemaError("Hierarchy", "there must be one root", got=name_some(self.labels[-1])).with_hint(
                "Hierarchy.from_rows adds a root above them."
            )

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[str]], *, origin: Origin | None = None) -> Self:
        """Make a hierarchy from rows that may differ in length.

        A shorter row repeats its leaf at the low levels, so that all roots are in one column. If the last column has
        several labels, a root ``*`` is added above them.

        Examples
        --------
        >>> Hierarchy.from_rows([("a", "x"), ("b", "y")]).rows
        (('a', 'x', '*'), ('b', 'y', '*'))
        """
        given = [tuple(row) for row in rows]
        if not all(given):
            raise SchemaError("Hierarchy", "a row must have at least one label")
        depth = max(map(len, given), default=0)
        padded = [(row[0],) * (depth - len(row)) + row for row in given]
        if len({row[-1] for row in padded}) > 1:
            padded = [(*row, _ROOT) for row in padded]
        return cls(tuple(padded), origin=origin)

    @classmethod
    def read(
        cls,
        path: str | PathLike[str],
        *,
        delimiter: str | None = None,
        header: bool | Literal["auto"] = "auto",
    ) -> Self:
        """Read a file with one line per leaf: ``leaf;level 1;...;root``.

        Parameters
        ----------
        path
            CSV in UTF-8, also gzip-compressed.
        delimiter
            What separates labels; None finds it: semicolon, tab or comma.
        header
            Whether the first line names the columns; ``"auto"`` means that its first cell is ``leaf``.
        """
        lines = read_cells("Hierarchy", path, delimiter=delimiter, header=header, header_word=_HEADER)
        for number, cells in lines:
            if not all(cells):
                raise SchemaError(
                    "Hierarchy", f"line {number} of {str(path)!r} has an empty label between others"
                ).with_hint("Write a label, or leave the cell out: shorter lines are allowed.")
        return cls.from_rows(cells for _, cells in lines)

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write a file that `read` returns unchanged: a header, then one line per leaf.

        The file is compressed if its name ends in ``.gz``.

        Raises
        ------
        StorageError
            When the file exists and may not be replaced, or cannot be written.
        """
        above = [f"level {level}" for level in range(1, self.depth - 1)]
        header = [_HEADER, *above, *(["root"] if self.depth > 1 else [])]
        write_cells("Hierarchy", path, [header, *self.rows], overwrite=overwrite)

    def to_text(self, *, most: int | None = 4) -> str:
        """Draw the tree as text, from the root down.

        Parameters
        ----------
        most
            How many children of each node to show; the rest is counted. None shows all.

        Examples
        --------
        >>> print(Hierarchy.by_width([23, 25, 31, 38, 67], [10, 20]).to_text())
        * (5 values)
        ├── [20, 40) (4)
        │   ├── [20, 30) (2)
        │   │   ├── 23
        │   │   └── 25
        │   └── [30, 40) (2)
        │       ├── 31
        │       └── 38
        └── [60, 80) (1)
            └── [60, 70) (1)
                └── 67
        """
        return picture(self.rows, None if most is None else check_integer("Hierarchy", "most", most, minimum=1))

    def __repr__(self) -> str:
        return f"Hierarchy({counted(len(self), 'leaf', 'leaves')}, {counted(self.depth, 'level')})"

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def depth(self) -> int:
        """The number of levels, leaf and root included."""
        return len(self.rows[0]) if self.rows else 0

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The leaves, in row order."""
        return tuple(row[0] for row in self.rows)

    @cached_property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        """The distinct labels of each level, in order of appearance."""
        return tuple(tuple(dict.fromkeys(column)) for column in zip(*self.rows, strict=True))

    @cached_property
    def nodes(self) -> CodeArray:
        """Shape (leaves, levels): the position in ``labels[level]`` of each leaf's ancestor. Read-only."""
        nodes = np.empty((len(self), self.depth), dtype=np.int32)
        for level, column in enumerate(zip(*self.rows, strict=True)):
            position = {label: number for number, label in enumerate(self.labels[level])}
            nodes[:, level] = [position[label] for label in column]
        nodes.flags.writeable = False
        return nodes

    @cached_property
    def _row_of(self) -> dict[str, int]:
        return {leaf: row for row, leaf in enumerate(self.leaves)}

    def __contains__(self, value: Scalar) -> bool:
        return text_of(value) in self._row_of

    def positions(self, values: Iterable[Scalar]) -> NDArray[np.intp]:
        """Return the row of each value, or raise `SchemaError` with the number of values without one."""
        return positions_of("Hierarchy", "leaf", self._row_of, values, add="row")

    def path(self, value: Scalar) -> tuple[str, ...]:
        """Return the labels of a leaf, from the leaf up to the root."""
        return self.rows[self.positions([value])[0]]

    def level(self, value: Scalar, k: int) -> str:
        """Return the label of a leaf's ancestor at level `k`; level 0 is the leaf itself."""
        return self.path(value)[self._check_level(k)]

    def leaves_under(self, label: str, level: int) -> tuple[str, ...]:
        """Return the leaves under the node `label` at `level`, in row order."""
        return tuple(self.leaves[row] for row in np.flatnonzero(self._members(label, level)))

    def count_leaves(self, level: int) -> NDArray[np.int64]:
        """Count the leaves under each node of a level, in the order of ``labels[level]``."""
        return np.bincount(self.nodes[:, self._check_level(level)]).astype(np.int64)

    def lowest_common_ancestor(self, values: Iterable[Scalar]) -> Node:
        """Find the lowest node that has all `values` under it."""
        rows = self.nodes[self.positions(values)]
        if not len(rows):
            raise ParameterError("Hierarchy", "values", "must name at least one leaf", got="none")
        level = int(np.argmax((rows == rows[0]).all(axis=0)))  # the first level at which all labels agree
        label = self.labels[level][rows[0, level]]
        return Node(label, level, int(np.count_nonzero(self.nodes[:, level] == rows[0, level])))

    def restrict(self, values: Iterable[Scalar]) -> Hierarchy:
        """Keep only the leaves `values`, in their order, and every level."""
        return Hierarchy(tuple(self.rows[row] for row in self.positions(values)), origin=self.origin)

    def to_rows(self) -> list[list[str]]:
        """Return the rows in JSON's types."""
        return [list(row) for row in self.rows]

    def _check_level(self, level: int) -> int:
        return check_integer("Hierarchy", "level", level, minimum=0, maximum=self.depth - 1)

    def _members(self, label: str, level: int) -> NDArray[np.bool_]:
        labels = self.labels[self._check_level(level)]
        if label not in labels:
            raise ParameterError("Hierarchy", "label", f"must be one of level {level}", got=repr(label)).with_hint(
                f"Level {level} has {name_some(labels)}."
            )
        members: NDArray[np.bool_] = self.nodes[:, level] == labels.index(label)
        return members


def _check_rows(rows: tuple[tuple[str, ...], ...]) -> None:
    if len(rows) > MAX_LEAVES:
        raise SchemaError("Hierarchy", f"there must be at most {MAX_LEAVES} leaves", got=len(rows))
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise SchemaError(
            "Hierarchy", "rows", "must have the same length", hint="Hierarchy.from_rows pads shorter rows."
        )
    if rows and not 1 <= max(widths) <= MAX_LEVELS:
        raise SchemaError("Hierarchy", f"a row must have 1 to {MAX_LEVELS} labels", got=max(widths)).with_hint(
            "Leave levels out; for prefixes of long texts give the lengths, as in prefix:3/2."
        )
    for row in rows:
        for label in row:
            check_label("Hierarchy", label)


def _check_parents(tree: Hierarchy, level: int) -> None:
    pairs = np.unique(tree.nodes[:, level : level + 2], axis=0)
    twice = np.flatnonzero(pairs[1:, 0] == pairs[:-1, 0])
    if twice.size:
        first, second = pairs[twice[0]], pairs[twice[0] + 1]
        node = tree.labels[level][first[0]]
        parents = [tree.labels[level + 1][parent] for parent in (first[1], second[1])]
        raise SchemaError(
            "Hierarchy", f"node {node!r} of level {level} must have one parent", got=name_some(parents)
        ).with_hint("Where a node belongs under several others, use the semilattice distance.")
