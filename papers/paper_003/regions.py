"""Paper 003: what Mondrian loses when it publishes the regions that its cuts leave, instead of tight boxes.

Mondrian cuts the space of the quasi-identifiers. As first published, a class shows the region between the cuts around
it. This library shows the least box that holds the records of the class, which is smaller. The cuts are found again
from the classes: a cut goes through no class, and of those the one is taken that Mondrian tries first, on the column in
which the records differ most, and next to their median.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

import ldiversity as ld
from ldiversity.base.arrays import FloatArray
from ldiversity.methods import CategoryColumn, CodedTable, NumberColumn, Partition, QuasiColumn

__all__ = ["cut_loss"]

_NEAR_MIDDLE: Final = 0.25
"""A cut that leaves less than this share of the records on one side is made only where there is no other."""


def cut_loss(table: CodedTable, partition: Partition) -> float:
    """The mean loss of a cell when each class publishes the region between the cuts around it.

    Parameters
    ----------
    table, partition
        What was cut, and the classes.
    """
    axes = [_axis(column) for column in table.quasi]
    low, high = (np.full((partition.n_classes, len(axes)), end) for end in (np.inf, -np.inf))
    for place, axis in enumerate(axes):
        np.minimum.at(low[:, place], partition.class_of, axis.places)
        np.maximum.at(high[:, place], partition.class_of, axis.places)
    regions = _Cutter(axes, low, high, partition.sizes).regions()
    losses = np.stack([axis.loss(*regions[:, place].T) for place, axis in enumerate(axes)])
    return float((losses.mean(axis=0) * partition.sizes).sum() / partition.sizes.sum())


@dataclass(frozen=True, eq=False)
class _Axis:
    """The place of each record on a column; categories are in the order of their tree."""

    places: FloatArray
    nodes: NDArray[np.integer] | None = None
    """Shape (leaves, levels), in the order of the tree; None for numbers."""
    costs: FloatArray | None = None

    def loss(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """The loss of regions from `low` to `high`."""
        if self.nodes is None or self.costs is None:
            span = np.ptp(self.places)
            return np.asarray((high - low) / (span or 1.0))
        first, last = low.astype(np.int64), high.astype(np.int64)
        level = (self.nodes[first] != self.nodes[last]).sum(axis=-1)  # of the node above both ends
        return np.asarray(self.costs[first, level])


def _axis(column: QuasiColumn) -> _Axis:
    if isinstance(column, NumberColumn):
        return _Axis(np.asarray(column.values, dtype=np.float64))
    if not isinstance(column, CategoryColumn):
        raise ld.InternalError("papers", "a column is neither a number nor a category.")
    order = np.lexsort(column.nodes.T)
    rank = np.empty(len(order))
    rank[order] = np.arange(len(order))
    return _Axis(rank[column.codes], column.nodes[order], column.costs[order].astype(np.float64))


class _Cutter:
    """Cuts the space between classes, given by the least boxes that hold them."""

    def __init__(self, axes: list[_Axis], low: FloatArray, high: FloatArray, sizes: NDArray[np.int64]) -> None:
        self.axes, self.low, self.high, self.sizes = axes, low, high, sizes

    def regions(self) -> FloatArray:
        """The region of each class, shape (classes, columns, 2)."""
        found = np.empty((*self.low.shape, 2))
        whole = np.array([(axis.places.min(), axis.places.max()) for axis in self.axes])
        for place, axis in enumerate(self.axes):
            if axis.nodes is not None:  # all categories, whether they occur or not
                whole[place] = (0, len(axis.nodes) - 1)
        pending = [(np.arange(len(self.low)), whole)]
        while pending:
            classes, region = pending.pop()
            if len(classes) == 1:
                found[classes[0]] = region
                continue
            column, left = self._choose(classes)
            one, other = classes[left], classes[~left]
            end = self.high[one, column].max()
            first, second = region.copy(), region.copy()
            first[column, 1] = end
            # The numbers above the cut, or the next category.
            second[column, 0] = end if self.axes[column].nodes is None else end + 1
            pending += [(one, first), (other, second)]
        return found

    def _choose(self, classes: NDArray[np.int64]) -> tuple[int, NDArray[np.bool_]]:
        """The column to cut, and the classes below the cut."""
        low, high, sizes = self.low[classes], self.high[classes], self.sizes[classes]
        ends = zip(self.axes, low.min(axis=0), high.max(axis=0), strict=True)
        spans = np.array([float(axis.loss(np.array(first), np.array(last))) for axis, first, last in ends])
        best: tuple[float, int, NDArray[np.bool_]] | None = None
        for column in np.argsort(-spans, kind="stable").tolist():
            order = np.argsort(low[:, column], kind="stable")
            reached = np.maximum.accumulate(high[order, column])
            free = np.flatnonzero(reached[:-1] < low[order[1:], column])
            if not len(free):
                continue
            shares = np.cumsum(sizes[order])[free] / sizes.sum()
            nearest = int(np.argmin(np.abs(shares - 0.5)))
            off = abs(float(shares[nearest]) - 0.5)
            if best is None or off < best[0]:
                below = np.zeros(len(classes), dtype=np.bool_)
                below[order[: free[nearest] + 1]] = True
                best = (off, column, below)
            if off <= 0.5 - _NEAR_MIDDLE:
                break
        if best is None:
            raise ld.InternalError("papers", "classes of Mondrian cannot be told apart by cuts.")
        return best[1:]
