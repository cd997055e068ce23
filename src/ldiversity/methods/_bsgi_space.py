"""A coded table as points in a space of boxes, with the keys in which the records of a class must differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray
from ldiversity.methods._coded import CategoryColumn, CodedTable, SensitiveColumn
from ldiversity.methods._column_levels import in_slots

if TYPE_CHECKING:
    from ldiversity._kernels.bsgi_loss import Loss

__all__ = ["Keys", "Space", "make_keys", "make_space", "places_of"]

_SAMPLE: Final = 100_000


@dataclass(frozen=True, eq=False)
class Space:
    """Quasi-identifiers as coordinates.

    Parameters
    ----------
    points
        Shape (n, coordinates): numbers, then categories, as `Loss` charges them.
    loss
        How boxes are charged.
    centers, rarity
        The middle of the table, as `outlying` needs it.
    shares
        How lists of categories are charged, as `Charge` needs it.
    """

    points: NDArray[np.float32]
    loss: Loss
    centers: NDArray[np.float32]
    rarity: NDArray[np.float32]
    shares: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Keys:
    """What the records of a class must differ in: sensitive columns, the most skewed one first, then the person.

    Parameters
    ----------
    codes
        Shape (n, keys).
    sizes
        Shape (keys,): how many values each has.
    names
        What messages call each.
    n_sensitive
        How many of them are sensitive columns.
    """

    codes: CodeArray
    sizes: NDArray[np.int64]
    names: tuple[str, ...]
    n_sensitive: int

    def counts(self, key: int) -> NDArray[np.int64]:
        """How often each value of a key occurs."""
        return np.bincount(self.codes[:, key], minlength=int(self.sizes[key])).astype(np.int64)


def make_keys(table: CodedTable, slots: Sequence[int] | None = None) -> Keys:
    """Collect the keys. A person column in which nobody has two rows is no key.

    With `slots`, each value of a column stands for so many: as many of its records may then be in one class.
    """
    of_column = [1] * len(table.sensitive) if slots is None else slots

    def skew(pair: tuple[SensitiveColumn, int]) -> int:
        return -(-int(pair[0].counts.max(initial=0)) // pair[1])

    columns = sorted(zip(table.sensitive, of_column, strict=True), key=skew, reverse=True)
    codes = [in_slots(column.codes, n_slots) for column, n_slots in columns]
    names = [repr(column.name) for column, _ in columns]
    sizes = [len(column.domain) * n_slots for column, n_slots in columns]
    if table.several is not None:
        codes.append(table.several.astype(np.int32))
        names.append("the person column")
        sizes.append(int(table.several.max()) + 1)
    stacked = codes[0].reshape(-1, 1) if len(codes) == 1 else np.column_stack(codes)
    stacked = np.ascontiguousarray(stacked, dtype=np.int32)
    return Keys(stacked, np.array(sizes, dtype=np.int64), tuple(names), len(columns))


def make_space(owner: str, table: CodedTable, weights: Mapping[str, float] | None) -> Space:
    """Place the records.

    Raises
    ------
    ParameterError
        When a weight names no quasi-identifier.
    """
    from ldiversity._kernels.bsgi_loss import Loss

    weight_of = table.weights(owner, weights)
    numbers, categories = table.numbers, table.categories
    points = np.empty((table.n_rows, len(table.quasi)), dtype=np.float32)
    caps = np.array([weight_of[column.name] for column in numbers], dtype=np.float32)
    for d, number in enumerate(numbers):
        np.multiply(number.scaled, caps[d], out=points[:, d])
    trees = [_Tree.of(column, weight_of[column.name]) for column in categories]
    for d, (column, tree) in enumerate(zip(categories, trees, strict=True), len(numbers)):
        points[:, d] = tree.place[column.codes]
    entries = np.cumsum([0, *(tree.first.size for tree in trees)])
    loss = Loss(
        caps,
        np.array([tree.first.shape[1] for tree in trees], dtype=np.int64),
        entries[:-1].astype(np.int64),
        _joined([tree.first for tree in trees]),
        _joined([tree.last for tree in trees]),
        _joined([tree.cost for tree in trees]),
    )
    # Rows come in a random order: the first ones are a fair sample.
    sample = points[:_SAMPLE]
    centers = np.median(sample[:, : len(numbers)], axis=0) if len(sample) else np.zeros(len(numbers))
    rarity = [tree.rarity(sample[:, d]) for d, tree in enumerate(trees, len(numbers))]
    lists = [
        0.0 if column.hierarchy is not None else weight_of[column.name] / max(1, len(column.labels))
        for column in categories
    ]
    return Space(points, loss, centers.astype(np.float32), _joined(rarity), np.array(lists, dtype=np.float32))


def places_of(column: CategoryColumn) -> NDArray[np.int64]:
    """Shape (labels,): the place of each category among the leaves of its tree, which is its coordinate."""
    return _Tree.of(column, 1.0).place


def _joined(parts: list[NDArray[np.float32]]) -> NDArray[np.float32]:
    return np.concatenate([np.zeros(0, dtype=np.float32), *(part.ravel() for part in parts)])


@dataclass(frozen=True, eq=False)
class _Tree:
    """A category's tree, leaves by place: first and last place and loss of each ancestor, shape (leaves, levels)."""

    place: NDArray[np.int64]
    first: NDArray[np.float32]
    last: NDArray[np.float32]
    cost: NDArray[np.float32]
    weight: float

    @classmethod
    def of(cls, column: CategoryColumn, weight: float) -> _Tree:
        # From the root down, the rarer node first: cuts then do not depend on how values are named.
        counts = np.bincount(column.codes[:_SAMPLE], minlength=len(column.labels))
        sorting: list[NDArray[Any]] = []
        for level in range(column.nodes.shape[1]):
            nodes = column.nodes[:, level]
            sorting += [nodes, np.bincount(nodes, weights=counts)[nodes]]
        order = np.lexsort(sorting)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        nodes = column.nodes[order]
        first = np.empty(nodes.shape, dtype=np.float32)
        last = np.empty(nodes.shape, dtype=np.float32)
        for level in range(nodes.shape[1]):
            starts = np.flatnonzero(np.r_[True, nodes[1:, level] != nodes[:-1, level]])
            ends = np.r_[starts[1:], len(nodes)]
            first[:, level] = np.repeat(starts, ends - starts)
            last[:, level] = np.repeat(ends - 1, ends - starts)
        return cls(place, first, last, column.costs[order] * np.float32(weight), weight)

    def rarity(self, places: NDArray[np.float32]) -> NDArray[np.float32]:
        """Shape (leaves, levels): at level 0 the weight times the share of records with another value."""
        counts = np.bincount(places.astype(np.int64), minlength=len(self.place))
        rarity = np.zeros(self.first.shape, dtype=np.float32)
        rarity[:, 0] = self.weight * (1 - counts / max(1, len(places)))
        return rarity
